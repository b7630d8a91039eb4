"""Measures Doorstep's answers over HTTP, TLS and HTTP/2 beside Go, nginx, HAProxy and FastAPI, on one machine in one go.

Started by the command `http`, with DATABASE_URL naming a private PostgreSQL that is empty. Progress goes to
standard error, the result to standard output. Ends with status 1 when a server gives one wrong answer
before the rounds, or refuses or fails one request in them.
"""

import argparse
import asyncio
import contextlib
import csv
import importlib.metadata
import itertools
import json
import os
import pathlib
import platform
import random
import re
import resource
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import asyncpg
from fastapi_peer import connection_parameters
from reporting import circumstances, fail, first_match, output_of, print_facts, say

FOLDER = pathlib.Path(__file__).resolve().parent
SEED = 20260101
TENANT = "places"
TEAM = "ABCDE12345"
CLIP = "com.example.Places.Clip"
HOST = "https://places.example.com"

REQUESTS = 20_000  # different ones, at most
THREADS, CONNECTIONS = 2, 32  # of wrk
FIRST_RATE = 300  # new connections a second
HTTP2_CONNECTIONS = 4  # of h2load, with as many streams in all as wrk has connections
UVICORN_WORKERS = 2
WARM_UP = 2  # seconds, at most
VERIFIED = 50  # answers of each target
START_TIMEOUT = 60  # seconds
STOP_TIMEOUT = 15  # seconds
COMMAND_TIMEOUT = 600  # seconds, of each command that prepares the database

LOOKUP, CONFIRMATION = "Doorstep, lookup", "Doorstep, confirmation"
BEFORE = "Doorstep before, lookup"
NGINX, HAPROXY, FASTAPI = "nginx, fixed answer", "HAProxy, map_beg", "FastAPI + asyncpg"
GO = "Go net/http"
# The protocol, from the target's name; default: HTTP/1.1 without TLS.
TLS, HTTP2 = ", TLS", ", HTTP/2"
# One request on each new connection of TLS 1.3 and HTTP/2: what a phone's first request costs.
FIRST = ", first request"
SECURE = (LOOKUP, GO, NGINX, HAPROXY)


# The catalogue


@dataclass(frozen=True)
class Place:
    identifier: str
    name: str
    path: str
    latitude: float
    longitude: float
    radius: int

    @property
    def experience(self) -> str:
        """The URL of the advanced experience that is bound to this place."""
        return HOST + self.path

    @property
    def answer(self) -> dict:
        """What every answer to a lookup says of this place: all but the invocation URL."""
        center = {"latitude": self.latitude, "longitude": self.longitude}
        region = {"center": center, "identifier": self.identifier, "radius": self.radius}
        return {
            "experience": {"clip": CLIP, "kind": "advanced", "url": self.experience},
            "location": {"identifier": self.identifier, "name": self.name, "region": region},
        }


def make_places(count: int) -> list[Place]:
    """The same places every time."""
    generator = random.Random(SEED)
    cities = "amsterdam berlin chicago dublin eindhoven florence geneva hamburg istanbul jakarta".split()
    cities += "kyoto lisbon madrid nairobi oslo paris quito rome seattle tokyo".split()
    owners = "harbor station garden market river corner castle bridge museum square".split()
    trades = "coffee bakery books bikes donuts flowers pizza tea parking laundry".split()
    places = []
    for number in range(1, count + 1):
        city, owner, trade = (generator.choice(words) for words in (cities, owners, trades))
        places.append(
            Place(
                identifier=f"{city}-{number}",
                name=f"{owner.title()} {trade.title()} {number}, {city.title()}",
                path=f"/{city}/{owner}-{trade}-{number}",
                latitude=round(generator.uniform(-80, 80), 6),
                longitude=round(generator.uniform(-179, 179), 6),
                radius=generator.choice((50, 100, 200, 500)),
            )
        )
    return places


