"""Backs an installation up under load in both ways that the guide names, restores each elsewhere, and compares the whole.

usage: backup.py --doorstep PATH --scratch DIR [--seed S] [--break]

By pg_dump as a login that may pass the policies, of the moment of one snapshot; and by a base backup with the archived log, up
to the moment before an accident. What is compared is each row of each table, each sequence and the schema. Then a server is
started on what was restored: it must know the keys, find the places, open the push tokens and follow changes.

At the end each way is done wrong by hand, and that must be noticed: a dump by a login under the policies, one that leaves them
on, an archive that lacks a piece, and one row that is another. With --break a row is changed in what is restored, and the drill
must fail.
"""

import asyncio
import contextlib
import difflib
import os
import pathlib
import pwd
import secrets
import shutil
import subprocess
import sys
import time

from installation import SITE, TENANT, Arguments, Client, Failure, Installation, free_port, query, say, table
from load import AUDIENCES, EXPERIENCES, Ledger, Load, Receiver

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DATABASE = "doorstep"


class Cluster:
    """A PostgreSQL as an operator has one: logins with passwords, and an archive of its log."""

    def __init__(self, binaries, directory):
        self.binaries, self.directory, self.data = pathlib.Path(binaries), directory, directory / "data"
        self.archive, self.port = directory / "archive", free_port()
        # Root may not run it.
        self.account = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.geteuid() == 0 else []
        for folder in (directory, self.archive):
            folder.mkdir(exist_ok=True)
            self.own(folder)
        self.superuser = f"host={directory} port={self.port} user=postgres dbname={DATABASE}"

    def own(self, path):
        if self.account:
            entry = pwd.getpwnam("postgres")
            os.chown(path, entry.pw_uid, entry.pw_gid)

    def program(self, name, *words, check=True, **environment):
        """Runs one of PostgreSQL's programs as its account; returns what it printed."""
        done = subprocess.run(
            [*self.account, str(self.binaries / name), *map(str, words)], cwd=self.directory, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=os.environ | environment)
        if check and done.returncode != 0:
            raise Failure(f"{name} ended with {done.returncode}: {done.stdout.strip()[-800:]}")
        return done

    def initialize(self):
        self.program("initdb", "-D", self.data, "--username=postgres", "--auth-local=trust", "--auth-host=scram-sha-256",
                     "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums", "--no-instructions")

    def configure(self, **settings):
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.directory,
            "archive_mode": "on", "archive_command": f"test ! -f {self.archive}/%f && cp %p {self.archive}/%f",
            "timezone": "UTC", "log_timezone": "UTC"} | settings
        path = self.data / "postgresql.conf"
        path.write_text("".join(f"{name} = '{value}'\n" for name, value in settings.items()))

    def start(self, check=True):
        log = self.directory / "log"
        # What pg_ctl leaves running must not hold a pipe of ours.
        with open(os.devnull, "w") as nowhere:
            done = subprocess.run(
                [*self.account, str(self.binaries / "pg_ctl"), "start", "-w", "-t", "120", "-D", str(self.data), "-l",
                 str(log)], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=nowhere, check=False)
        if check and done.returncode != 0:
            raise Failure(f"PostgreSQL does not start: {log.read_text()[-800:]}")
        return done.returncode == 0

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            self.program("pg_ctl", "stop", "-m", "fast", "-w", "-D", self.data, check=False)

    def url(self, login, password):
        return f"host=127.0.0.1 port={self.port} user={login} password={password} dbname={DATABASE}"

    def psql(self, *words, database=None, **environment):
        return self.program("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d",
                            self.superuser if database is None else f"{self.superuser} dbname={database}", *words,
                            **environment)

    def make_logins(self, passwords):
        """As the guide says, in an empty database."""
        self.psql("-c", f"CREATE DATABASE {DATABASE} ENCODING 'UTF8' TEMPLATE template0", database="postgres")
        files = ["sql/roles.sql", "deploy/postgres/create-logins.sql", "deploy/postgres/create-backup-login.sql"]
        for file in files:
            # Read here: PostgreSQL's account may not reach the checkout.
            done = subprocess.run(
                ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.superuser, "-f", str(REPOSITORY / file)],
                capture_output=True, text=True, check=False, env=os.environ | passwords)
            if done.returncode != 0:
                raise Failure(f"{file}: {done.stderr}")


