"""Compares the state after a drill with the acknowledged writes, and checks that a broken promise would be found."""

import collections

from frozen import REVOCATION_LIMIT

# The first thousand unreachable instances of an audience have a delivery each (guide on notifications).
OWN_DELIVERIES = 1_000
REVOCATIONS = f"a revoked key is refused within {REVOCATION_LIMIT} s while another tenant cannot be read"


class Found:
    """The state after all cycles, in the database and at APNs and the webhook receiver."""

    def __init__(self, installation, receiver):
        query = installation.query
        self.places = {name: text for name, text in query(
            "SELECT identifier, name FROM doorstep.locations WHERE identifier LIKE 'place-%'")}
        self.audited = {name: int(count) for name, count in query("""
            SELECT coalesce(after, before) ->> 'identifier' AS name, count(*) FROM doorstep.audit_log
            WHERE relation = 'locations' AND coalesce(after, before) ->> 'identifier' LIKE 'place-%' GROUP BY name""")}
        self.instances = {instance for instance, in query("""
            SELECT instance_id FROM doorstep.instances JOIN doorstep.launches USING (tenant_id, instance_id)
                JOIN doorstep.push_tokens USING (tenant_id, instance_id)
            WHERE location_identifier = 'guests'""")}
        self.confirmations = {name: int(count) for name, count in query("""
            SELECT location_identifier, count(*) FROM doorstep.confirmations
            WHERE location_identifier LIKE 'visit-%' GROUP BY location_identifier""")}
        self.skipped = {name: int(count) for name, count in query("""
            SELECT notification_id, (SELECT coalesce(sum(value::bigint), 0) FROM jsonb_each_text(skipped))
            FROM doorstep.notifications""")}
        self.deliveries = query("""
            SELECT delivery_id, notification_id, state, lost_replies FROM doorstep.deliveries""")
        self.sent = collections.defaultdict(list)
        installation.collect_requests()
        for request in installation.requests:
            if request["status"] in (200, None):
                self.sent[request["id"].lower()].append((request["device"], request["status"]))
        self.given_up = int(query("SELECT count(*) FROM doorstep.webhook_messages WHERE state <> 'taken'")[0][0])
        self.told, self.outcomes = receiver.changes, receiver.outcomes


def judge(ledger, found):
    """Each promise with the number of checked items, and the violations."""
    broken = collections.defaultdict(list)

    def hold(promise, things, is_kept):
        if not things:
            broken[promise].append("nothing was held to it")
        for thing in things:
            if not is_kept(thing):
                broken[promise].append(str(thing))
        counts[promise] = len(things)

    counts = {}
    names = {name: None if version is None else f"version {version}" for name, version in ledger.places.items()}
    hold("a catalogue write that was acknowledged is there", names, lambda name: found.places.get(name) == names[name])
    hold("each is in the audit log, once", names, lambda name: found.audited.get(name) == ledger.changes[name])
    hold("each is told to the webhook by one message", names, lambda name: len(found.told[name]) == ledger.changes[name])
    hold("an instance that was registered is there", ledger.instances, lambda instance: instance in found.instances)
    hold("a confirmation that was written stays", ledger.written,
         lambda place: found.confirmations.get(place, 0) >= ledger.written[place])
    hold("none is there twice", ledger.asked, lambda place: found.confirmations.get(place, 0) <= ledger.asked[place])

    deliveries = collections.defaultdict(list)
    for delivery, notification, state, lost in found.deliveries:
        deliveries[notification].append((delivery, state, int(lost)))
    hold("a notification that was accepted is there, once", ledger.notifications.keys() | found.skipped.keys(),
         lambda name: name in ledger.notifications and name in found.skipped)

    def is_whole(name):
        tokens, unreachable = ledger.notifications[name]
        own = [state for _, state, _ in deliveries[name]]
        return (len(own) - own.count("skipped") == len(tokens)
                and own.count("skipped") + found.skipped.get(name, 0) == unreachable
                and own.count("skipped") == min(unreachable, OWN_DELIVERIES))

    hold("its audience is taken in whole, each once", ledger.notifications, is_whole)
    hold("each delivery comes to its end", [delivery for own in deliveries.values() for delivery in own],
         lambda delivery: delivery[1] in ("skipped", "delivered") or delivery[1] == "uncertain" and delivery[2] > 0)

    def reaches_its_devices(name):
        got = {device for delivery, _, _ in deliveries[name] for device, _ in found.sent[delivery]}
        missing = ledger.notifications[name][0] - got
        uncertain = sum(state == "uncertain" for _, state, _ in deliveries[name])
        return got <= ledger.notifications[name][0] and len(missing) <= uncertain

    hold("APNs was sent each, for the devices that are meant", ledger.notifications, reaches_its_devices)
    final = [(delivery, state, lost) for own in deliveries.values() for delivery, state, lost in own if state != "skipped"]
    hold("twice only where an answer was lost", final, lambda each: len(found.sent[each[0]]) <= 1 + each[2])
    hold("each outcome is told to the webhook", final, lambda each: each[0] in found.outcomes)
    hold("no webhook message is given up", [found.given_up], lambda count: count == 0)
    if ledger.revocations is not None:
        hold(REVOCATIONS, ledger.revocations, lambda key: ledger.revocations[key] <= REVOCATION_LIMIT)
    return counts, broken