def write_csv(path: pathlib.Path, rows: list[list]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_map(path: pathlib.Path, places: list[Place]) -> None:
    """HAProxy's table: a URL's beginning, then the members of the answer that depend on the place."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{place.experience} {encoded(place.answer)[1:-1]}\n" for place in places)


def encoded(value: dict) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# The requests with the expected responses


@dataclass(frozen=True)
class Exchange:
    path: str
    body: dict | None
    expected: dict


def lookup(place: Place, invocation: str) -> Exchange:
    path = "/v1/lookup?url=" + urllib.parse.quote(invocation, safe="")
    return Exchange(path, None, place.answer | {"url": invocation})


def confirmation(place: Place, invocation: str) -> Exchange:
    # Some eleven metres from the centre, less the accuracy's twelve still inside the smallest radius.
    coordinate = {
        "latitude": round(place.latitude + 0.0001, 6),
        "longitude": place.longitude,
        "horizontalAccuracy": 12,
    }
    body = {"url": invocation, "source": "nfc", "locationAccess": "allowed", "coordinate": coordinate}
    expected = {
        "certain": True,
        "error": None,
        "location": place.answer["location"],
        "outcome": "inRegion",
    }
    return Exchange("/v1/confirmations", body, expected)


def choose_invocations(places: list[Place]) -> list[tuple[Place, str]]:
    """Invocation URLs at random places, no two the same."""
    generator = random.Random(SEED + 1)
    return [
        (place, f"{place.experience}/order/{number}?table=7")
        for number, place in enumerate(generator.choices(places, k=REQUESTS), start=10_000)
    ]


def write_requests(path: pathlib.Path, exchanges: list[Exchange]) -> None:
    """The form that wrk.lua reads."""
    with path.open("w", encoding="utf-8") as file:
        for exchange in exchanges:
            body = "" if exchange.body is None else "\t" + encoded(exchange.body)
            file.write(exchange.path + body + "\n")


# Doorstep's command and the servers


def doorstep(options: argparse.Namespace, *arguments: str) -> str:
    done = subprocess.run(
        [options.doorstep, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        timeout=COMMAND_TIMEOUT,
        check=False,
    )
    if done.returncode != 0:
        fail(f"doorstep {' '.join(arguments[:2])} ended with status {done.returncode}")
    return done.stdout


def import_catalogue(options: argparse.Namespace, places: list[Place]) -> str:
    """Gives a key of the tenant."""
    locations, experiences = options.scratch / "locations.csv", options.scratch / "experiences.csv"
    columns = ["identifier", "name", "latitude", "longitude", "radius"]
    write_csv(locations, [columns] + [[getattr(place, name) for name in columns] for place in places])
    write_csv(
        experiences,
        [["clip", "url", "location"]] + [[CLIP, place.experience, place.identifier] for place in places],
    )
    doorstep(options, "migrate")
    doorstep(options, "tenant", "create", TENANT, "--name", "Places")
    doorstep(options, "clip", "create", "--tenant", TENANT, "--team-id", TEAM, "--bundle-id", CLIP)
    for subject, path in (("location", locations), ("experience", experiences)):
        counts = json.loads(
            doorstep(options, subject, "import", "--tenant", TENANT, "--format", "json", str(path))
        )
        if counts["added"] != len(places):
            fail(f"doorstep {subject} import gave {counts}, not {len(places)} added")
    return json.loads(doorstep(options, "key", "create", "--tenant", TENANT, "--kind", "publishable"))["key"]


async def settle_database() -> str:
    """Brings the planner's statistics up to date, as autovacuum would in time. Gives the server's version."""
    connection = await asyncpg.connect(**connection_parameters())
    try:
        await connection.execute("VACUUM (ANALYZE)")
        return await connection.fetchval("SELECT current_setting('server_version')")
    finally:
        await connection.close()


class Server:
    """A running server of one target or two, with everything it prints in a file of the scratch folder."""

    def __init__(self, name: str, port: int, process: subprocess.Popen, log: pathlib.Path) -> None:
        self.name, self.port, self.process, self.log = name, port, process, log

    @classmethod
    @contextlib.contextmanager
    def run(
        cls, name: str, port: int, command: list[str], scratch: pathlib.Path, environment: dict[str, str]
    ) -> Iterator["Server"]:
        log = scratch / f"{name}.log"
        with log.open("wb") as output:
            # A session of its own: Ctrl-C reaches this program alone, which then ends the servers.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        try:
            yield cls(name, port, process, log)
        finally:
            stop(process)

    def fail(self, problem: str) -> None:
        lines = self.log.read_text(errors="replace").splitlines()[-20:]
        fail("\n".join([f"{self.name}: {problem}; the last lines it printed:", *lines]))

    def wait_until_answering(self, path: str, key: str, is_secure: bool) -> None:
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                self.fail(f"ended with status {self.process.returncode} before it answered")
            with contextlib.suppress(OSError):
                fetch(self.port, path, None, key, is_secure)
                return
            time.sleep(0.1)
        self.fail(f"did not answer within {START_TIMEOUT} seconds")


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        # The group is that of the session which this process was started in.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def fill_in(template: str, scratch: pathlib.Path, words: dict[str, str]) -> str:
    """Writes a configuration with its @WORDS@ filled in to the scratch folder. Gives its path."""
    text = (FOLDER / template).read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    path = scratch / template
    path.write_text(text)
    return str(path)


def peer_environment(options: argparse.Namespace) -> dict[str, str]:
    """The environment of what was unpacked from Debian's packages, which are not where the loader looks."""
    paths = [options.libraries, os.environ.get("LD_LIBRARY_PATH", "")]
    return os.environ | {"LD_LIBRARY_PATH": ":".join(path for path in paths if path)}


def serve_command(binary: str, port: int) -> list[str]:
    command = [binary, "serve", "--host", "127.0.0.1", "--port", str(port)]
    # Counted like everybody's requests, and too many for them to be refused.
    command += ["--key-limit", "1000000:1000000", "--client-limit", "1000000:1000000"]
    # Without a line for each request, as the others.
    return command + ["--log-level", "notice"]


def start_servers(
    stack: contextlib.ExitStack, options: argparse.Namespace, places: list[Place], fixed_answer: str, key: str
) -> dict[str, Server]:
    """By target; those that speak TLS do so at a port of its own, or by a server of its own."""
    scratch = options.scratch
    doorstep_port, nginx_port, haproxy_port, fastapi_port, go_port, before_port = free_ports(6)
    secure_port, nginx_tls_port, haproxy_tls_port, go_tls_port = free_ports(4)
    certificate, private_key = str(scratch / "certificate.pem"), str(scratch / "key.pem")
    both = str(scratch / "both.pem")
    table = scratch / "places.map"
    write_map(table, places)
    nginx_words = {"PORT": str(nginx_port), "SCRATCH": str(scratch), "ANSWER": fixed_answer}
    nginx_words |= {"TLS_PORT": str(nginx_tls_port), "PEM": both}
    nginx_configuration = fill_in("nginx.conf", scratch, nginx_words)
    haproxy_words = {"PORT": str(haproxy_port), "MAP": str(table)}
    haproxy_words |= {"TLS_PORT": str(haproxy_tls_port), "PEM": both}
    haproxy_configuration = fill_in("haproxy.cfg", scratch, haproxy_words)

    def run(name: str, port: int, command: list[str], environment: dict[str, str]) -> Server:
        return stack.enter_context(Server.run(name, port, command, scratch, environment))

    own, peers = dict(os.environ), peer_environment(options)
    nginx_command = [options.nginx, "-p", str(scratch), "-e", "stderr", "-c", nginx_configuration]
    haproxy_command = [options.haproxy, "-db", "-f", haproxy_configuration]
    uvicorn_command = [sys.executable, "-m", "uvicorn", "fastapi_peer:app", "--app-dir", str(FOLDER)]
    uvicorn_command += ["--host", "127.0.0.1", "--port", str(fastapi_port)]
    uvicorn_command += ["--workers", str(UVICORN_WORKERS), "--loop", "uvloop", "--http", "httptools"]
    uvicorn_command += ["--no-access-log", "--log-level", "warning"]
    go_command = [options.go, str(go_port), str(go_tls_port), certificate, private_key, str(table)]
    secure_command = serve_command(options.doorstep, secure_port)
    secure_command += ["--tls-certificate", certificate, "--tls-key", private_key]
    servers = {
        LOOKUP: run("doorstep", doorstep_port, serve_command(options.doorstep, doorstep_port), own),
        GO: run("go", go_port, go_command, own | {"DOORSTEP_KEY": key}),
        NGINX: run("nginx", nginx_port, nginx_command, peers),
        HAPROXY: run("haproxy", haproxy_port, haproxy_command, peers),
        FASTAPI: run("fastapi", fastapi_port, uvicorn_command, own),
        LOOKUP + TLS: run("doorstep-tls", secure_port, secure_command, own),
    }
    for name, port in ((GO, go_tls_port), (NGINX, nginx_tls_port), (HAPROXY, haproxy_tls_port)):
        servers[name + TLS] = Server(name, port, servers[name].process, servers[name].log)
    for name in SECURE:
        servers[name + HTTP2] = servers[name + TLS]
    for name in (LOOKUP, GO):
        servers[name + FIRST] = servers[name + TLS]
    if options.before:
        command = serve_command(options.before, before_port)
        servers[BEFORE] = run("doorstep-before", before_port, command, own)
    return servers


# Before the rounds: every target must send the expected responses


@dataclass(frozen=True)
class Target:
    name: str
    server: Server
    exchanges: list[Exchange]
    requests: pathlib.Path
    fixed_answer: str | None = None

    @property
    def is_secure(self) -> bool:
        return self.name.endswith((TLS, HTTP2, FIRST))


def fetch(
    port: int, path: str, body: dict | None, key: str, is_secure: bool = False
) -> tuple[int, str, str]:
    """The status, the content type and the body of an answer."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else encoded(body).encode()
    scheme = "https" if is_secure else "http"
    request = urllib.request.Request(f"{scheme}://127.0.0.1:{port}{path}", data, headers)
    # Without the environment's proxies, and whatever the certificate is: it was made for this.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    try:
        with opener.open(request, timeout=10) as response:
            return response.status, response.headers.get_content_type(), response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers.get_content_type(), error.read().decode(errors="replace")


def verify(target: Target, key: str) -> None:
    step = max(1, len(target.exchanges) // VERIFIED)
    for exchange in target.exchanges[::step]:
        answer = fetch(target.server.port, exchange.path, exchange.body, key, target.is_secure)
        status, content_type, text = answer
        if (status, content_type) == (200, "application/json"):
            if target.fixed_answer is None:
                right = json.loads(text) == exchange.expected
            else:
                right = text == target.fixed_answer
        else:
            right = False
        if not right:
            expected = target.fixed_answer or encoded(exchange.expected)
            target.server.fail(
                f"{exchange.path} answered {status} {content_type}\n  {text}\nand not 200 application/json\n"
                f"  {expected}"
            )


# The rounds


@dataclass(frozen=True)
class Run:
    requests_per_second: float
    p50: float | None  # milliseconds; none of HTTP/2, of which h2load tells no percentiles
    p99: float | None  # milliseconds
    processor: float  # microseconds of processor time for each request, of the server's processes
    database_processor: float  # the same, of PostgreSQL's
    client_processor: float  # the same, of wrk's
    memory: float  # MiB resident, of the server's processes together


def process_tree(root: int) -> list[int]:
    """A process and all its descendants."""
    tree = [root]
    for process in tree:
        for children in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
            tree += [int(child) for child in children.read_text().split()]
    return tree


def processor_seconds(root: int) -> float:
    """The processor time of a process tree, in user and in system mode (proc_pid_stat(5))."""
    ticks = 0
    for process in process_tree(root):
        # A backend may end at any moment; its parent's time then holds its own. The name may hold spaces.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """The processor time of this program's ended children: during a round wrk alone ends."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def resident_mebibytes(root: int) -> float:
    total = 0
    for process in process_tree(root):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = pathlib.Path(f"/proc/{process}/status").read_text()
            total += int(re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)[1])
    return total / 1024


