"""Sends requests of one tenant at a steady rate, alone and beside a flood by another tenant, in turns.

The other floods with requests for the same, registers instances from ever more connections, or does one of these (`--attack`):
searches that reach the limit of their work (nearby), a document that needs no key (document), imports of line feeds (lines), and
connections of two addresses that hold all that may be open (connections). What the attacker got is counted too.

A request is sent when its time has come, whether the one before it was answered or not, and its time is counted from
then: what waits behind a slow answer counts as slow too.
"""

import argparse
import asyncio
import json
import multiprocessing
import pathlib
import re
import statistics
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

RATE = 200
CONNECTIONS = 16
FLOOD_CONNECTIONS = 64
LINE_FEEDS = b"\n" * 20_000_000
HELD_CONNECTIONS = 400


def key(path: pathlib.Path) -> str:
    return json.loads(path.read_text())["key"]


async def ask(connections: asyncio.Queue, request: bytes, status: int, due: float, times: list[float]) -> None:
    reader, writer = await connections.get()
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(f"HTTP/1.1 {status} ".encode()):
        raise SystemExit(f"flood: the quiet tenant was answered: {head.splitlines()[0].decode()}")
    length = int(re.search(rb"\r\nContent-Length: (\d+)", head).group(1))
    await reader.readexactly(length)
    times.append(time.perf_counter() - due)
    connections.put_nowait((reader, writer))


async def steadily(port: int, path: str, status: int, bearer: str, seconds: int) -> list[float]:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {bearer}\r\n\r\n".encode()
    connections: asyncio.Queue = asyncio.Queue()
    for _ in range(CONNECTIONS):
        connections.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    times: list[float] = []
    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(RATE * seconds):
            due = start + number / RATE
            await asyncio.sleep(max(0, due - time.perf_counter()))
            group.create_task(ask(connections, request, status, due, times))
    while not connections.empty():
        connections.get_nowait()[1].close()
    return times


def flood(port: int, path: str, bearer: str, seconds: int) -> subprocess.Popen:
    return subprocess.Popen(
        ["wrk", "--threads", "1", "--connections", str(FLOOD_CONNECTIONS), "--duration", f"{seconds}s",
         "--header", f"Authorization: Bearer {bearer}", "--header", "X-Forwarded-For: 203.0.113.1",
         f"http://127.0.0.1:{port}{path}"],
        stdout=subprocess.PIPE, text=True)


def register(port: int, bearer: str, connections: int, seconds: int) -> subprocess.Popen:
    # A delayed response takes a second; the connection stays open.
    return subprocess.Popen(
        ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s", "--timeout", "30s",
         "--script", str(pathlib.Path(__file__).with_name("flood.lua")), f"http://127.0.0.1:{port}", "--", bearer],
        stdout=subprocess.PIPE, text=True)


class Attack:
    """An attack by the threads of another process, with the interface of the processes above. It has one processor at most, like the
    other floods. In this process, its threads would delay the measurement."""

    def __init__(self, seconds: int, attacks: list) -> None:
        self.end = time.monotonic() + seconds
        context = multiprocessing.get_context("fork")
        self.count = context.Value("q", 0)
        self.process = context.Process(target=self.run, args=[attacks], daemon=True)
        self.process.start()

    def run(self, attacks: list) -> None:
        threads = [threading.Thread(target=self.repeat, args=(attack,), daemon=True) for attack in attacks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def repeat(self, attack) -> None:
        while time.monotonic() < self.end:
            try:
                answered = attack(self.end)
                with self.count.get_lock():
                    self.count.value += answered
            except (OSError, urllib.error.URLError):
                time.sleep(0.01)

    def communicate(self) -> tuple[str, None]:
        self.process.join()
        return f"{self.count.value} requests in", None


def import_line_feeds(port: int, bearer: str, end: float) -> int:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/locations?dryRun=true", LINE_FEEDS, method="PATCH",
        headers={"Authorization": f"Bearer {bearer}", "Content-Type": "application/x-ndjson"})
    try:
        urllib.request.urlopen(request, timeout=60).read()
    except urllib.error.HTTPError as error:
        error.read()
    return 1


def hold_connections(port: int, address: str, end: float) -> int:
    """Opens connections as fast as they are closed, and sends a request on each once."""
    held: list[socket.socket] = []
    answered = 0
    try:
        while time.monotonic() < end:
            held = [connection for connection in held if not is_closed(connection)]
            if len(held) >= HELD_CONNECTIONS:
                time.sleep(0.01)
                continue
            connection = socket.create_connection(("127.0.0.1", port), timeout=1, source_address=(address, 0))
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.setblocking(False)
            held.append(connection)
            answered += 1
    finally:
        for connection in held:
            connection.close()
    return answered


