"""Upgrades an installation under load, with old and new servers on one database, and then returns to the old version.

usage: upgrade.py --doorstep PATH --scratch DIR [--old PATH | --revision R] [--seconds N] [--seed S] [--break]

The old server is a binary that is given, or built of a revision; without either, of the last one before the newest migration.
Under load means: changes of the catalogue with lookups after each, registrations, confirmations, notifications and webhook
messages. No request may be refused for the upgrade, and all that was acknowledged, by whichever server, must be there in the end.

At its start a server that finds another schema than it needs must say so by name, or say that it can work on it. With --break a
column is renamed while the old server still uses it, a contraction before its time: the drill must fail.
"""

import asyncio
import collections
import contextlib
import copy
import json
import pathlib
import secrets
import subprocess
import sys
import time

from backup import REPOSITORY, Cluster, find_binaries, prepare
from evidence import Found, judge
from installation import START_LIMIT, Arguments, Client, Failure, Installation, Unanswered, free_port, say, table
from load import AUDIENCES, EXPERIENCES, SITE, Ledger, Load, Receiver

# Maximum wait of a write for migrations: their wait for a lock, their duration, and a margin for a busy machine.
LONGEST_WRITE = 5
# Time until a server has another server's changes: a second, and a reserve for a busy machine.
SEEING_LIMIT = 20


class MovingClient(Client):
    """Sends requests to the selected server, and stores the time of each."""

    def __init__(self, drill, key):
        super().__init__(drill.installation, key)
        self.drill, self.target = drill, drill.installation
        # A client that reads its own write changes servers only between reads.
        self.reads_its_writes = False

    def move(self):
        if self.installation is not self.target:
            self.close()
            self.installation = self.target

    async def send(self, method, path, body=None, **headers):
        if not self.reads_its_writes:
            self.move()
        start = time.monotonic()
        try:
            status, answer = await super().send(method, path, body, **headers)
        except Unanswered:
            self.drill.phase.refused["not answered"] += 1
            raise
        self.drill.phase.take("lookup" if path.startswith("/v1/lookup") else "other", status, time.monotonic() - start)
        return status, answer


class MovingLoad(Load):
    def __init__(self, drill):
        super().__init__(drill.installation, drill.ledger, drill.receiver, drill.options.seed)
        self.drill = drill

    def client(self, key):
        client = MovingClient(self.drill, key)
        self.clients.append(client)
        return client

    async def look(self, client, location):
        client.reads_its_writes = True
        if client.installation is not client.target:
            client.move()
            await self.wait_until_seen(client, location)
        await super().look(client, location)

    async def wait_until_seen(self, client, location):
        """Waits until a write that the other server acknowledged is visible at this one."""
        version = self.ledger.places.get(location)
        deadline = time.monotonic() + SEEING_LIMIT
        while time.monotonic() < deadline:
            status, answer = await client.insist("GET", f"/v1/lookup?url={SITE}/places/{location}")
            if (answer["location"]["name"] if status == 200 else None) == (None if version is None else f"version {version}"):
                return
            await asyncio.sleep(0.05)


class Phase:
    def __init__(self, name):
        self.name, self.start = name, time.monotonic()
        self.counts, self.slowest, self.refused = collections.Counter(), collections.Counter(), collections.Counter()

    def take(self, kind, status, seconds):
        self.counts[kind] += 1
        self.slowest[kind] = max(self.slowest[kind], seconds)
        self.refused[kind] += status in (429, 503)


