"""The clients of an installation in a drill, and the writes that it acknowledged."""

import asyncio
import base64
import collections
import contextlib
import hashlib
import hmac
import json
import random
import time
import uuid

from installation import CLIP, SITE, UNAVAILABLE, Client, Failure, Unanswered

WRITERS, PLACES, DEVICES, CROWD_DEVICES = 2, 6, 20, 5
AUDIENCES = ("table", "guests", "crowd")
# A location for the visits to each server of the drill, and one for each audience.
EXPERIENCES = [("/places", "", "path:1"), *((f"/restaurants/{name}", name, "") for name in AUDIENCES)]
# The lease of a message by a killed server lasts for a minute.
SETTLING_LIMIT = 300
# Confirmations are stored about 50 ms after their response; later on a busy machine.
WRITING_LIMIT = 60


class Ledger:
    """The acknowledged writes."""

    def __init__(self):
        self.places = {}          # location: its version, or None where it was deleted last
        self.changes = collections.Counter()
        self.instances = {}       # instance: its token
        self.notifications = {}   # notification: the devices that it goes to, and how many cannot be reached
        self.answered, self.asked = collections.Counter(), collections.Counter()  # confirmations by location
        self.written = {}         # location: how many confirmations were known to be written
        self.revocations = None   # key: for how many seconds it was admitted after its revocation; None if none is revoked
        self.problems = []

    def expect(self, holds, words):
        if not holds:
            self.problems.append(words)
        return holds


class Receiver:
    """Receives webhook messages, and verifies their signatures."""

    def __init__(self, ledger):
        # The secrets, newest first, and the number of messages signed with the newest.
        self.ledger, self.secrets, self.by_newest = ledger, [], 0
        self.changes, self.outcomes, self.count = collections.defaultdict(set), set(), 0

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, limit=1 << 24)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                fields = {name.lower(): value.strip() for name, _, value in
                          (line.partition(":") for line in head.splitlines()[1:])}
                self.take(fields, await reader.readexactly(int(fields["content-length"])))
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            # The server has ended, or the drill has.
            pass
        finally:
            writer.close()

    def take(self, fields, body):
        self.count += 1
        text = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + body
        signatures = [f"v1,{base64.b64encode(hmac.digest(secret, text, hashlib.sha256)).decode()}" for secret in self.secrets]
        self.ledger.expect(fields["webhook-signature"] in signatures, "a webhook message is not signed as it must be")
        self.by_newest += fields["webhook-signature"] == signatures[0]
        message = json.loads(body)
        for location in message["data"].get("locations", []):
            self.changes[location].add(message["id"])
        self.outcomes.update(delivery["id"] for delivery in message["data"].get("deliveries", []))