def h2load_command(options: argparse.Namespace, target: Target, seconds: int, key: str) -> list[str]:
    """As many streams at once as wrk has connections, on as many connections as a few clients have; or one request on
    each new connection."""
    uris = options.scratch / f"{target.requests.name}-{target.server.port}.uris"
    if not uris.exists():
        origin = f"https://127.0.0.1:{target.server.port}"
        uris.write_text("".join(f"{origin}{exchange.path}\n" for exchange in target.exchanges))
    if target.name.endswith(FIRST):
        connections = FIRST_RATE * seconds
        command = [options.h2load, "--threads=1", f"--clients={connections}", f"--requests={connections}"]
        command += [f"--rate={FIRST_RATE}"]
    else:
        command = [options.h2load, f"--threads={THREADS}", f"--clients={HTTP2_CONNECTIONS}"]
        command += [f"--max-concurrent-streams={CONNECTIONS // HTTP2_CONNECTIONS}", f"--duration={seconds}"]
    # The key of a short-lived server that only this machine can reach.
    return command + [f"--header=Authorization: Bearer {key}", f"--input-file={uris}"]


def h2load_figures(output: str) -> dict[str, float]:
    """What wrk.lua prints, of h2load's report; it has no percentiles, whose places stay empty."""
    requests = re.search(
        r"^requests: .* (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$", output, re.M
    )
    rate = re.search(r"^finished in .*, ([\d.]+) req/s", output, re.M)
    if not requests or not rate:
        return {"requests": 0, "refused": 0, "failed": 0, "seconds": 1, "p50": None, "p99": None}
    done, succeeded, failed, errored, timeout = (int(number) for number in requests.groups())
    return {
        "requests": done,
        "seconds": done / float(rate[1]) if float(rate[1]) else 1,
        "refused": failed - errored,
        "failed": errored + timeout,
        "p50": None,
        "p99": None,
    }


