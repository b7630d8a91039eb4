"""Restarts two servers behind HAProxy, one after the other, under load: no request may fail.

usage: rolling.py --doorstep PATH --scratch DIR [--shutdown-delay SECONDS] [--restarts N] [--rate N] [--seed S]

HAProxy never repeats a request (`retries 0`). It takes a server out after two failed checks, which are two seconds apart. So a
server must go on accepting connections for more than four seconds after SIGTERM. With `--shutdown-delay 0` it stops at once,
and the drill must fail.
"""

import asyncio
import collections
import copy
import csv
import io
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import uuid

from installation import SITE, START_LIMIT, Arguments, Client, Failure, Installation, Unanswered, free_port, say, table

LOCATIONS = [f"table-{number}" for number in range(20)]
# A server sends its last response within the limit of the drain. HAProxy uses it again after two checks.
STOP_LIMIT, RETURN_LIMIT = 60, 30
# HAProxy's checks of a server that count as its state after a restart: the first response may not be evaluated yet.
CHECKS = 2


class Proxy:
    """HAProxy before the servers. It has a port, like an installation."""

    def __init__(self, scratch, ports):
        program = shutil.which("haproxy", path="/usr/sbin:/sbin:/usr/bin")
        if program is None:
            raise Failure("haproxy is missing")
        self.port, self.socket = free_port(), scratch / "haproxy.sock"
        servers = "\n".join(f"    server server{number} 127.0.0.1:{port} check" for number, port in enumerate(ports))
        path = scratch / "haproxy.cfg"
        path.write_text(f"""
global
    stats socket {self.socket}
defaults
    mode http
    timeout connect 2s
    timeout client 1m
    timeout server 1m
    timeout check 1s
    retries 0
listen servers
    bind 127.0.0.1:{self.port}
    option httpchk GET /readyz
    http-check expect status 200
    default-server inter 2s fall 2 rise 1
{servers}
""")
        with open(scratch / "haproxy.log", "w") as log:
            self.process = subprocess.Popen([program, "-db", "-f", path], stdout=log, stderr=log)

    def states(self):
        """The state of each server in HAProxy."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(b"show stat\n")
            text = b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()
        return [row["status"] for row in csv.DictReader(io.StringIO(text.removeprefix("# ")))
                if row["svname"].startswith("server")]

    async def wait_until_up(self):
        deadline = time.monotonic() + RETURN_LIMIT
        while True:
            try:
                states = self.states()
            except OSError as error:
                states = [str(error)]
            if all(state == "UP" for state in states):
                return
            if time.monotonic() > deadline:
                raise Failure(f"HAProxy has these states of the servers after {RETURN_LIMIT} s: {states}")
            await asyncio.sleep(0.05)

    def close(self):
        self.process.terminate()
        self.process.wait()


class Requests:
    """Requests of all kinds at a fixed rate, whether or not earlier ones were answered."""

    def __init__(self, installation, proxy, rate, seed):
        self.installation, self.proxy, self.rate = installation, proxy, rate
        self.random = random.Random(seed)
        self.idle = {}            # key: clients without a request under way
        self.sent, self.failures = collections.Counter(), []
        self.is_stopping = False

    def kinds(self):
        place, publishable, secret = self.random.choice(LOCATIONS), self.installation.publishable, self.installation.secret
        url = f"{SITE}/restaurants/{place}/order/1"
        return {
            "lookup": (publishable, "GET", f"/v1/lookup?url={url}", None),
            "confirmation": (publishable, "POST", "/v1/confirmations", {"url": url, "deviceResult": {"inRegion": True}}),
            "nearby": (publishable, "POST", "/v1/nearby", {
                "url": url, "coordinate": {"latitude": 37.3, "longitude": -122}}),
            "registration": (publishable, "PUT", f"/v1/instances/{uuid.UUID(int=self.random.getrandbits(128), version=4)}", {
                "url": url, "token": f"{self.random.getrandbits(256):064x}", "environment": "production",
                "permission": "ephemeral"}),
            "notification": (secret, "POST", "/v1/notifications", {
                "url": url, "aps": {"alert": {"body": "Your order is ready."}}, "audience": {"business": True}}),
            "read of a location": (secret, "GET", f"/v1/locations/{place}", None),
            "change of a location": (secret, "PUT", f"/v1/locations/{place}", {
                "name": place, "latitude": 37.3, "longitude": -122, "radius": self.random.randint(50, 200)}),
        }

    async def run(self):
        start, count = time.monotonic(), 0
        async with asyncio.TaskGroup() as group:
            while not self.is_stopping:
                kinds = self.kinds()
                name = list(kinds)[count % len(kinds)]
                group.create_task(self.send(name, *kinds[name]))
                count += 1
                await asyncio.sleep(max(0, start + count / self.rate - time.monotonic()))
        for clients in self.idle.values():
            for client in clients:
                client.close()

    async def send(self, name, key, method, path, body):
        idle = self.idle.setdefault(key, [])
        client = idle.pop() if idle else Client(self.proxy, key)
        self.sent[name] += 1
        try:
            status, answer = await client.send(method, path, body)
            if not 200 <= status < 300:
                self.failures.append(f"{name}: {status} {answer}")
        except Unanswered as error:
            self.failures.append(f"{name}: no response ({error})")
        except ValueError:
            # HAProxy's own error pages are HTML, not JSON.
            client.close()
            self.failures.append(f"{name}: an error page of HAProxy")
        idle.append(client)


def checks(server):
    """The successful responses of a server to readiness checks since its start."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines
               if line.startswith("doorstep_http_requests_total{") and 'endpoint="/readyz"' in line and 'status="200"' in line)


