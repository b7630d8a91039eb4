"""Harms a highly available installation again and again under load, and looks whether anything acknowledged is lost.

usage: cluster.py --doorstep PATH --scratch DIR [--events N] [--seed S] [--only WORDS] [--break WAY]

Three nodes, each with etcd, Patroni, PostgreSQL, a small disk, a clock and two networks of its own (namespaces; it needs root);
replication is synchronous. Two servers behind an HAProxy: one reaches the primary through PgBouncer, in transaction mode, and
HAProxy, the other straight by a connection string that names the three hosts. The seed decides what is harmed, and when.
Whatever was killed its service manager starts again; nothing is started by hand. One node's clock is off by minutes at a time,
until another's is; etcd's is not, which asks the kernel. With --only the events are those whose name has these words in it.

With --break it must fail. By `replication`: that is asynchronous, and a primary that is cut off from the others takes acknowledged
writes with it. By `leader`: Patroni keeps the leader's key by etcd's third API, where its release 3.0.2 overwrites another's, and
there may be two primaries. By `slow`: HAProxy looks after the primary every 20 s. By `health`: it asks no server while there is no
primary.
"""

import asyncio
import collections
import contextlib
import json
import random
import statistics
import sys
import time
import types
import urllib.request

from evidence import Found, judge
from frozen import FrozenTenant
from highly_available import WAYS, HighlyAvailable
from installation import SITE, Arguments, Client, Failure, Unanswered, kill, say, table
from load import AUDIENCES, EXPERIENCES, Ledger, Load, Receiver
from nodes import CLIENTS, MEMBERS, enclose

# How often each is, of 100 or so.
EVENTS = {
    "PostgreSQL of the primary, killed": 14, "the primary's node, down for a while": 4, "the synchronous standby's node, down": 6,
    "a server, killed": 20, "PgBouncer, killed": 14, "a switchover": 14, "the primary's node, frozen": 3,
    "the synchronous standby's node, frozen": 3, "the primary, cut off from everyone": 4,
    "the primary, cut off from the other nodes": 4, "the synchronous standby, cut off": 3, "the primary's disk, full": 3,
    "the synchronous standby's disk, full": 2, "a clock, off by minutes": 6}
BACK_LIMIT = 5
# Where a clock is set back, Patroni there looks after nothing for as long: it takes its next turn by the time of the day [observed,
# 3.0.2]. At most from three minutes ahead to three minutes behind.
EVENT_LIMIT = 2 * 180 + 60
# Checked only in drills with correct clocks and a database that returns before a lease ends.
TWICE = "twice only where an answer was lost"
# Seconds that a fault lasts if it causes no failover.
HARM_LIMIT = 40