def wrk_command(
    options: argparse.Namespace, threads: int, seconds: int, target: Target
) -> list[str]:
    command = [options.wrk, f"--threads={threads}", f"--connections={CONNECTIONS}", f"--duration={seconds}s"]
    command += ["--timeout=10s", "--latency", f"--script={FOLDER / 'wrk.lua'}"]
    scheme = "https" if target.is_secure else "http"
    return command + [f"{scheme}://127.0.0.1:{target.server.port}", "--", str(target.requests)]


def measure(target: Target, seconds: int, key: str, options: argparse.Namespace) -> Run:
    server, database = target.server.process.pid, options.postmaster
    is_http2 = target.name.endswith((HTTP2, FIRST))
    if is_http2:
        command = h2load_command(options, target, seconds, key)
    else:
        command = wrk_command(options, THREADS, seconds, target)
    before = [processor_seconds(server), processor_seconds(database), children_seconds()]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        # The arguments of a process are no secret, so the key is not among them.
        env=peer_environment(options) | {"DOORSTEP_KEY": key},
        timeout=seconds + 60,
        check=False,
    )
    after = [processor_seconds(server), processor_seconds(database), children_seconds()]
    if done.returncode != 0:
        target.server.fail(f"{command[0]} ended with status {done.returncode}: {done.stdout}")
    figures = h2load_figures(done.stdout) if is_http2 else json.loads(done.stdout.splitlines()[-1])
    if figures["requests"] == 0 or figures["refused"] or figures["failed"]:
        target.server.fail(
            f"{target.name}: of {figures['requests']} requests {figures['refused']} were answered with"
            f" status 400 or above and {figures['failed']} failed"
        )
    processor = [(end - start) / figures["requests"] * 1e6 for start, end in zip(before, after)]
    return Run(
        figures["requests"] / figures["seconds"],
        figures["p50"],
        figures["p99"],
        *processor,
        resident_mebibytes(server),
    )


