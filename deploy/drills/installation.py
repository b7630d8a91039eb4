"""An installation of Doorstep for a drill: an embedded PostgreSQL, an APNs simulator, a server, and one tenant."""

import argparse
import asyncio
import contextlib
import csv
import io
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

TENANT, TEAM, KEY_ID, CLIP = "drill", "ABCDE12345", "DRILLKEY01", "com.example.MyApp.Clip"
SITE = "https://example.com"
# A busy machine starts a server of the debug build in seconds.
START_LIMIT = 300
# The status of a server without a lookup index or a database, and of a proxy without a server.
UNAVAILABLE = (502, 503, 504)


class Arguments(argparse.ArgumentParser):
    """The options of every drill; an unknown option is a wrong usage (64)."""

    def __init__(self, description):
        super().__init__(usage=description.split("usage: ")[1])
        self.add_argument("--doorstep", required=True)
        self.add_argument("--scratch", required=True)
        self.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(64, f"{message}\n")


class Failure(Exception):
    """The drill cannot continue; no promise is kept or broken."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def say(text):
    print(text, file=sys.stderr, flush=True)


def table(columns, rows):
    """Columns whose name begins with '#' are numbers."""
    print(f"| {' | '.join(column.lstrip('#') for column in columns)} |")
    print(f"| {' | '.join('---:' if column.startswith('#') else '---' for column in columns)} |")
    for row in rows:
        print(f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |")
    sys.stdout.flush()


def query(conninfo, sql):
    """Rows of texts, as superuser; PostgreSQL must run."""
    done = subprocess.run(
        ["psql", "-X", "-q", "--csv", "--tuples-only", "-v", "ON_ERROR_STOP=1", "-d", conninfo, "-f", "-"],
        input=sql, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise Failure(f"psql: {done.stderr.strip()[-500:]}")
    csv.field_size_limit(1 << 30)
    return list(csv.reader(io.StringIO(done.stdout)))


class Installation:
    # All clients have one address.
    limits = ("--key-limit", "off", "--client-limit", "off", "--new-instance-limit", "off", "--client-new-instance-limit", "off")

    def __init__(self, binary, scratch):
        # Its children end with it. A shell makes background processes ignore SIGINT.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.binary, self.scratch = binary, pathlib.Path(scratch)
        self.postgres = self.scratch / "postgres"
        # The database of the commands and the server, and the additional environment of the server.
        self.database, self.serving = ["--embedded-postgres", str(self.postgres)], {}
        self.environment = {
            name: value for name, value in os.environ.items() if name != "DATABASE_URL" and not name.startswith("DOORSTEP_")
        } | {"DOORSTEP_TOKEN_SECRET": secrets.token_hex(32), "DOORSTEP_LOG_FORMAT": "text"}
        self.port, self.server, self.simulator, self.control = free_port(), None, None, None
        self.restarts, self.requests = 0, []

    # Commands and the database

    def run(self, *words, text=None):
        """Runs a command; returns its output."""
        done = subprocess.run(
            [self.binary, *words], input=text, text=True, capture_output=True, env=self.environment, check=False)
        if done.returncode != 0:
            raise Failure(f"doorstep {' '.join(words[:3])} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def on_database(self, *words, text=None):
        return self.run(*words, *self.database, text=text)

    def query(self, sql):
        return query(self.conninfo, sql)

    # Set-up

    def set_up(self, locations, experiences):
        """Creates a tenant with a clip of several businesses, and its keys; the server must run."""
        self.on_database("tenant", "create", TENANT, "--name", "Drill")
        self.on_database(
            "clip", "create", "--tenant", TENANT, "--team-id", TEAM, "--bundle-id", CLIP, "--multi-business")
        rows = "".join(f"{identifier},{identifier},37.3,-122,100\n" for identifier in locations)
        self.on_database(
            "location", "import", "--tenant", TENANT, "-", text=f"identifier,name,latitude,longitude,radius\n{rows}")
        rows = "".join(f"{CLIP},{SITE}{path},{location},{rule}\n" for path, location, rule in experiences)
        self.on_database(
            "experience", "import", "--tenant", TENANT, "-", text=f"clip,url,location,identifier_rule\n{rows}")
        self.publishable = self.make_key("publishable")
        self.secret = self.make_key(
            "secret", "lookup", "confirm", "compose", "register", "notify", "read", "manage", "manage_keys")
        if self.database:
            self.conninfo = self.run("postgres", str(self.postgres), "--", "printenv", "DATABASE_URL").strip()
        self.tenant = self.query(f"SELECT tenant_id FROM doorstep.tenants WHERE slug = '{TENANT}'")[0][0]

    def make_key(self, kind, *scopes):
        options = [word for scope in scopes for word in ("--scope", scope)]
        return json.loads(self.on_database("key", "create", "--tenant", TENANT, "--kind", kind, *options,
                                           "--format", "json"))["key"]

    def start_simulator(self, public_keys=None, private_key=None):
        """Starts the simulator with a key that it makes, or with keys of the team by their IDs."""
        if public_keys:
            keys = [word for name, path in public_keys.items() for word in ("--key-id", name, "--public-key", str(path))]
        else:
            private_key = self.scratch / "key.p8"
            keys = ["--key-id", KEY_ID, "--private-key", str(private_key)]
        with open(self.scratch / "simulator.log", "w") as log:
            self.simulator = subprocess.Popen(
                [self.binary, "apns-simulator", "--format", "json", "--port", "0", "--control-port", "0",
                 "--environment", "production", "--team", TEAM, "--ca-file", str(self.scratch / "ca.pem"), *keys],
                env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True)
        ports = json.loads(self.simulator.stdout.readline())
        self.control = ports["controlPort"]
        (self.scratch / "keys.json").write_text(
            json.dumps({"keys": [{"team": TEAM, "id": KEY_ID, "file": private_key.name}]}))
        self.environment |= {
            "DOORSTEP_APNS_KEYS": str(self.scratch / "keys.json"),
            "DOORSTEP_APNS_CA_FILE": str(self.scratch / "ca.pem"),
            "DOORSTEP_APNS_PRODUCTION": f"127.0.0.1:{ports['port']}",
            # The lease of a delivery lasts for two timeouts.
            "DOORSTEP_APNS_TIMEOUT": "3"}

    def simulated(self, path, method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.control}{path}", method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read() or "null")

    def collect_requests(self):
        """The requests to APNs; the simulator keeps 100,000. Call it while nothing is sent."""
        self.requests += self.simulated("/requests")
        self.simulated("/requests", "DELETE")

    # The server

    def start_server_once(self):
        with open(self.scratch / "serve.log", "a") as log:
            self.server = subprocess.Popen(
                [self.binary, "serve", *self.database, "--host", "127.0.0.1", "--port", str(self.port),
                 *self.limits, "--outbound-allow", "127.0.0.0/8"],
                env=self.environment | self.serving, stdout=log, stderr=log, start_new_session=True)

    def start_server(self):
        """Starts the server again, as a service manager does, and waits until it is ready; returns the time."""
        start = time.monotonic()
        self.start_server_once()
        while not self.is_ready():
            if self.server.poll() is not None:
                self.restarts += 1
                self.start_server_once()
            if time.monotonic() > start + START_LIMIT:
                raise Failure(f"the server is not ready after {START_LIMIT} s:\n{self.log_tail()}")
            time.sleep(0.02)
        return time.monotonic() - start

    def is_ready(self):
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return answer.status == 200
        return False

    def log_tail(self):
        log = self.scratch / "serve.log"
        return "\n".join(log.read_text().splitlines()[-10:]) if log.exists() else "no server was started"

    def kill_server(self):
        self.server.kill()
        self.server.wait()

    # PostgreSQL

    def postmaster(self):
        """The process and its children; none if it does not run."""
        try:
            leader = int((self.postgres / "data/postmaster.pid").read_text().split("\n", 1)[0])
            if not pathlib.Path(f"/proc/{leader}").exists():
                return None, []
        except (FileNotFoundError, ValueError):
            return None, []
        return leader, children(leader)

    def start_postgres(self):
        """Starts PostgreSQL as a joining command does; returns the time."""
        start = time.monotonic()
        while True:
            try:
                self.on_database("status")
                return time.monotonic() - start
            except Failure:
                if time.monotonic() > start + START_LIMIT:
                    raise
                time.sleep(0.05)

    def close(self):
        """Ends all started processes, PostgreSQL last."""
        for process in (self.server, self.simulator):
            if process and process.poll() is None:
                process.terminate()
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        # A killed server leaves PostgreSQL running. It stops after a command has joined and left.
        if self.database and self.postgres.exists():
            with contextlib.suppress(Failure):
                self.run("postgres", str(self.postgres), "--", "true")


def children(parent):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                    found.append(int(entry.name))
    return found


def kill(*processes):
    """Kills the processes, as a lack of memory does; ended processes are ignored."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