class Drill:
    def __init__(self, options, old):
        self.options, self.scratch = options, pathlib.Path(options.scratch)
        self.installation = Installation(old, options.scratch)
        self.passwords = {f"{name}_PASSWORD": secrets.token_hex(16) for name in ("MIGRATE", "ADMIN", "SERVE", "BACKUP")}
        self.cluster = Cluster(find_binaries(), self.scratch / "cluster")
        self.ledger = Ledger()
        self.receiver = Receiver(self.ledger)
        self.load = MovingLoad(self)
        self.phase, self.phases, self.problems, self.servers = Phase("setting up"), [], [], [self.installation]

    def expect(self, holds, words):
        say(("upgrade: " if holds else "upgrade: NOT ") + words)
        if not holds:
            self.problems.append(words)

    def beside(self, binary):
        """Another server of the same installation."""
        other = copy.copy(self.installation)
        other.binary, other.port, other.server = binary, free_port(), None
        self.servers.append(other)
        return other

    # The course

    async def run(self):
        self.installation.start_simulator()
        prepare(self.cluster, self.installation, self.passwords)
        self.old_version = self.schema_version()
        self.installation.set_up([*AUDIENCES, "visit-0"], EXPERIENCES)
        old, new = self.installation, self.beside(self.options.doorstep)
        old.start_server()
        self.refuses(new, "this program needs", "a new server on the old schema")
        await self.load.set_up(2_000)
        load = asyncio.create_task(self.load.run())
        try:
            for name, course in (
                ("the old server", self.wait),
                ("migrations under the old server", self.migrate),
                ("old and new side by side", lambda: self.share(old, new)),
                ("taken back: the old server again", lambda: self.take_back(old, new)),
                ("the new server, the old one has ended", lambda: self.hand_over(old, new)),
                ("an old server started anew", lambda: self.start_again(old, new)),
                ("a later schema that says it is compatible", lambda: self.serve_later(new)),
            ):
                self.phase = Phase(name)
                self.phases.append(self.phase)
                say(f"upgrade: {name}")
                await course()
                self.phase.end = time.monotonic()
                if load.done():
                    await load
                if self.problems or self.ledger.problems:
                    break
        finally:
            self.load.is_stopping = True
        await load
        if self.problems or self.ledger.problems:
            return
        await self.load.notify_guests()
        await self.load.wait_until_nothing_is_due("deliveries", "audiences", "webhook messages")
        # A stopped server, unlike a killed one, records its confirmations.
        await self.stop(new)
        self.ledger.written["visit-0"] = self.ledger.answered["visit-0"]

    async def wait(self):
        await asyncio.sleep(self.options.seconds)

    async def migrate(self):
        await self.wait()
        environment = {"DATABASE_URL": self.cluster.url("doorstep_migrate_login", self.passwords["MIGRATE_PASSWORD"])}
        start = time.monotonic()
        done = await asyncio.to_thread(
            subprocess.run, [self.options.doorstep, "migrate"], capture_output=True, text=True, check=False,
            env=self.installation.environment | environment)
        self.new_version, self.migrated_after = self.schema_version(), time.monotonic() - start
        self.expect(
            done.returncode == 0 and self.new_version >= self.old_version,
            f"migrated from version {self.old_version} to {self.new_version} {done.stderr.strip()[-300:]}")
        await self.wait()

    async def share(self, old, new):
        await asyncio.to_thread(new.start_server)
        await self.move(lambda number: new if number % 2 else old)
        if self.options.is_broken:
            self.installation.query("ALTER TABLE doorstep.locations RENAME COLUMN radius TO radius_meters")
        await self.wait()

    async def take_back(self, old, new):
        await self.move(lambda _: old)
        await self.stop(new)
        await self.wait()

    async def hand_over(self, old, new):
        await asyncio.to_thread(new.start_server)
        await self.move(lambda _: new)
        await self.stop(old)
        self.installation.port = new.port
        await self.wait()

    async def start_again(self, old, new):
        """A server must start, or refuse with a reason."""
        again = self.beside(old.binary)
        self.can_go_back = await self.starts(again)
        if self.can_go_back:
            await self.move(lambda _: again)
            await self.wait()
            await self.move(lambda _: new)
            await self.stop(again)
        else:
            self.refuses(again, f"at migration {self.new_version}", "an old server on the new schema")
            await self.wait()

    async def serve_later(self, new):
        """A migration of the next release, for the servers of this one."""
        needed = self.new_version
        self.installation.query(f"""
            INSERT INTO doorstep.schema_migrations (version, name, checksum, compatible_from)
            VALUES ({needed + 1}, 'of a later release', '', {needed})""")
        again = self.beside(new.binary)
        self.expect(await self.starts(again), "a server starts on a later schema that says it is compatible")
        if not self.problems:
            await self.move(lambda number: again if number % 2 else new)
            await self.wait()
            await self.move(lambda _: new)
            await self.stop(again)
        self.installation.query(
            f"UPDATE doorstep.schema_migrations SET compatible_from = {needed + 1} WHERE version = {needed + 1}")
        self.refuses(self.beside(new.binary), f"at migration {needed + 1}", "a server on a later schema that is not")

    # Servers

    def schema_version(self):
        return int(self.installation.query("SELECT max(version) FROM doorstep.schema_migrations")[0][0])

    async def move(self, target):
        for number, client in enumerate(self.load.clients):
            client.target = target(number)
        deadline = time.monotonic() + LONGEST_WRITE + SEEING_LIMIT
        while any(client.installation is not client.target for client in self.load.clients):
            if time.monotonic() > deadline:
                return self.expect(False, "each client goes over to another server")
            await asyncio.sleep(0.02)
        # All requests to the other server have responses.
        await asyncio.sleep(1)

    async def stop(self, server):
        server.server.terminate()
        status = await asyncio.to_thread(server.server.wait, 120)
        self.expect(status == 0, f"a server that is told to end ends with {status}")

    async def starts(self, server):
        server.start_server_once()
        deadline = time.monotonic() + START_LIMIT
        while server.server.poll() is None and time.monotonic() < deadline:
            if await asyncio.to_thread(server.is_ready):
                return True
            await asyncio.sleep(0.05)
        return False

    def refuses(self, server, words, name):
        """A server that must end at once, with a named error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [server.binary, "serve", "--host", "127.0.0.1", "--port", "0"], capture_output=True, text=True, check=False,
                env=server.environment | server.serving, timeout=START_LIMIT)
            last = done.stderr.strip().splitlines()[-1:]
            return self.expect(
                done.returncode not in (0, None) and words in done.stderr, f"{name} is refused by name: {''.join(last)}")
        self.expect(False, f"{name} is refused by name: it went on")

    def close(self):
        for server in reversed(self.servers):
            if server.server and server.server.poll() is None:
                server.server.kill()
                server.server.wait()
        self.installation.close()
        self.cluster.stop()


def of_checkout(binary):
    """The revision of the checkout of a binary."""
    told = subprocess.run([str(REPOSITORY / "deploy/revision"), str(pathlib.Path(binary).parent)],
                          stdout=subprocess.PIPE, text=True)
    return told.stdout.strip() if told.returncode == 0 else "unknown"


def build(revision):
    """The binary of a revision, in a clone that is kept for the next run."""
    folder = REPOSITORY / ".build-checks/upgrade" / revision
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(REPOSITORY), str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", revision], check=True)
    return subprocess.run([str(folder / "deploy/build-release")], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def before_the_newest_migration():
    def git(*words):
        return subprocess.run(["git", "-C", str(REPOSITORY), *words], capture_output=True, text=True, check=True).stdout.strip()

    newest = git("log", "-1", "--format=%H", "--diff-filter=A", "--", "sql/migrations")
    return git("rev-parse", "--short", f"{newest}^")


def main():
    parser = Arguments(__doc__)
    old = parser.add_mutually_exclusive_group()
    old.add_argument("--old")
    old.add_argument("--revision")
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--break", dest="is_broken", action="store_true")
    options = parser.parse_args()
    if options.old:
        revision = of_checkout(options.old)
    else:
        revision = options.revision or before_the_newest_migration()
    drill = Drill(options, options.old or build(revision))
    print(f"\nseed {options.seed}; the old server is of revision {revision}", flush=True)
    counts, broken = {}, {}
    try:
        asyncio.run(drill.run())
        problems = drill.problems + drill.ledger.problems
        if not problems:
            counts, broken = judge(drill.ledger, Found(drill.installation, drill.receiver))
            problems = [f"{promise}: {thing}" for promise, things in broken.items() for thing in things]
        problems += report(drill, counts, broken)
    except Failure as failure:
        sys.exit(f"upgrade: {failure}\nseed {options.seed}; the servers' log ends:\n{drill.installation.log_tail()}")
    finally:
        drill.close()
    for problem in problems[:20]:
        print(f"upgrade: NOT {problem}", file=sys.stderr)
    if problems:
        sys.exit(f"upgrade: {len(problems)} things are not as they must be, with seed {options.seed}; the servers' log ends:\n"
                 f"{drill.installation.log_tail()}")


def report(drill, counts, broken):
    """Prints the results, and returns the violations."""
    rows, problems = [], []
    for phase in drill.phases:
        rows.append((
            phase.name, f"{getattr(phase, 'end', time.monotonic()) - phase.start:.0f}", phase.counts["lookup"],
            phase.counts["other"], sum(phase.refused.values()), f"{phase.slowest['lookup']:.2f}",
            f"{phase.slowest['other']:.2f}"))
        if phase.refused:
            problems += [f"{count} requests ({kind}) were refused: {phase.name}"
                         for kind, count in phase.refused.items() if count]
        if phase.slowest["other"] > LONGEST_WRITE:
            problems.append(f"a request took {phase.slowest['other']:.1f} s: {phase.name}")
    print()
    table(["answers come from", "#s", "#lookups", "#other requests", "#refused", "#slowest lookup, s", "#slowest other, s"],
          rows)
    if counts:
        print()
        table(["promise", "#held to it", "#broken"], [(name, count, len(broken[name])) for name, count in counts.items()])
        print(f"\n- migrated from version {drill.old_version} to {drill.new_version}, in {drill.migrated_after:.1f} s")
        print("- an old server that is started anew " + (
            "serves: the schema says that it can" if drill.can_go_back
            else "is refused by name; one that runs goes on until it ends"), flush=True)
    return problems


if __name__ == "__main__":
    main()