def run_rounds(targets: list[Target], key: str, options: argparse.Namespace) -> dict[str, list[Run]]:
    for target in targets:
        measure(target, min(WARM_UP, options.seconds), key, options)
    runs: dict[str, list[Run]] = {target.name: [] for target in targets}
    for number, target in itertools.product(range(1, options.rounds + 1), targets):
        run = measure(target, options.seconds, key, options)
        runs[target.name].append(run)
        say(f"round {number}: {target.name:<24}{run.requests_per_second:>10,.0f} requests/s")
    return runs


# The result


@dataclass(frozen=True)
class Ratio:
    name: str
    median: float  # of the rounds' own ratios
    lowest: float
    highest: float
    goal: str
    met: bool


def ratio(
    runs: dict[str, list[Run]],
    figure: str,
    of: str,
    to: str,
    at_least: float = 0,
    at_most: float = float("inf"),
) -> Ratio:
    """How one target's figure stands to another's: both of the same round, then over the rounds."""
    values = [getattr(one, figure) / getattr(other, figure) for one, other in zip(runs[of], runs[to])]
    median = statistics.median(values)
    label = {"requests_per_second": "requests/s", "p99": "p99", "processor": "CPU"}[figure]
    return Ratio(
        f"{of} / {to}, {label}",
        median,
        min(values),
        max(values),
        f"≥ {at_least}" if at_least else f"≤ {at_most}" if at_most < float("inf") else "none",
        at_least <= median <= at_most,
    )