def digest(conninfo, before=""):
    """Of each table how many rows it has and what they are, of each sequence where it is: what two databases are compared by."""
    names = [name for name, in query(conninfo, """
        SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname = 'doorstep' AND relkind = 'r' ORDER BY 1::text""")]
    sequences = [name for name, in query(conninfo, """
        SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname = 'doorstep' AND relkind = 'S' ORDER BY 1::text""")]
    rows = " UNION ALL ".join(
        [f"SELECT '{name}', count(*), md5(coalesce(string_agg(md5(t::text), '' ORDER BY md5(t::text)), '')) FROM {name} AS t"
         for name in names]
        + [f"SELECT '{name}', 1, last_value::text FROM {name}" for name in sequences])
    return {name: (int(count), text) for name, count, text in query(conninfo, f"{before} {rows}")}


def differences(one, other):
    return [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]


def lost(original, restored):
    """What is not as it was. A sequence has no versions, and is logged ahead of its use: it may be further, never behind."""
    return [name for name in differences(original, restored)
            if not name.endswith("_seq") or int(restored[name][1]) < int(original[name][1])]


def find_binaries():
    """Those of the release that is found first: the one of the PATH, or the newest."""
    found = shutil.which("pg_config")
    if found:
        return subprocess.run([found, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    return str(max(pathlib.Path("/usr/lib/postgresql").glob("*/bin")))


def prepare(cluster, installation, passwords):
    """Makes the cluster, its logins and the schema, and has the installation work on it, each part by its own login."""
    cluster.initialize()
    cluster.configure()
    cluster.start()
    cluster.make_logins(passwords)
    installation.database = []
    installation.environment["DATABASE_URL"] = cluster.url("doorstep_migrate_login", passwords["MIGRATE_PASSWORD"])
    installation.run("migrate")
    point(installation, cluster, passwords)


def point(installation, cluster, passwords):
    """The commands administer a cluster, the server serves it."""
    installation.environment["DATABASE_URL"] = cluster.url("doorstep_admin_login", passwords["ADMIN_PASSWORD"])
    installation.serving = {"DATABASE_URL": cluster.url("doorstep_serve_login", passwords["SERVE_PASSWORD"])}
    installation.conninfo = cluster.superuser


class Drill:
    def __init__(self, options):
        self.options, self.scratch = options, pathlib.Path(options.scratch)
        self.installation = Installation(options.doorstep, options.scratch)
        self.passwords = {f"{name}_PASSWORD": secrets.token_hex(16) for name in ("MIGRATE", "ADMIN", "SERVE", "BACKUP")}
        self.clusters, self.rows, self.problems = [], [], []
        self.binaries = find_binaries()
        self.ledger = Ledger()
        self.load = Load(self.installation, self.ledger, Receiver(self.ledger), options.seed)

    def cluster(self, name):
        made = Cluster(self.binaries, self.scratch / name)
        self.clusters.append(made)
        return made

    def expect(self, holds, words):
        print(("backup: " if holds else "backup: NOT ") + words, file=sys.stderr, flush=True)
        if not holds:
            self.problems.append(words)

    def note(self, way, seconds, compared, different):
        rows = sum(count for count, _ in compared.values())
        self.rows.append((way, f"{seconds:.1f}", len(compared), rows, len(different)))
        self.expect(not different, f"{way}: {rows:,} rows of {len(compared)} tables and sequences are the same"
                    + (f", but {', '.join(different[:5])}" if different else ""))

    async def run(self):
        original = self.cluster("original")
        self.installation.start_simulator()
        prepare(original, self.installation, self.passwords)
        self.installation.set_up([*AUDIENCES, "visit-0"], EXPERIENCES)
        self.installation.start_server()
        await self.load.set_up(self.options.crowd)
        load = asyncio.create_task(self.load.run())
        try:
            await asyncio.sleep(3)
            base = await asyncio.to_thread(self.back_up_base, original)
            await asyncio.sleep(2)
            dump, at_dump, schema = await asyncio.to_thread(self.dump, original)
            await asyncio.sleep(2)
        finally:
            self.load.is_stopping = True
        await load
        await self.load.notify_guests()
        changes = sum(self.ledger.changes.values())
        say(f"backup: meanwhile {changes:,} catalogue writes, {len(self.ledger.notifications):,} notifications")
        self.stop_server()
        before_accident = digest(original.superuser)
        moment, = query(original.superuser, "SELECT clock_timestamp()")[0]
        await asyncio.sleep(1)
        self.installation.run("tenant", "delete", TENANT, "--yes")
        self.expect(differences(before_accident, digest(original.superuser)) != [], "the accident has done harm")
        piece, = query(original.superuser, "SELECT pg_walfile_name(pg_switch_wal())")[0]
        original.stop()
        await self.restore_dump(dump, at_dump, schema)
        await self.restore_base(original, base, moment, before_accident)
        self.do_wrong(original, at_dump, base, moment, piece)

    def stop_server(self):
        self.installation.server.terminate()
        if self.installation.server.wait(120) != 0:
            raise Failure(f"the server ended with an error:\n{self.installation.log_tail()}")

    # Backing up

    def backup_url(self, cluster):
        return cluster.url("doorstep_backup_login", self.passwords["BACKUP_PASSWORD"])

    def back_up_base(self, original):
        base = original.directory / "base"
        original.program("pg_basebackup", "-d", self.backup_url(original), "-D", base, "--checkpoint=fast", "--wal-method=none")
        original.program("pg_verifybackup", "--no-parse-wal", base)
        return base

    def dump(self, original):
        """Of the snapshot of a transaction that the digest is taken in, too."""
        session = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-d", original.superuser], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        session.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot();\n")
        session.stdin.flush()
        snapshot = session.stdout.readline().strip()
        compared = digest(
            original.superuser, f"BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '{snapshot}';")
        dump = original.directory / "doorstep.dump"
        original.program("pg_dump", "-d", self.backup_url(original), "--format=custom", f"--snapshot={snapshot}", "--file", dump)
        session.stdin.close()
        session.wait()
        schema = self.schema(original)
        return dump, compared, schema

    def schema(self, cluster):
        text = cluster.program("pg_dump", "-d", self.backup_url(cluster), "--schema-only").stdout
        # Each dump has a random word of its own, and a condition that is read again may be grouped otherwise.
        return [line.translate({ord("("): None, ord(")"): None}) for line in text.splitlines()
                if not line.startswith(("\\restrict", "\\unrestrict"))]

    # Restoring

    async def restore_dump(self, dump, at_dump, schema):
        start = time.monotonic()
        restored = self.cluster("restored")
        restored.initialize()
        restored.configure()
        restored.start()
        restored.make_logins(self.passwords)
        restored.program("pg_restore", "-d", restored.superuser, "--exit-on-error", "--single-transaction", "--clean",
                         "--if-exists", dump)
        seconds = time.monotonic() - start
        if self.options.is_broken:
            self.change_a_row(restored)
        found = digest(restored.superuser)
        self.note("dump, restored elsewhere", seconds, found, lost(at_dump, found))
        changed = list(difflib.unified_diff(schema, self.schema(restored), "the original", "what was restored", n=1))
        self.expect(not changed, "\n".join(["the schema, its owners, policies and grants are the same", *changed[:20]]))
        await self.serve(restored, "the dump")
        restored.stop()

    async def restore_base(self, original, base, moment, before_accident):
        start = time.monotonic()
        recovered = self.recover("recovered", original, base, moment)
        seconds = time.monotonic() - start
        self.note("base backup and log, up to before the accident", seconds, before_accident,
                  lost(before_accident, digest(recovered.superuser)))
        await self.serve(recovered, "the base backup")
        recovered.stop()

    def recover(self, name, original, base, moment, check=True):
        recovered = self.cluster(name)
        subprocess.run(["cp", "-a", base, recovered.data], check=True)
        recovered.configure(
            restore_command=f"cp {original.archive}/%f %p", recovery_target_time=moment, recovery_target_action="promote")
        (recovered.data / "recovery.signal").touch()
        recovered.own(recovered.data / "recovery.signal")
        if not recovered.start(check):
            return None
        deadline = time.monotonic() + 120
        try:
            while query(recovered.superuser, "SELECT pg_is_in_recovery()")[0][0] != "f":
                if time.monotonic() > deadline:
                    raise Failure("the recovery does not end")
                time.sleep(0.1)
        except Failure:
            # It responds during recovery, and ends if it cannot recover.
            if check:
                raise
            return None
        return recovered

    async def serve(self, cluster, source):
        """What was restored is served as if nothing had been."""
        point(self.installation, cluster, self.passwords)
        installation = self.installation
        client = Client(installation, installation.secret)
        await asyncio.to_thread(installation.start_server)
        status, answer = await client.insist("GET", f"/v1/lookup?url={SITE}/restaurants/table/order/1")
        self.expect(status == 200, f"a server on {source} knows the key, and finds the place")
        status, answer = await client.insist(
            "PUT", "/v1/locations/later", {"name": "Later", "latitude": 37.3, "longitude": -122, "radius": 100})
        status, answer = await client.insist("GET", f"/v1/lookup?url={SITE}/places/later")
        self.expect(status == 200, f"a server on {source} takes changes, and follows them")
        before = installation.simulated("/counters")["accepted"]
        key = f"after {source}"
        status, answer = await client.insist("POST", "/v1/notifications", {
            "url": f"{SITE}/restaurants/table/order/1", "aps": {"alert": {"body": "Your order is ready."}},
            "audience": {"business": True}}, Idempotency_Key=key.replace(" ", "-"))
        deadline = time.monotonic() + 60
        sql = "SELECT count(*) FROM doorstep.deliveries WHERE state = 'delivered' AND notification_id = '{}'"
        while status in (200, 201) and time.monotonic() < deadline:
            count = int(installation.query(sql.format(answer["id"]))[0][0])
            if count == len(self.load.devices):
                break
            await asyncio.sleep(0.1)
        self.expect(
            status in (200, 201) and count == len(self.load.devices)
            and installation.simulated("/counters")["accepted"] >= before + count,
            f"a server on {source} opens the push tokens: {len(self.load.devices)} devices are sent to")
        client.close()
        self.stop_server()

    # What must be noticed

    def do_wrong(self, original, at_dump, base, moment, piece):
        original.start()
        # Who owns the tables may read them all, but for the policies.
        owner = original.url("doorstep_migrate_login", self.passwords["MIGRATE_PASSWORD"])
        done = original.program("pg_dump", "-d", owner, "--format=custom", "--file", original.directory / "part", check=False)
        self.wrong("a dump by a login under the policies", done.returncode != 0 and "row-level security policy" in done.stdout)
        done = original.program("pg_dump", "-d", owner, "--enable-row-security", "--data-only", "--inserts")
        count = int(query(original.superuser, "SELECT count(*) FROM doorstep.audit_log")[0][0])
        self.wrong("a dump that leaves the policies on", done.stdout.count("INSERT INTO doorstep.audit_log") < count)
        original.stop()

        restored = next(cluster for cluster in self.clusters if cluster.directory.name == "restored")
        restored.start()
        self.change_a_row(restored)
        self.wrong("one row that is another", "doorstep.tenants" in differences(at_dump, digest(restored.superuser)))
        restored.stop()

        # The piece of the log that the accident is in.
        (original.archive / piece).rename(original.archive / "lost")
        self.wrong("an archive that lacks a piece", self.recover("unwhole", original, base, moment, check=False) is None)
        (original.archive / "lost").rename(original.archive / piece)

    @staticmethod
    def change_a_row(cluster):
        query(cluster.superuser, "SET session_replication_role = replica; UPDATE doorstep.tenants SET name = name || '.'")

    def wrong(self, way, is_noticed):
        self.rows.append((f"done wrong: {way}", "", "", "", "noticed" if is_noticed else "unnoticed"))
        self.expect(is_noticed, f"{way} is noticed")

    def close(self):
        self.installation.close()
        for cluster in self.clusters:
            with contextlib.suppress(Failure):
                cluster.stop()


def main():
    parser = Arguments(__doc__)
    parser.add_argument("--crowd", type=int, default=60_000)
    parser.add_argument("--break", dest="is_broken", action="store_true")
    options = parser.parse_args()
    print(f"\nseed {options.seed}", flush=True)
    drill = Drill(options)
    try:
        asyncio.run(drill.run())
        print()
        table(["what", "#restored in s", "#tables and sequences", "#rows", "#different"], drill.rows)
        print(f"\n- meanwhile acknowledged: {sum(drill.ledger.changes.values()):,} catalogue writes,"
              f" {len(drill.ledger.instances):,} registrations, {len(drill.ledger.notifications):,} notifications")
    except Failure as failure:
        sys.exit(f"backup: {failure}\nseed {options.seed}")
    finally:
        drill.close()
    if drill.problems or drill.ledger.problems:
        sys.exit(f"backup: {len(drill.problems + drill.ledger.problems)} things are not as they must be:"
                 f" {(drill.problems + drill.ledger.problems)[:5]}")


if __name__ == "__main__":
    main()