class Load:
    """Clients that run until they are stopped. Each finishes its begun request first."""

    def __init__(self, installation, ledger, receiver, seed):
        self.installation, self.ledger, self.receiver, self.seed = installation, ledger, receiver, seed
        self.is_stopping = False
        self.visit, self.is_visiting, self.visitors_rest = 0, True, asyncio.Event()
        self.is_notifying, self.notifier_rests = True, asyncio.Event()
        self.crowd_is_wanted, self.crowd_came = False, asyncio.Event()
        self.clients, self.crowd_size = [], 0
        # How many times slower each client goes on; and for how many seconds lookups of another server than the one that
        # acknowledged a change may lag behind it.
        self.pace, self.lag_limit = 1, 0

    async def set_up(self, crowd):
        """Registers a webhook, and the instances that get notifications; `crowd` instances are unreachable."""
        client = Client(self.installation, self.installation.secret)
        # A new key is known within a second.
        while (await client.insist("GET", "/v1/tenant"))[0] == 401:
            await asyncio.sleep(0.05)
        port = await self.receiver.start()
        status, answer = await client.insist("POST", "/v1/webhooks", {
            "url": f"http://127.0.0.1:{port}/hook", "events": ["location.changed", "delivery.finished"]})
        if status != 201:
            raise Failure(f"a webhook request got {status}: {answer}")
        self.receiver.secrets.append(base64.b64decode(answer["secret"].removeprefix("whsec_")))
        await self.make_audiences(client, crowd)
        client.close()

    async def make_audiences(self, client, crowd):
        random_ = random.Random(f"{self.seed}/audiences")

        async def devices(count, path):
            return {await self.register_one(client, random_, path, kept=False) for _ in range(count)}

        self.devices = frozenset(await devices(DEVICES, "/restaurants/table"))
        # Before and after the unreachable ones, so that each part has reachable instances.
        before = await devices(CROWD_DEVICES, "/restaurants/crowd")
        self.crowd_size = crowd
        tenant = self.installation.tenant
        self.installation.query(f"""
            INSERT INTO doorstep.instances (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
            SELECT '{tenant}', md5('crowd' || n)::uuid, '{CLIP}', 'clip', 'production', 'denied', now()
            FROM generate_series(1, {crowd}) AS n;
            INSERT INTO doorstep.launches
                (tenant_id, instance_id, url, experience_url, location_identifier, launched_at)
            SELECT '{tenant}', md5('crowd' || n)::uuid, '{SITE}/restaurants/crowd/order/1', '{SITE}/restaurants/crowd',
                'crowd', now()
            FROM generate_series(1, {crowd}) AS n;
            ANALYZE doorstep.instances, doorstep.launches""")
        self.crowd = frozenset(before | await devices(CROWD_DEVICES, "/restaurants/crowd"))

    def client(self, key):
        client = Client(self.installation, key)
        self.clients.append(client)
        return client

    async def run(self):
        async with asyncio.TaskGroup() as group:
            for number in range(WRITERS):
                group.create_task(self.write(number))
            for task in (self.register, self.confirm, self.notify):
                group.create_task(task())

    async def write(self, number):
        """Changes locations of this client, and checks before each change that the last one is still stored."""
        random_ = random.Random(f"{self.seed}/writer/{number}")
        client, ledger = self.client(self.installation.secret), self.ledger
        while not self.is_stopping:
            location = f"place-{number}-{random_.randrange(PLACES)}"
            await self.look(client, location)
            version = ledger.places.get(location)
            if version is not None and random_.random() < 0.15:
                status, answer = await client.insist("DELETE", f"/v1/locations/{location}")
                # Deleted by a request without a response.
                is_done = ledger.expect(status in (204, 202, 404), f"a deletion was answered {status}: {answer}")
                version = None
            else:
                version = ledger.changes[location] + 1
                status, answer = await client.insist(
                    "PUT", f"/v1/locations/{location}",
                    {"name": f"version {version}", "latitude": 37.3, "longitude": -122, "radius": 100})
                is_done = ledger.expect(status in (200, 201, 202), f"a change was answered {status}: {answer}")
            if is_done:
                ledger.places[location] = version
                ledger.changes[location] += 1
            # A change answered by 202 is visible later. So is one answered by 404: a request without a response made it.
            await self.look(client, location, self.lag_limit if status not in (202, 404) else SETTLING_LIMIT)
            await asyncio.sleep(0.01 * self.pace)

    async def look(self, client, location, patience=None):
        """Compares the catalogue and lookups with the last acknowledged change; lookups may take `patience` seconds to show it."""
        if location not in self.ledger.places:
            return
        version = self.ledger.places[location]
        name = None if version is None else f"version {version}"
        status, answer = await client.insist("GET", f"/v1/locations/{location}")
        found = answer.get("name") if status == 200 else None
        self.ledger.expect(
            status in (200, 404) and found == name, f"{location} is {found} ({status}), and was acknowledged as {name}")
        deadline = time.monotonic() + (self.lag_limit if patience is None else patience)
        while True:
            status, answer = await client.insist("GET", f"/v1/lookup?url={SITE}/places/{location}")
            found = answer["location"]["name"] if status == 200 else None
            if found == name or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.05)
        self.ledger.expect(
            status in (200, 404) and found == name, f"lookups have {location} as {found} ({status}), not as {name}")

    async def register(self):
        random_ = random.Random(f"{self.seed}/registering")
        client = self.client(self.installation.publishable)
        while not self.is_stopping:
            await self.register_one(client, random_, "/restaurants/guests")
            await asyncio.sleep(0.05 * self.pace)

    async def register_one(self, client, random_, path, kept=True):
        instance, token = str(uuid.UUID(int=random_.getrandbits(128), version=4)), f"{random_.getrandbits(256):064x}"
        status, answer = await client.insist("PUT", f"/v1/instances/{instance}", {
            "url": f"{SITE}{path}/order/1", "token": token, "environment": "production", "permission": "ephemeral"})
        is_done = self.ledger.expect(status in (200, 201), f"a registration was answered {status}: {answer}")
        if kept and is_done:
            self.ledger.instances[instance] = token
        return token

    async def confirm(self):
        """Confirms at a location of the current server: the location shows which server responded."""
        client, ledger = self.client(self.installation.publishable), self.ledger
        while not self.is_stopping:
            if not self.is_visiting:
                self.visitors_rest.set()
                await asyncio.sleep(0.01)
                continue
            location = f"visit-{self.visit}"
            ledger.asked[location] += 1
            try:
                # Not repeated: a second request would be counted, too.
                status, answer = await client.send("POST", "/v1/confirmations", {
                    "url": f"{SITE}/places/{location}", "deviceResult": {"inRegion": True}})
                ledger.expect(
                    status in UNAVAILABLE or status == 200 and answer["outcome"] == "inRegion",
                    f"a confirmation was answered {status}: {answer}")
                ledger.answered[location] += status == 200
            except Unanswered:
                client.unanswered += 1
            await asyncio.sleep(0.01 * self.pace)

    async def notify(self):
        client, number = self.client(self.installation.secret), 0
        while not self.is_stopping:
            if not self.is_notifying:
                self.notifier_rests.set()
                await asyncio.sleep(0.01)
                continue
            number += 1
            is_for_crowd, self.crowd_is_wanted = self.crowd_is_wanted, False
            if is_for_crowd:
                await self.notify_of(client, f"crowd-{number}", "/restaurants/crowd", self.crowd, self.crowd_size)
                self.crowd_came.set()
            else:
                await self.notify_of(client, f"table-{number}", "/restaurants/table", self.devices, 0)
            await asyncio.sleep(0.1 * self.pace)

    async def notify_of(self, client, key, path, tokens, unreachable):
        status, answer = await client.insist("POST", "/v1/notifications", {
            "url": f"{SITE}{path}/order/1", "aps": {"alert": {"body": "Your order is ready."}},
            "custom": {"order": key}, "audience": {"business": True}}, Idempotency_Key=key)
        self.ledger.expect(status in (200, 201), f"a notification was answered {status}: {answer}")
        if status in (200, 201):
            self.ledger.notifications[answer["id"]] = (tokens, unreachable)

    async def notify_guests(self):
        """Notifies all registered instances, so that each token is read again."""
        client = Client(self.installation, self.installation.secret)
        await self.notify_of(
            client, "guests", "/restaurants/guests", frozenset(self.ledger.instances.values()), 0)
        client.close()

    async def settle_confirmations(self):
        """Waits until acknowledged confirmations are stored; the database must be available."""
        location = f"visit-{self.visit}"
        self.visitors_rest.clear()
        self.is_visiting = False
        await self.visitors_rest.wait()
        deadline = time.monotonic() + WRITING_LIMIT
        while True:
            try:
                found = await asyncio.to_thread(self.confirmations_at, location)
            except Failure:
                # The server recovers from a lost session.
                found = -1
            if found >= self.ledger.answered[location] or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.05)
        self.ledger.expect(
            found >= self.ledger.answered[location],
            f"{found} of {self.ledger.answered[location]} confirmations at {location} are written after {WRITING_LIMIT} s")
        self.ledger.written[location] = found
        self.is_visiting = True

    def confirmations_at(self, location):
        return int(self.installation.query(
            f"SELECT count(*) FROM doorstep.confirmations WHERE location_identifier = '{location}'")[0][0])

    async def collect_requests(self):
        """The instances that APNs got requests for; call it while nothing is sent."""
        self.notifier_rests.clear()
        self.is_notifying = False
        await self.notifier_rests.wait()
        await self.wait_until_nothing_is_due("deliveries", "audiences")
        self.installation.collect_requests()
        self.is_notifying = True

    async def wait_until_nothing_is_due(self, *kinds):
        deadline = time.monotonic() + SETTLING_LIMIT
        while True:
            counts = {}
            with contextlib.suppress(Failure):
                counts = {kind: int(count) for kind, count in await asyncio.to_thread(self.installation.query, """
                    SELECT 'deliveries', count(*) FROM doorstep.deliveries WHERE due_at IS NOT NULL
                    UNION ALL SELECT 'audiences', count(*) FROM doorstep.audience_cursors
                    UNION ALL SELECT 'webhook messages', count(*) FROM doorstep.webhook_messages WHERE state = 'waiting'""")}
            if counts and not any(counts[kind] for kind in kinds):
                return
            if time.monotonic() > deadline:
                self.ledger.problems.append(f"after {SETTLING_LIMIT} s these are not done: {counts}")
                return
            await asyncio.sleep(0.5)