def ratios(runs: dict[str, list[Run]]) -> list[Ratio]:
    # Of processor time first: requests/s depend on what share of the cores is the client's.
    before = [ratio(runs, "processor", LOOKUP, BEFORE, at_most=1.0)] if BEFORE in runs else []
    return before + [
        ratio(runs, "processor", LOOKUP, GO, at_most=0.75),
        ratio(runs, "processor", LOOKUP + TLS, GO + TLS, at_most=0.85),
        ratio(runs, "processor", LOOKUP + HTTP2, GO + HTTP2, at_most=1.0),
        ratio(runs, "processor", LOOKUP + FIRST, GO + FIRST, at_most=1.0),
        ratio(runs, "requests_per_second", LOOKUP, HAPROXY, at_least=0.75),
        ratio(runs, "requests_per_second", LOOKUP, FASTAPI, at_least=15),
        ratio(runs, "requests_per_second", CONFIRMATION, LOOKUP, at_least=0.85),
        ratio(runs, "p99", LOOKUP, NGINX, at_most=1.5),
    ]


def median_run(runs: list[Run]) -> Run:
    """The median of each figure by itself."""
    figures = [asdict(run) for run in runs]
    return Run(
        **{
            name: None if first is None else statistics.median(figure[name] for figure in figures)
            for name, first in figures[0].items()
        }
    )


def all_circumstances(options: argparse.Namespace, postgresql_version: str) -> dict[str, str]:
    environment = peer_environment(options)
    nginx, haproxy, wrk, h2load, go = (
        output_of(*command, environment=environment)
        for command in (
            (options.nginx, "-v"),
            (options.haproxy, "-v"),
            (options.wrk, "-v"),
            (options.h2load, "--version"),
            ("go", "version"),
        )
    )
    packages = ("fastapi", "uvicorn", "uvloop", "httptools", "asyncpg", "orjson")
    return circumstances(options.doorstep) | {
        "PostgreSQL": postgresql_version,
        "nginx": first_match(r"nginx/(\S+)", nginx),
        "HAProxy": first_match(r"version (\S+)", haproxy),
        "wrk": first_match(r"^wrk (?:debian/)?(\S+)", wrk),
        "h2load": first_match(r"nghttp2/(\S+)", h2load),
        "Go": first_match(r"go(\d\S*)", go),
        "Python": f"{platform.python_version()}, "
        + ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages),
    }


