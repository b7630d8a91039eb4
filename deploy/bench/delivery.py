"""Sends notifications through Doorstep, by aioapns and by Go's net/http to one APNs simulator, in turns, and prints the rates.

Doorstep's time runs from the first request until APNs has answered for each instance and the database has recorded it. The
other two only send: they record nothing.
"""

import argparse
import asyncio
import json
import os
import pathlib
import secrets
import ssl
import statistics
import subprocess
import time
import urllib.request
import uuid

import aioapns
import aioapns.connection

TEAM, KEY_ID, CLIP = "ABCDE12345", "BENCHKEY01", "com.example.MyApp.Clip"
URL = "https://example.com/restaurants/restaurant_a/order/1234"
APS = {"alert": {"title": "Order Status", "subtitle": "Restaurant A", "body": "Your order is ready."},
       "category": "order_status"}
REGISTERING = 32
# Running requests of the Go program.
CONCURRENT = 1_000


def processor_time(*processes: subprocess.Popen) -> float:
    ticks = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def database_processor_time(directory: pathlib.Path) -> float:
    """Processor time of PostgreSQL: of the postmaster, of its ended processes and of the running ones."""
    postmaster = int(next(directory.rglob("postmaster.pid")).read_text().split()[0])
    ticks = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(process.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Connection:
    """HTTP/1.1, one request at a time."""

    def __init__(self, port: int, key: str) -> None:
        self.port, self.key = port, key

    async def send(self, method: str, path: str, body: dict) -> tuple[int, bytes]:
        if not hasattr(self, "writer"):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        content = json.dumps(body).encode() if body else b""
        self.writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = next((int(line.split(":")[1]) for line in head.splitlines()
                       if line.lower().startswith("content-length:")), 0)
        return int(head.split()[1]), await self.reader.readexactly(length)

    def close(self) -> None:
        self.writer.close()


class Doorstep:
    def __init__(self, binary: str, scratch: pathlib.Path) -> None:
        self.binary, self.scratch = binary, scratch
        self.environment = os.environ | {"DOORSTEP_TOKEN_SECRET": secrets.token_hex(32), "DOORSTEP_LOG_FORMAT": "text"}

    def run(self, *words: str, text: str | None = None) -> str:
        return subprocess.run([self.binary, *words], input=text, text=True, check=True, env=self.environment,
                              stdout=subprocess.PIPE).stdout

    def start(self, *words: str, log: str) -> subprocess.Popen:
        with open(self.scratch / log, "w") as errors:
            return subprocess.Popen([self.binary, *words], env=self.environment, stdout=subprocess.PIPE,
                                    stderr=errors, text=True)

    def set_up(self) -> tuple[str, str]:
        self.run("migrate")
        self.run("tenant", "create", "bench", "--name", "Bench")
        self.run("tenant", "limit", "bench", "--key", "1000000", "--client", "1000000", "--new-instances", "1000000",
                 "--client-new-instances", "1000000")
        self.run("clip", "create", "--tenant", "bench", "--team-id", TEAM, "--bundle-id", CLIP,
                 "--multi-business")
        self.run("location", "import", "--tenant", "bench", "-",
                 text="identifier,name,latitude,longitude,radius\nrestaurant_a,Restaurant A,37.3,-122,100\n")
        self.run("experience", "add", "--tenant", "bench", "--clip", CLIP, "--url",
                 "https://example.com/restaurants/restaurant_a", "--location", "restaurant_a")
        return tuple(json.loads(self.run("key", "create", "--tenant", "bench", "--kind", kind, "--format", "json"))
                     ["key"] for kind in ("publishable", "secret"))

    def start_simulator(self) -> tuple[subprocess.Popen, dict]:
        process = self.start(
            "apns-simulator", "--format", "json", "--port", "0", "--control-port", "0", "--environment",
            "production", "--team", TEAM, "--key-id", KEY_ID, "--ca-file", str(self.scratch / "ca.pem"),
            "--private-key", str(self.scratch / "key.p8"), log="simulator.log")
        simulator = json.loads(process.stdout.readline())
        keys = {"keys": [{"team": TEAM, "id": KEY_ID, "file": "key.p8"}]}
        (self.scratch / "keys.json").write_text(json.dumps(keys))
        self.environment |= {
            "DOORSTEP_APNS_KEYS": str(self.scratch / "keys.json"),
            "DOORSTEP_APNS_CA_FILE": str(self.scratch / "ca.pem"),
            "DOORSTEP_APNS_PRODUCTION": f"127.0.0.1:{simulator['port']}"}
        return process, simulator

    def start_server(self) -> tuple[subprocess.Popen, int]:
        process = self.start("serve", "--port", "0", log="serve.log")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for line in (self.scratch / "serve.log").read_text().splitlines():
                if "listening" in line and "port=" in line:
                    return process, int(line.split("port=")[1].split()[0])
            time.sleep(0.05)
        raise SystemExit("delivery: the server does not listen:\n" + (self.scratch / "serve.log").read_text())


def peak_memory(process: subprocess.Popen) -> float:
    """In MB."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit("delivery: the server's memory is not told")


def due_count() -> int:
    return int(subprocess.run(
        ["psql", os.environ["DATABASE_URL"], "-XAtc",
         "SELECT count(*) FROM doorstep.deliveries WHERE due_at IS NOT NULL"],
        check=True, stdout=subprocess.PIPE, text=True).stdout)


def accepted_count(control: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{control}/counters") as answer:
        return json.load(answer)["accepted"]


async def register(port: int, key: str, tokens: list[str]) -> float:
    waiting = iter(tokens)

    async def work() -> None:
        connection = Connection(port, key)
        for token in waiting:
            status, body = await connection.send("PUT", f"/v1/instances/{uuid.uuid4()}", {
                "url": URL, "token": token, "environment": "production", "permission": "ephemeral"})
            if status not in (200, 201):
                raise SystemExit(f"delivery: an instance was answered {status}: {body.decode()}")
        connection.close()

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(REGISTERING):
            group.create_task(work())
    return len(tokens) / (time.perf_counter() - start)


async def send_by_doorstep(port: int, key: str, control: int, instances: int, count: int) -> tuple[float, float]:
    """The rate of accepting notifications, and the rate until the last response is recorded."""
    goal = accepted_count(control) + instances * count
    connection = Connection(port, key)
    start = time.perf_counter()
    for _ in range(count):
        status, body = await connection.send("POST", "/v1/notifications", {
            "url": URL, "aps": APS, "audience": {"business": True}})
        # The rest of a large audience follows later.
        while status in (200, 201) and not json.loads(body)["complete"]:
            await asyncio.sleep(0.2)
            status, body = await connection.send(
                "GET", f"/v1/notifications/{json.loads(body)['id']}?limit=1", {})
        counts = json.loads(body).get("counts", {})
        taken = sum(number for state, number in counts.items() if state != "skipped")
        if status not in (200, 201) or taken != instances:
            raise SystemExit(f"delivery: a notification was answered {status}: {body.decode()[:500]}")
    taken_in = time.perf_counter() - start
    while accepted_count(control) < goal or due_count() > 0:
        await asyncio.sleep(0.02)
    whole = time.perf_counter() - start
    connection.close()
    if accepted_count(control) != goal:
        raise SystemExit("delivery: APNs was sent more than there is")
    return instances * count / taken_in, instances * count / whole


async def send_by_aioapns(port: int, control: int, scratch: pathlib.Path, tokens: list[str]) -> float:
    class Protocol(aioapns.connection.APNsProductionClientProtocol):
        APNS_SERVER = "127.0.0.1"
        APNS_PORT = port

    context = ssl.create_default_context(cafile=str(scratch / "ca.pem"))
    context.set_alpn_protocols(["h2"])
    client = aioapns.APNs(key=(scratch / "key.p8").read_text(), key_id=KEY_ID, team_id=TEAM, topic=CLIP,
                          ssl_context=context)
    client.pool.protocol_class = Protocol
    goal = accepted_count(control) + len(tokens)
    message = {"aps": APS | {"target-content-id": URL}}

    async def send(token: str) -> None:
        result = await client.send_notification(
            aioapns.NotificationRequest(device_token=token, message=message, push_type=aioapns.PushType.ALERT))
        if not result.is_successful:
            raise SystemExit(f"delivery: aioapns was refused: {result.description}")

    # The first request opens the connection, which accepts only one until it has seen a token.
    await send(tokens[0])
    start = time.perf_counter()
    for first in range(1, len(tokens), 1_000):
        await asyncio.gather(*(send(token) for token in tokens[first:first + 1_000]))
    rate = (len(tokens) - 1) / (time.perf_counter() - start)
    client.pool.close()
    if accepted_count(control) != goal:
        raise SystemExit("delivery: APNs was sent another number than was counted")
    return rate


def send_by_go(program: str, port: int, control: int, scratch: pathlib.Path, tokens: list[str]) -> tuple[float, float]:
    """Its notifications per second, and its processor time for each in microseconds."""
    goal = accepted_count(control) + len(tokens)
    (scratch / "payload.json").write_text(json.dumps({"aps": APS | {"target-content-id": URL}}, separators=(",", ":")))
    (scratch / "tokens").write_text("\n".join(tokens))
    result = json.loads(subprocess.run(
        [program, f"127.0.0.1:{port}", str(scratch / "ca.pem"), str(scratch / "key.p8"), KEY_ID, TEAM, CLIP,
         str(scratch / "payload.json"), str(scratch / "tokens"), str(CONCURRENT)],
        check=True, stdout=subprocess.PIPE, text=True).stdout)
    if accepted_count(control) != goal:
        raise SystemExit("delivery: the Go program sent another number than it was given")
    return result["rate"], result["processorTime"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--doorstep", required=True)
    parser.add_argument("--go", required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--instances", type=int, required=True)
    parser.add_argument("--notifications", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    options = parser.parse_args()
    doorstep = Doorstep(options.doorstep, options.scratch)
    publishable, secret = doorstep.set_up()
    simulator_process, simulator = doorstep.start_simulator()
    try:
        server, port = doorstep.start_server()
        try:
            tokens = [secrets.token_hex(32) for _ in range(options.instances)]
            registered = asyncio.run(register(port, publishable, tokens))
            print(f"\n{options.instances:,} instances registered, {registered:,.0f} a second\n", flush=True)
            print("| taken in /s | Doorstep, end to end /s | aioapns /s | ratio | Go /s | ratio | server µs | PostgreSQL µs "
                  "| simulator µs | Go µs |")
            print("| ---: " * 10 + "|")
            ratios, ratios_to_go = [], []
            for _ in range(options.rounds):
                def times() -> tuple[float, ...]:
                    return (processor_time(server), database_processor_time(options.scratch / "postgres"),
                            processor_time(simulator_process))

                before = times()
                taken_in, whole = asyncio.run(send_by_doorstep(
                    port, secret, simulator["controlPort"], options.instances, options.notifications))
                sent = options.instances * options.notifications
                cost = [(after - earlier) / sent * 1e6 for after, earlier in zip(times(), before)]
                peer = asyncio.run(send_by_aioapns(
                    simulator["port"], simulator["controlPort"], options.scratch, tokens[:5_000]))
                go, go_cost = send_by_go(
                    options.go, simulator["port"], simulator["controlPort"], options.scratch,
                    tokens * options.notifications)
                ratios.append(whole / peer)
                ratios_to_go.append(whole / go)
                print(f"| {taken_in:,.0f} | {whole:,.0f} | {peer:,.0f} | {whole / peer:.2f} | {go:,.0f} | {whole / go:.2f} | "
                      f"{cost[0]:.0f} | {cost[1]:.0f} | {cost[2]:.0f} | {go_cost:.0f} |", flush=True)
            print("\nThe columns in µs are processor time for each notification.\n")
            print(f"- ratio to aioapns, median: {statistics.median(ratios):.2f}")
            print(f"- ratio to Go, median: {statistics.median(ratios_to_go):.2f}")
            print(f"- server's most memory: {peak_memory(server):.0f} MB")
        finally:
            server.terminate()
            server.wait()
    finally:
        simulator_process.terminate()
        simulator_process.wait()


if __name__ == "__main__":
    main()