# Each fault must be reported as a broken promise; for the others, the results are falsified.
SPOILERS = {
    "a catalogue write that was acknowledged is there":
        "UPDATE doorstep.locations SET name = 'other' WHERE identifier = (SELECT min(identifier) FROM doorstep.locations"
        " WHERE identifier LIKE 'place-%')",
    "each is in the audit log, once":
        "DELETE FROM doorstep.audit_log WHERE entry_id = (SELECT max(entry_id) FROM doorstep.audit_log WHERE relation ="
        " 'locations' AND coalesce(after, before) ->> 'identifier' LIKE 'place-%')",
    "an instance that was registered is there":
        "DELETE FROM doorstep.push_tokens WHERE instance_id = (SELECT min(instance_id::text)::uuid FROM doorstep.launches"
        " WHERE location_identifier = 'guests')",
    "a confirmation that was written stays":
        "DELETE FROM doorstep.confirmations WHERE location_identifier = '{written}'",
    "a notification that was accepted is there, once":
        "DELETE FROM doorstep.notifications WHERE notification_id = '{notification}'",
    "its audience is taken in whole, each once":
        "DELETE FROM doorstep.deliveries WHERE delivery_id = (SELECT min(delivery_id::text)::uuid FROM doorstep.deliveries"
        " WHERE state = 'delivered')",
    "each delivery comes to its end":
        "UPDATE doorstep.deliveries SET state = 'expired' WHERE delivery_id = (SELECT max(delivery_id::text)::uuid FROM"
        " doorstep.deliveries WHERE state = 'delivered')",
    "no webhook message is given up":
        "UPDATE doorstep.webhook_messages SET state = 'given_up' WHERE message_id = (SELECT min(message_id::text)::uuid FROM"
        " doorstep.webhook_messages)",
}


def spoil(ledger, installation, receiver):
    """Returns the promises whose violation was not found."""
    names = {"written": next(place for place, count in ledger.written.items() if count > 0),
             "notification": next(iter(ledger.notifications))}
    # Without triggers and the server, which would prevent the faults.
    installation.query("SET session_replication_role = replica;" + ";".join(
        sql.format_map(names) for sql in SPOILERS.values()))
    found = Found(installation, receiver)
    found.told[next(iter(ledger.places))].pop()
    untold, doubled, misled = [delivery for delivery, _, state, _ in found.deliveries if state == "delivered"][:3]
    found.outcomes.discard(untold)
    found.sent[doubled] *= 10
    found.sent[misled] = [("0" * 64, 200)]
    if ledger.revocations is not None:
        ledger.revocations["admitted"] = 2 * REVOCATION_LIMIT
    counts, broken = judge(ledger, found)
    # Perhaps of the same location as the deleted one.
    place = next(iter(ledger.asked))
    found.confirmations[place] = ledger.asked[place] + 1
    broken |= {"none is there twice": judge(ledger, found)[1]["none is there twice"]}
    return [promise for promise in counts if not broken.get(promise)]