def print_markdown(
    options: argparse.Namespace, facts: dict[str, str], runs: dict[str, list[Run]], found: list[Ratio]
) -> None:
    print_facts(facts)
    print(
        f"- {options.places:,} places, wrk with {THREADS} threads and {CONNECTIONS} connections that are kept"
        f" alive, h2load with as many streams on {HTTP2_CONNECTIONS}, medians of {options.rounds} interleaved rounds"
        f" of {options.seconds} s\n"
    )
    print("| target | CPU µs/request | PostgreSQL's | client's | requests/s | p50 ms | p99 ms | resident MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, all_runs in runs.items():
        run = median_run(all_runs)
        latencies = "| " if run.p50 is None else f"{run.p50:.2f} | {run.p99:.2f}"
        processor = f"{run.processor:.1f} | {run.database_processor:.1f} | {run.client_processor:.1f}"
        print(f"| {name} | {processor} | {run.requests_per_second:,.0f} | {latencies} | {run.memory:,.0f} |")
    print()
    print("| ratio | median | of the rounds | goal | |")
    print("| --- | ---: | ---: | ---: | --- |")
    for one in found:
        verdict = "" if one.goal == "none" else "met" if one.met else "missed"
        spread = f"{one.lowest:.2f} to {one.highest:.2f}"
        print(f"| {one.name} | {one.median:.2f} | {spread} | {one.goal} | {verdict} |")


def print_json(
    options: argparse.Namespace, facts: dict[str, str], runs: dict[str, list[Run]], found: list[Ratio]
) -> None:
    settings = {"places": options.places, "rounds": options.rounds, "seconds": options.seconds}
    settings |= {"threads": THREADS, "connections": CONNECTIONS}
    targets = [
        {"name": name, "median": asdict(median_run(all_runs)), "rounds": [asdict(run) for run in all_runs]}
        for name, all_runs in runs.items()
    ]
    document = {"circumstances": facts, "settings": settings, "targets": targets}
    document["ratios"] = [asdict(one) for one in found]
    print(json.dumps(document, ensure_ascii=False, indent=2))


def leave(number: int, _) -> None:
    """Ends the program, and on the way out everything it started, whatever signals come then."""
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="compare.py", description=__doc__)
    for name in ("doorstep", "before", "go", "nginx", "haproxy", "wrk", "h2load", "libraries"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("places", "rounds", "seconds"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--format", choices=("markdown", "json"), required=True)
    parser.add_argument("--postgres", type=pathlib.Path, required=True, help="the private server's directory")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.postmaster = int((options.postgres / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
    return options


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    options = parse_arguments()

    say(f"importing {options.places:,} places")
    places = make_places(options.places)
    key = import_catalogue(options, places)
    facts = all_circumstances(options, asyncio.run(settle_database()))

    invocations = choose_invocations(places)
    lookups = [lookup(place, invocation) for place, invocation in invocations]
    confirmations = [confirmation(place, invocation) for place, invocation in invocations]
    lookup_file, confirmation_file = options.scratch / "lookups", options.scratch / "confirmations"
    write_requests(lookup_file, lookups)
    write_requests(confirmation_file, confirmations)
    # A fixed response of the median size of the real ones.
    answers = sorted((encoded(exchange.expected) for exchange in lookups), key=len)
    fixed_answer = answers[len(answers) // 2]

    with contextlib.ExitStack() as stack:
        say("starting the servers")
        servers = start_servers(stack, options, places, fixed_answer, key)
        targets = [Target(CONFIRMATION, servers[LOOKUP], confirmations, confirmation_file)]
        for name, server in servers.items():
            fixed = fixed_answer if name.startswith(NGINX) else None
            targets.append(Target(name, server, lookups, lookup_file, fixed))
        for target in targets:
            target.server.wait_until_answering(lookups[0].path, key, target.is_secure)
        for target in targets:
            verify(target, key)
        say("every target answers as it must")
        runs = run_rounds(targets, key, options)

    print_result = print_json if options.format == "json" else print_markdown
    print_result(options, facts, runs, ratios(runs))


if __name__ == "__main__":
    main()