class Unanswered(Exception):
    """It is unknown whether the request took effect."""


class Client:
    """HTTP/1.1, one request at a time."""

    def __init__(self, installation, key):
        self.installation, self.key, self.writer = installation, key, None
        # The numbers of requests without a response, and of 503 responses.
        self.unanswered = self.unavailable = 0

    async def send(self, method, path, body=None, **headers):
        """Returns the status and the JSON; raises `Unanswered` without a complete response."""
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.key}",
                 "Content-Type: application/json", f"Content-Length: {len(content)}",
                 *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
        try:
            async with asyncio.timeout(60):
                if self.writer is None:
                    self.reader, self.writer = await asyncio.open_connection(
                        "127.0.0.1", self.installation.port, limit=1 << 24)
                self.writer.write("\r\n".join([*lines, "", ""]).encode() + content)
                head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
                length = next((int(line.split(":")[1]) for line in head.splitlines()
                               if line.lower().startswith("content-length:")), 0)
                text = await self.reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self.close()
            raise Unanswered(str(error)) from None
        return int(head.split()[1]), json.loads(text) if text else None

    async def insist(self, method, path, body=None, **headers):
        """Repeats the request until any server responds, as a client does that must know the result."""
        deadline = time.monotonic() + 2 * START_LIMIT
        while time.monotonic() < deadline:
            try:
                status, answer = await self.send(method, path, body, **headers)
                if status not in UNAVAILABLE:
                    return status, answer
                self.unavailable += 1
            except Unanswered:
                self.unanswered += 1
            await asyncio.sleep(0.02)
        raise Failure(f"{method} {path} was not answered within {2 * START_LIMIT} s")

    def close(self):
        if self.writer:
            self.writer.close()
            self.writer = None