class Drill:
    def __init__(self, options):
        self.options, self.random = options, random.Random(options.seed)
        self.installation = HighlyAvailable(options.doorstep, options.scratch, options.broken)
        self.ledger = Ledger()
        self.receiver = Receiver(self.ledger)
        self.load = Load(self.installation, self.ledger, self.receiver, options.seed)
        # A handful of programs for each node, on one machine; and a server that cannot reach the database does not follow.
        self.load.pace, self.load.lag_limit = 5, 90
        self.frozen = FrozenTenant(self.installation, self.ledger)
        self.lookups, self.failed_lookups, self.is_stopping = 0, collections.Counter(), False
        self.counts, self.promoted = collections.Counter(), collections.defaultdict(list)
        self.away = {way: collections.defaultdict(list) for way in WAYS}
        self.back = {way: [] for way in WAYS}
        # By way: when a write was acknowledged last, and the longest time without one since the event began.
        self.last, self.longest = {}, dict.fromkeys(WAYS, 0.0)
        self.reigns, self.promotions, self.told = [], [], 0

    async def run(self):
        installation = self.installation
        installation.start_cluster()
        installation.start_simulator()
        # The default: a lease lasts for two of them, which should be longer than a failover.
        installation.environment["DOORSTEP_APNS_TIMEOUT"] = "30"
        visits = [f"visit-{number}" for number in range(self.options.events + 1)]
        installation.set_up([*AUDIENCES, *visits], EXPERIENCES)
        installation.start_servers()
        keeping = asyncio.create_task(self.look_after())
        await self.load.set_up(2_000)
        tasks = [asyncio.create_task(task) for task in (
            self.load.run(), self.lookup(), *(self.probe(way) for way in WAYS))]
        try:
            await self.wait_for("a first write", lambda: len(self.last) == len(WAYS))
            for number in range(1, self.options.events + 1):
                await self.event(number)
                for task in (*tasks, keeping):
                    if task.done():
                        await task
                # The simulator remembers 100,000, and a slow machine takes minutes for an event.
                if number % 25 == 0:
                    await self.load.collect_requests()
            await self.wait_for("a whole cluster", lambda: installation.whole)
            await self.load.settle_confirmations()
        finally:
            self.load.is_stopping = self.is_stopping = True
        for task in tasks:
            await task
        for node in installation.nodes:
            node.set_clock(0)
        await self.load.notify_guests()
        await self.load.wait_until_nothing_is_due("deliveries", "audiences", "webhook messages")
        keeping.cancel()
        for way, server in installation.servers.items():
            self.ledger.expect(server.starts == installation.kills[way] + 1, f"the server {way} ended by itself")

    async def wait_for(self, words, condition, limit=EVENT_LIMIT):
        """What the condition gives, when it gives anything."""
        start = time.monotonic()
        while not (given := condition()):
            if time.monotonic() > start + limit:
                raise Failure(f"there is not {words} after {limit} s: {[node.latest for node in self.installation.nodes]}")
            await asyncio.sleep(0.02)
        return given

    async def look_after(self):
        """The service managers' work; and who reigns."""
        while True:
            self.installation.look_after()
            for node in self.installation.nodes:
                reign = node.reign
                if reign and reign not in self.reigns:
                    if self.reigns:
                        self.promotions.append((time.monotonic(), set(WAYS)))
                    self.reigns.append(reign)
            await asyncio.sleep(0.05)

    # Load

    async def lookup(self):
        """What comes from memory comes whatever has become of the database."""
        client = Client(self.installation, self.installation.publishable)
        while not self.is_stopping:
            self.lookups += 1
            try:
                status, _ = await client.send("GET", f"/v1/lookup?url={SITE}/restaurants/table/order/1")
            except Unanswered as error:
                status = str(error) or "not"
            if status != 200:
                self.failed_lookups[status] += 1
            await asyncio.sleep(0.02)

    async def probe(self, way):
        """Writes again and again at one server, since each must find its way to the new primary."""
        installation, ledger, number = self.installation, self.ledger, 0
        client = Client(types.SimpleNamespace(port=installation.ports[way]), installation.secret)
        location = f"place-probe-{WAYS.index(way)}"
        while not self.is_stopping:
            number += 1
            status, answer = await client.insist("PUT", f"/v1/locations/{location}", {
                "name": f"version {number}", "latitude": 37.3, "longitude": -122, "radius": 100})
            if ledger.expect(status in (200, 201, 202), f"a change was answered {status}: {answer}"):
                ledger.places[location] = number
                ledger.changes[location] += 1
                self.acknowledged(way, time.monotonic())
            await asyncio.sleep(0.1)

    def acknowledged(self, way, now):
        self.longest[way] = max(self.longest[way], now - self.last.get(way, now))
        self.last[way] = now
        for moment, waiting in self.promotions:
            if way in waiting:
                waiting.remove(way)
                self.back[way].append(now - moment)
                self.ledger.expect(
                    now - moment <= BACK_LIMIT,
                    f"writes {way} are back {now - moment:.1f} s after a promotion, at event {sum(self.counts.values())}")

    # Events

    async def event(self, number):
        installation = self.installation
        # From a whole cluster on, and from servers that write: two failures at once are another drill.
        start = time.monotonic()
        await self.wait_for("a whole cluster", lambda: installation.whole)
        await self.wait_for_writes(time.monotonic())
        say(f"cluster: whole after {time.monotonic() - start:.1f} s")
        self.tell_problems()
        await self.frozen.revoke(installation.ports.values())
        settles = self.random.random() < 0.2
        await asyncio.sleep(self.random.uniform(0.1, 1))
        if settles:
            await self.load.settle_confirmations()
        names = [name for name in EVENTS if self.options.only in name]
        event = self.random.choices(names, [EVENTS[name] for name in names])[0]
        primary, standby = await self.wait_for("a whole cluster", lambda: installation.whole)
        self.counts[event] += 1
        self.longest = dict.fromkeys(WAYS, 0.0)
        start, promotions = time.monotonic(), len(self.promotions)
        say(f"cluster: {number}. {event} ({primary.name}, {standby.name})")
        falls, heal = await asyncio.to_thread(self.harm, event, primary, standby)
        limit = HARM_LIMIT if falls else self.random.uniform(2, 10) if heal else 0
        with contextlib.suppress(Failure):
            await self.wait_for("a promotion", lambda: len(self.promotions) > promotions, limit)
        if heal:
            # It returns to a cluster that has continued without it.
            await asyncio.sleep(self.random.uniform(0, 3))
            await asyncio.to_thread(heal)
        since = time.monotonic()
        if len(self.promotions) > promotions:
            since = self.promotions[promotions][0]
            self.promoted[event].append(since - start)
        elif falls:
            self.ledger.expect(False, f"no other primary within {HARM_LIMIT} s of: {event}")
        await self.wait_for_writes(since)
        for way in WAYS:
            self.away[way][event].append(self.longest[way])
        say(f"cluster: {time.monotonic() - start:.1f} s; without writes for "
            f"{', '.join(f'{self.longest[way]:.1f} s' for way in WAYS)}")
        self.tell_problems()

    def tell_problems(self):
        for problem in self.ledger.problems[self.told:]:
            say(f"cluster: NOT {problem}")
        self.told = len(self.ledger.problems)

    async def wait_for_writes(self, since):
        await self.wait_for("a write at each server", lambda: all(moment > since for moment in self.last.values()))

    def harm(self, event, primary, standby):
        """Whether there must be another primary by it, and what ends it."""
        installation, node = self.installation, standby if "standby" in event else primary
        is_primary = node is primary
        if event == "PostgreSQL of the primary, killed":
            kill(*primary.processes("postgres"))
            return True, None
        if event == "a server, killed":
            # By now no request reaches the old one.
            installation.kill_one(self.random.choice(WAYS))
            self.load.visit += 1
            return False, None
        if event == "PgBouncer, killed":
            kill(installation.pooler.process.pid)
            return False, None
        if event == "a switchover":
            self.switch_over(primary)
            return True, None
        if event == "a clock, off by minutes":
            for each in installation.nodes:
                each.set_clock(0)
            self.random.choice(installation.nodes).set_clock(self.random.choice((-1, 1)) * self.random.randrange(60, 180))
            return False, lambda: None
        if event.endswith(("down", "down for a while")):
            node.crash(self.random.uniform(1, 20 if is_primary else 10))
            return is_primary, None
        if event.endswith("frozen"):
            node.freeze()
            return is_primary, node.thaw
        if event.endswith("disk, full"):
            node.fill_disk()
            return False, node.free_disk
        node.cut_off(*([MEMBERS] if "other nodes" in event else [CLIENTS, MEMBERS]))
        return is_primary, node.connect

    def switch_over(self, primary):
        request = urllib.request.Request(
            f"http://{primary.address(CLIENTS)}:8008/switchover", json.dumps({"leader": primary.name}).encode(), method="POST")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(request, timeout=EVENT_LIMIT).read()