class Drill:
    def __init__(self, options):
        self.options, scratch = options, pathlib.Path(options.scratch)
        first = Installation(options.doorstep, scratch)
        first.serving = {"DOORSTEP_SHUTDOWN_DELAY": str(options.shutdown_delay)}
        second = copy.copy(first)
        second.port = free_port()
        self.scratch, self.servers, self.proxy, self.rows, self.problems = scratch, [first, second], None, [], []

    async def run(self):
        first = self.servers[0]
        first.start_simulator()
        first.start_server()
        first.set_up(LOCATIONS, [(f"/restaurants/{name}", name, "") for name in LOCATIONS])
        self.servers[1].start_server()
        self.proxy = Proxy(self.scratch, [server.port for server in self.servers])
        await self.proxy.wait_until_up()
        client = Client(self.proxy, first.secret)
        # A new key is known within a second.
        while (await client.insist("GET", "/v1/tenant"))[0] == 401:
            await asyncio.sleep(0.05)
        client.close()
        requests = Requests(first, self.proxy, self.options.rate, self.options.seed)
        load = asyncio.create_task(requests.run())
        try:
            for number in range(self.options.restarts):
                await self.restart(number, requests)
                if load.done():
                    await load
        finally:
            requests.is_stopping = True
        await load
        self.problems += requests.failures
        self.sent = requests.sent

    async def restart(self, number, requests):
        index = number % len(self.servers)
        server, sent, failed, start = self.servers[index], sum(requests.sent.values()), len(requests.failures), time.monotonic()
        say(f"rolling: restart {number + 1}, of server {index + 1}")
        server.server.terminate()
        status = await asyncio.to_thread(server.server.wait, STOP_LIMIT)
        if status != 0:
            self.problems.append(f"a server that is told to end ends with {status}")
        ended = time.monotonic()
        await asyncio.to_thread(server.start_server)
        # Until its next check, HAProxy may still have the earlier state of the server.
        await self.wait_for_checks(server)
        await self.proxy.wait_until_up()
        self.rows.append((number + 1, index + 1, f"{ended - start:.1f}", f"{time.monotonic() - ended:.1f}",
                          sum(requests.sent.values()) - sent, len(requests.failures) - failed))

    async def wait_for_checks(self, server):
        """Waits until the server, which has just been started, has responded to some checks of HAProxy."""
        start, deadline = checks(server), time.monotonic() + RETURN_LIMIT
        while (count := checks(server) - start) < CHECKS:
            if time.monotonic() > deadline:
                raise Failure(f"HAProxy has checked the server {count} times in {RETURN_LIMIT} s")
            await asyncio.sleep(0.1)

    def close(self):
        if self.proxy:
            self.proxy.close()
        second = self.servers[1].server
        if second and second.poll() is None:
            second.terminate()
            second.wait(START_LIMIT)
        self.servers[0].close()


def main():
    parser = Arguments(__doc__)
    parser.add_argument("--shutdown-delay", type=int, default=5)
    parser.add_argument("--restarts", type=int, default=4)
    parser.add_argument("--rate", type=int, default=60)
    options = parser.parse_args()
    drill = Drill(options)
    print(f"\nseed {options.seed}; {options.rate} requests/s, shutdown delay {options.shutdown_delay} s\n", flush=True)
    try:
        asyncio.run(drill.run())
    except Failure as failure:
        sys.exit(f"rolling: {failure}\nseed {options.seed}; the servers' log ends:\n{drill.servers[0].log_tail()}")
    finally:
        drill.close()
    table(["#restart", "#server", "#ended after, s", "#back after, s", "#requests", "#failed"], drill.rows)
    print()
    table(["kind", "#requests"], sorted(drill.sent.items()))
    for problem in drill.problems[:20]:
        print(f"rolling: {problem}", file=sys.stderr)
    if drill.problems:
        sys.exit(f"rolling: {len(drill.problems)} of {sum(drill.sent.values())} requests failed, with seed {options.seed}")


if __name__ == "__main__":
    main()
