"""Replaces every secret of an installation under load. No request may fail, and the old secrets must become invalid.

usage: rotation.py --doorstep PATH --scratch DIR [--seed S] [--break]

Under load means: changes of the catalogue, registrations, confirmations, notifications and webhook messages go on, and no
request may be refused for the change. There are two servers, which are started anew one after the other: requests go to the first,
and both deliver. With --break the old token secret is taken away before what it sealed is sealed anew:
the drill must fail.
"""

import asyncio
import base64
import copy
import json
import pathlib
import secrets
import subprocess
import sys
import time

from backup import Cluster, find_binaries, prepare
from evidence import Found, judge
from installation import KEY_ID, SITE, TEAM, TENANT, Arguments, Client, Failure, Installation, free_port, say, table
from load import AUDIENCES, EXPERIENCES, Ledger, Load, Receiver

# Time until each server must use a change: a second for keys (guide on the API), ten for files, and a reserve for a busy machine.
MARGIN = 20
OTHER_KEY_ID = "DRILLKEY02"


class Drill:
    def __init__(self, options):
        self.options, self.scratch = options, pathlib.Path(options.scratch)
        self.installation = Installation(options.doorstep, options.scratch)
        self.passwords = {f"{name}_PASSWORD": secrets.token_hex(16) for name in ("MIGRATE", "ADMIN", "SERVE", "BACKUP")}
        self.cluster = Cluster(find_binaries(), self.scratch / "cluster")
        self.ledger = Ledger()
        self.receiver = Receiver(self.ledger)
        self.load = Load(self.installation, self.ledger, self.receiver, options.seed)
        self.rows, self.problems, self.restarts = [], [], 0
        self.servers = [self.installation]
        self.secrets = {
            "an API key": self.rotate_api_key,
            "a webhook's secret": self.rotate_webhook,
            "DOORSTEP_TOKEN_SECRET": self.rotate_token_secret,
            "DOORSTEP_SIGNING_SECRET": self.rotate_signing_secret,
            "the keys for receipts": self.rotate_receipt_keys,
            "the key for APNs": self.rotate_apns_key,
            "the password of the server's login": self.rotate_password,
        }

    def expect(self, holds, words):
        say(("rotation: " if holds else "rotation: NOT ") + words)
        if not holds:
            self.problems.append(words)

    def refusals(self):
        return sum(client.unanswered + client.unavailable for client in self.load.clients)

    async def until(self, condition, words):
        """Waits for a condition that must become true soon."""
        start = time.monotonic()
        while not await condition():
            if time.monotonic() > start + MARGIN:
                self.expect(False, words)
                return
            await asyncio.sleep(0.1)
        self.expect(True, f"{words} ({time.monotonic() - start:.1f} s)")

    async def run(self):
        self.set_up()
        await self.load.set_up(2_000)
        self.client = Client(self.installation, self.installation.secret)
        load = asyncio.create_task(self.load.run())
        try:
            await asyncio.sleep(2)
            for secret, rotate in self.secrets.items():
                start, problems = time.monotonic(), len(self.problems) + len(self.ledger.problems)
                refused, restarts = self.refusals(), self.restarts
                changes = sum(self.ledger.changes.values())
                # It shows which server responded, and so which row must be stored.
                self.load.visit += 1
                await rotate()
                await asyncio.sleep(1)
                if load.done():
                    await load
                await self.load.settle_confirmations()
                refused = self.refusals() - refused
                # A restarted server is not available meanwhile; ending its sessions ends their statements.
                if self.restarts == restarts and rotate != self.rotate_password:
                    self.expect(refused == 0, f"{secret}: {refused} requests were refused, or not answered")
                self.rows.append((
                    secret, f"{time.monotonic() - start:.1f}", sum(self.ledger.changes.values()) - changes,
                    refused, len(self.problems) + len(self.ledger.problems) - problems))
        finally:
            self.load.is_stopping = True
        await load
        await self.load.notify_guests()
        await self.load.wait_until_nothing_is_due("deliveries", "audiences", "webhook messages")

    def set_up(self):
        installation = self.installation
        for name, number in ((KEY_ID, 1), (OTHER_KEY_ID, 2)):
            private, public = self.scratch / f"apns-{number}.p8", self.scratch / f"apns-{number}.pem"
            subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", private],
                           check=True, capture_output=True)
            subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True, capture_output=True)
        self.signing_secret = secrets.token_hex(32)
        installation.environment |= {
            "DOORSTEP_SIGNING_SECRET": self.signing_secret,
            "DOORSTEP_RECEIPT_KEYS": str(self.scratch / "receipt-keys.json")}
        installation.run("receipt-key", "create")
        installation.start_simulator(
            {KEY_ID: self.scratch / "apns-1.pem", OTHER_KEY_ID: self.scratch / "apns-2.pem"}, self.scratch / "apns-1.p8")
        prepare(self.cluster, installation, self.passwords)
        # Each new connection reads the password from a file.
        self.passfile = self.scratch / "passfile"
        self.write_passfile(self.passwords["SERVE_PASSWORD"])
        installation.serving = {
            "PGPASSFILE": str(self.passfile),
            "DATABASE_URL": f"host=127.0.0.1 port={self.cluster.port} user=doorstep_serve_login dbname=doorstep"}
        # A location for the visits during each rotation, and one for those before.
        visits = [f"visit-{number}" for number in range(len(self.secrets) + 1)]
        installation.set_up([*AUDIENCES, *visits], [*EXPERIENCES, ("/signed", "", "\"coordinates:lat,lon,r\"")])
        second = copy.copy(installation)
        second.port, second.server = free_port(), None
        self.servers.append(second)
        for server in self.servers:
            server.start_server()

    def write_passfile(self, password):
        path = self.scratch / "passfile.new"
        path.touch(mode=0o600)
        path.write_text(f"*:*:*:doorstep_serve_login:{password}\n")
        path.rename(self.passfile)

    async def restart(self):
        """Restarts a server as a service manager does: it finishes running requests, and clients connect again."""
        self.restarts += 1
        for each in self.servers:
            await self.stop(each)
            await asyncio.to_thread(each.start_server)

    async def stop(self, each):
        each.server.terminate()
        status = await asyncio.to_thread(each.server.wait, 120)
        self.expect(status == 0, f"a server ended with {status}")

    def close(self):
        for each in self.servers[1:]:
            if each.server and each.server.poll() is None:
                each.server.kill()
                each.server.wait()
        self.installation.close()
        self.cluster.stop()

    async def replace(self, name, old, new):
        """Gives every server the new secret before any server uses it."""
        for value in (f"{old},{new}", f"{new},{old}"):
            self.installation.environment[name] = value
            await self.restart()

    # The secrets

    async def rotate_api_key(self):
        old = self.installation.secret
        status, answer = await self.client.insist("GET", "/v1/keys")
        identifier = next(key["id"] for key in answer["data"] if old.startswith(key["hint"]) and key["kind"] == "secret")
        status, answer = await self.client.insist("POST", f"/v1/keys/{identifier}/rotate", {"overlapHours": 1})
        self.expect(status == 201, f"a key's successor is made ({status})")
        new = Client(self.installation, answer["key"])

        async def is_known():
            return (await new.insist("GET", "/v1/tenant"))[0] == 200

        await self.until(is_known, "the new key is good")
        # Both secrets are valid: the load uses the new one from now on.
        self.installation.secret = new.key
        for client in self.load.clients:
            if client.key == old:
                client.key = new.key
        # All requests with the old one have responses by now.
        await asyncio.sleep(1)
        status, _ = await new.insist("DELETE", f"/v1/keys/{identifier}")
        self.expect(status in (202, 204), f"the old key is revoked ({status})")

        async def is_refused():
            return (await self.client.insist("GET", "/v1/tenant"))[0] == 401

        await self.until(is_refused, "the old key is refused")
        self.client = new

    async def rotate_webhook(self):
        _, answer = await self.client.insist("GET", "/v1/webhooks")
        identifier = answer["data"][0]["id"]
        status, answer = await self.client.insist("POST", f"/v1/webhooks/{identifier}/rotate", {})
        self.expect(status == 200, f"a webhook has a new secret ({status})")
        self.receiver.secrets.insert(0, base64.b64decode(answer["secret"].removeprefix("whsec_")))
        self.receiver.by_newest = 0

        async def is_used():
            return self.receiver.by_newest > 0

        await self.until(is_used, "messages are signed with the new secret")
        # Notifications that were accepted before are sent by now.
        await asyncio.sleep(2)
        del self.receiver.secrets[1:]

    async def rotate_token_secret(self):
        old, new = self.installation.environment["DOORSTEP_TOKEN_SECRET"], secrets.token_hex(32)
        await self.replace("DOORSTEP_TOKEN_SECRET", old, new)
        if not self.options.is_broken:
            answer = json.loads(await asyncio.to_thread(
                self.installation.run, "instance", "reseal", "--tenant", TENANT, "--format", "json"))
            resealed = answer[0] if isinstance(answer, list) else answer
            self.expect(resealed["unreadable"] == 0 and resealed["resealed"] > 0, f"all is sealed anew: {resealed}")
        self.installation.environment["DOORSTEP_TOKEN_SECRET"] = new
        await self.restart()

    async def rotate_signing_secret(self):
        place = f"{SITE}/signed?lat=37.3&lon=-122&r=50"

        def sign():
            words = self.installation.run("location", "sign", "--tenant", TENANT, place).split()
            return next(word for word in words if word.startswith("https://"))

        async def found(url):
            escaped = "".join(f"%{byte:02X}" for byte in url.encode())
            return (await self.client.insist("GET", f"/v1/lookup?url={escaped}"))[0] == 200

        old_url, old, new = sign(), self.signing_secret, secrets.token_hex(32)
        self.expect(await found(old_url), "a place that is signed in its URL is found")
        await self.replace("DOORSTEP_SIGNING_SECRET", old, new)
        new_url = sign()
        self.expect(new_url != old_url and await found(old_url) and await found(new_url),
                    "signatures of the old secret and of the new one are both good")
        self.installation.environment["DOORSTEP_SIGNING_SECRET"] = new
        await self.restart()
        self.expect(await found(new_url) and not await found(old_url), "the old one's are refused once it is taken away")

    async def rotate_receipt_keys(self):
        async def published():
            _, keys = await self.client.insist("GET", "/.well-known/jwks.json")
            return {key["kid"] for key in keys["keys"]}

        async def signer():
            before = await published()
            status, answer = await self.client.insist("POST", "/v1/confirmations", {
                "url": f"{SITE}/restaurants/table", "deviceResult": {"inRegion": True}})
            head = answer["receipt"].split(".")[0]
            name = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"]
            # At once, the old one is no longer: between the receipt and a look after it, perhaps.
            self.ledger.expect(name in before | await published(), "a receipt's key is not published")
            return name

        first = await signer()
        self.installation.run("receipt-key", "rotate")

        async def is_published():
            return len(await published()) == 2 and await signer() == first

        await self.until(is_published, "the next key is published before it signs")
        self.installation.run("receipt-key", "rotate", "--at-once")

        async def signs():
            return await signer() != first

        await self.until(signs, "at once, another key signs")

    async def rotate_apns_key(self):
        verified = self.installation.simulated("/counters")["verifiedTokens"]
        new = self.scratch / "keys.new"
        new.write_text(json.dumps({"keys": [{"team": TEAM, "id": OTHER_KEY_ID, "file": "apns-2.p8"}]}))
        new.rename(self.scratch / "keys.json")

        async def is_used():
            return self.installation.simulated("/counters")["verifiedTokens"] > verified

        await self.until(is_used, "APNs is sent tokens of the new key")

    async def rotate_password(self):
        query, password = self.installation.query, secrets.token_hex(16)
        query(f"ALTER ROLE doorstep_serve_login PASSWORD '{password}'")
        self.write_passfile(password)
        # Open sessions remain; the new password is for new sessions.
        count = query("""
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'doorstep_serve_login'""")[0][0]

        async def is_back():
            return int(query("""
                SELECT count(*) FROM pg_stat_activity WHERE usename = 'doorstep_serve_login'""")[0][0]) > 1

        await self.until(is_back, f"{count} sessions were ended, and new ones are opened with the new password")


def main():
    parser = Arguments(__doc__)
    parser.add_argument("--break", dest="is_broken", action="store_true")
    options = parser.parse_args()
    print(f"\nseed {options.seed}", flush=True)
    drill = Drill(options)
    try:
        asyncio.run(drill.run())
        counts, broken = judge(drill.ledger, Found(drill.installation, drill.receiver))
        print()
        table(["replaced under load", "#in s", "#changes meanwhile", "#tried again", "#wrong"], drill.rows)
        print()
        table(["promise", "#held to it", "#broken"], [(name, count, len(broken[name])) for name, count in counts.items()])
    except Failure as failure:
        sys.exit(f"rotation: {failure}\nseed {options.seed}; the server's log ends:\n{drill.installation.log_tail()}")
    finally:
        drill.close()
    problems = drill.problems + drill.ledger.problems + [
        f"{promise}: {thing}" for promise, things in broken.items() for thing in things]
    if problems:
        sys.exit(f"rotation: {len(problems)} things are not as they must be: {problems[:5]}")


if __name__ == "__main__":
    main()