def figures(times):
    return (f"{statistics.median(times):.1f}", f"{max(times):.1f}") if times else ("", "")


def report(drill, counts, broken):
    pooled, direct = WAYS
    print()
    table(["what was harmed", "#times", "#another primary", "#after s, median", "#at most", f"#no writes {pooled} for s, median",
           "#at most", f"#{direct}, median", "#at most"],
          [(event, drill.counts[event], len(drill.promoted[event]), *figures(drill.promoted[event]),
            *figures(drill.away[pooled][event]), *figures(drill.away[direct][event]))
           for event in EVENTS if drill.counts[event]])
    print()
    table(["promise", "#held to it", "#broken"], [
        *((name, count, len(broken[name])) for name, count in counts.items()),
        ("no lookup fails for want of the database", drill.lookups, sum(drill.failed_lookups.values())),
        *((f"writes {way} are back within {BACK_LIMIT} s of a promotion", len(drill.back[way]),
           sum(time > BACK_LIMIT for time in drill.back[way])) for way in WAYS),
        ("no server ends by itself", sum(process.starts for process in drill.installation.servers.values()),
         sum(server.starts != drill.installation.kills[way] + 1 for way, server in drill.installation.servers.items()))])
    ledger = drill.ledger
    print()
    for way in WAYS:
        median, longest = figures(drill.back[way])
        print(f"- writes {way} were back {median} s after a promotion (median), {longest} s at most")
    print(f"- acknowledged: {sum(ledger.changes.values()):,} catalogue writes, {len(ledger.instances):,} registrations,"
          f" {sum(ledger.answered.values()):,} confirmations, {len(ledger.notifications):,} notifications")


def main():
    enclose()
    parser = Arguments(__doc__)
    parser.add_argument("--events", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--break", dest="broken", choices=["replication", "leader", "slow", "health"])
    options = parser.parse_args()
    if not any(options.only in event for event in EVENTS):
        parser.error(f"no event has these words: {options.only}")
    print(f"\nseed {options.seed}, {options.events} events", flush=True)
    drill = Drill(options)
    try:
        asyncio.run(drill.run())
        found = Found(drill.installation, drill.receiver)
        counts, broken = judge(drill.ledger, found)
        counts.pop(TWICE)
        twice = len(broken.pop(TWICE, []))
        report(drill, counts, broken)
        lost = sum(max(0, count - found.confirmations.get(place, 0)) for place, count in drill.ledger.answered.items())
        print(f"- confirmations lost in the moment before a server was killed, as documented: {lost:,}")
        print("- deliveries sent twice to APNs without a lost response, for example because a lease ended before the database was"
              f" back: {twice:,}", flush=True)
        problems = [f"{promise}: {thing}" for promise, things in broken.items() for thing in things]
        problems += drill.ledger.problems + [
            f"a lookup was answered {status}, {count} times" for status, count in drill.failed_lookups.items()]
        for problem in problems[:20]:
            print(f"cluster: NOT {problem}", file=sys.stderr)
        if problems:
            sys.exit(f"cluster: {len(problems)} breaches with seed {options.seed}; the servers' logs end:\n"
                     f"{drill.installation.log_tail()}")
    except Failure as failure:
        sys.exit(f"cluster: {failure}\n{len(drill.ledger.problems)} breaches until then with seed {options.seed}; the servers' logs"
                 f" end:\n{drill.installation.log_tail()}")
    finally:
        drill.installation.close()


if __name__ == "__main__":
    main()