def is_closed(connection: socket.socket) -> bool:
    try:
        while data := connection.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        data = b""
    connection.close()
    return not data


def attack(kind: str, port: int, bearer: str, seconds: int) -> subprocess.Popen | Attack:
    here = pathlib.Path(__file__)
    wrk = ["wrk", "--threads", "1", "--connections", str(FLOOD_CONNECTIONS), "--duration", f"{seconds}s", "--timeout", "30s"]
    match kind:
        case "nearby":
            return subprocess.Popen(
                [*wrk, "--header", f"Authorization: Bearer {bearer}", "--script", str(here.with_name("nearby.lua")),
                 f"http://127.0.0.1:{port}/v1/nearby"], stdout=subprocess.PIPE, text=True)
        case "document":
            return subprocess.Popen([*wrk, f"http://127.0.0.1:{port}/openapi.json"], stdout=subprocess.PIPE, text=True)
        case "lines":
            return Attack(seconds, [lambda end: import_line_feeds(port, bearer, end)])
        case _:
            addresses = ["127.0.0.2", "127.0.0.3"]
            return Attack(seconds, [
                lambda end, address=address: hold_connections(port, address, end) for address in addresses])


def registrations(options: argparse.Namespace) -> None:
    """Registers from more and more connections of one client, beside another tenant's requests that need the database."""
    target, quiet = (options.port, options.path), (options.status, key(options.quiet))
    flooding = key(options.flooding)
    register(options.port, flooding, 8, 2).communicate()
    alone = [asyncio.run(steadily(*target, *quiet, options.seconds)) for _ in range(options.rounds)]
    rows: dict[int, list[tuple[float, ...]]] = {count: [] for count in options.connections}
    for _ in range(options.rounds):
        for count, measured in rows.items():
            flood = register(options.port, flooding, count, options.seconds + 2)
            time.sleep(1)
            beside = asyncio.run(steadily(*target, *quiet, options.seconds))
            figures = json.loads(flood.communicate()[0].strip().splitlines()[-1])
            answered = figures["requests"] - figures["refused"]
            measured.append((
                answered / figures["seconds"], figures["refused"] / figures["seconds"], figures["failed"],
                quantile(beside, 0.5), quantile(beside, 0.99)))
    medians = {count: [statistics.median(column) for column in zip(*measured)] for count, measured in rows.items()}
    best = max(answered for answered, *_ in medians.values())
    alone_times = [statistics.median(quantile(times, share) for times in alone) for share in (0.5, 0.99)]
    print(f"| none | | | | | {alone_times[0]:.2f} | {alone_times[1]:.2f} |")
    for count, (answered, refused, failed, median, tail) in medians.items():
        print(
            f"| {count:,} | {answered:,.0f} | {answered / best:.2f} | {refused:,.0f} | {failed:,.0f} | {median:.2f} "
            f"| {tail:.2f} |", flush=True)


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--name", help="of the flood of requests for the same")
    kind.add_argument("--connections", type=int, nargs="+", help="of a client that registers instances")
    parser.add_argument("--attack", choices=["nearby", "document", "lines", "connections"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path", required=True)
    parser.add_argument("--status", type=int, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--flooding", type=pathlib.Path, required=True)
    parser.add_argument("--quiet", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if options.connections:
        return registrations(options)
    rounds = []
    target, quiet = (options.port, options.path), (options.status, key(options.quiet))
    asyncio.run(steadily(*target, *quiet, 1))
    for _ in range(options.rounds):
        alone = asyncio.run(steadily(*target, *quiet, options.seconds))
        flooding = (
            attack(options.attack, options.port, key(options.flooding), options.seconds + 2)
            if options.attack else flood(*target, key(options.flooding), options.seconds + 2))
        time.sleep(1)
        beside = asyncio.run(steadily(*target, *quiet, options.seconds))
        answered = re.search(r"(\d+) requests in", flooding.communicate()[0])
        rounds.append((
            int(answered.group(1)) / (options.seconds + 2),
            quantile(alone, 0.5), quantile(beside, 0.5), quantile(alone, 0.99), quantile(beside, 0.99)))
    answered, *times = (statistics.median(column) for column in zip(*rounds))
    ratio = statistics.median(beside / alone for _, _, _, alone, beside in rounds)
    cells = [f"{answered:,.0f}", *(f"{figure:.2f}" for figure in times), f"{ratio:.2f}"]
    print(f"| {options.name} | {' | '.join(cells)} |", flush=True)


main()
