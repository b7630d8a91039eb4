"""Measures an import of locations beside `psql \\copy` into the same table, by the command or, with --http, by a PUT to a
server, which meanwhile answers lookups.

Started by the command `import`, with DATABASE_URL naming a private PostgreSQL that is empty. Progress goes to standard
error, the result to standard output. Ends with status 1 when an import does not do what it should; a goal that is missed
is printed.
"""

import argparse
import csv
import http.client
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import asdict, dataclass

from reporting import circumstances, fail, print_facts, say

TENANT = "places"
COLUMNS = ("identifier", "name", "latitude", "longitude", "radius")
RATIO_GOAL = 3
MEMORY_GOAL = 200  # MB, of 1,000,000 bytes
SERVER_MEMORY_GOAL = 64  # MB more than when the rows come by a copy
LOOKUP_GOAL = 1.5  # p99, in times that during a copy
LOOKUPS_PER_SECOND = 200
PROBE = "https://example.com/probe"


@dataclass(frozen=True)
class Run:
    seconds: float
    megabytes: float
    status: int
    errors: str


@dataclass(frozen=True)
class Served:
    """A server during an import: the time of the import, until lookups find the last row, the peak of its memory, lookups' p99."""

    seconds: float
    seen_seconds: float
    megabytes: float
    p99_milliseconds: float


@dataclass(frozen=True)
class HTTPResult:
    rows: int
    puts: list[Served]
    copies: list[Served]


@dataclass(frozen=True)
class Result:
    rows: int
    import_seconds: list[float]
    copy_seconds: list[float]
    ratio: float
    peak_megabytes: float
    refusal_seconds: float


def run(command: list[str], environment: dict[str, str] | None = None) -> Run:
    """Runs a command to its end; returns its time and the peak of its memory."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {})
    )
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(time.monotonic() - start, usage.ru_maxrss * 1024 / 1e6, process.returncode, errors)


def succeed(command: list[str], environment: dict[str, str] | None = None) -> Run:
    done = run(command, environment)
    if done.status != 0:
        fail(f"{command[0]} ended with {done.status}: {done.errors}")
    return done


class Database:
    def __init__(self, doorstep: str) -> None:
        self.psql = shutil.which("psql") or fail("psql is not installed")
        self.url = os.environ["DATABASE_URL"]
        succeed([doorstep, "migrate"])
        succeed([doorstep, "tenant", "create", TENANT, "--name", "Places"])
        self.tenant = self.ask("SELECT tenant_id FROM doorstep.tenants")

    def ask(self, statement: str) -> str:
        command = [self.psql, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, self.url]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

    def copy(self, file: pathlib.Path) -> Run:
        columns = ", ".join(("tenant_id", *COLUMNS, "metadata"))
        command = f"\\copy doorstep.locations ({columns}) FROM '{file}' (FORMAT csv)"
        # The triggers write as the owner, which can read one tenant.
        settings = {"PGOPTIONS": f"-c doorstep.tenant_id={self.tenant}"}
        return succeed([self.psql, "-Xq", "-v", "ON_ERROR_STOP=1", "-c", command, self.url], settings)

    def count(self) -> int:
        return int(self.ask(f"SELECT count(*) FROM doorstep.locations WHERE tenant_id = '{self.tenant}'"))

    def empty(self) -> None:
        """Restores the state before the first run, so that no run finds rows of another."""
        self.ask("TRUNCATE doorstep.locations, doorstep.experiences, doorstep.audit_log, doorstep.changes")
        # TRUNCATE fires no counting trigger.
        self.ask("UPDATE doorstep.tenant_usage SET row_count = 0, byte_count = 0"
                 " WHERE kind IN ('audit_log', 'experiences', 'locations', 'total')")
        self.ask("CHECKPOINT")


def write_files(rows: int, tenant: str, scratch: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path, pathlib.Path]:
    """The same locations for an import, with an invalid row at the end, and for a copy."""
    good, bad, copied = (scratch / f"{name}.csv" for name in ("good", "bad", "copied"))
    with good.open("w", newline="") as file, copied.open("w", newline="") as copy:
        writer, copier = csv.writer(file), csv.writer(copy)
        writer.writerow([*COLUMNS, "city"])
        for number in range(rows):
            # All over the world; seven digits are about a centimetre.
            latitude = f"{number * 7919 % 1_600_000_000 / 1e7 - 80:.7f}"
            longitude = f"{number * 104_729 % 3_600_000_000 / 1e7 - 180:.7f}"
            place = [f"place-{number}", f"Place {number}", latitude, longitude, str(50 + number % 450)]
            writer.writerow([*place, f"City {number % 1000}"])
            copier.writerow([tenant, *place, json.dumps({"city": f"City {number % 1000}"})])
    shutil.copyfile(good, bad)
    with bad.open("a", newline="") as file:
        csv.writer(file).writerow(["last", "Last", "91", "0", "100", "Nowhere"])
    return good, bad, copied


def measure(options: argparse.Namespace) -> Result:
    database = Database(options.doorstep)
    scratch = pathlib.Path(options.scratch)
    say(f"writing {options.rows:,} rows")
    good, bad, copied = write_files(options.rows, database.tenant, scratch)
    command = [options.doorstep, "location", "import", "--tenant", TENANT]
    imports, copies = [], []
    for number in range(options.rounds):
        for name, work, runs in (
            ("import", lambda: succeed([*command, str(good)]), imports),
            ("copy", lambda: database.copy(copied), copies),
        ):
            database.empty()
            runs.append(work())
            say(f"round {number + 1}: {name} {runs[-1].seconds:.1f} s, {runs[-1].megabytes:.0f} MB")
            if database.count() != options.rows:
                fail(f"after the {name} there are {database.count()} rows")

    database.empty()
    refused = run([*command, str(bad)])
    say(f"bad last row: {refused.seconds:.1f} s, status {refused.status}")
    line = f"{bad}:{options.rows + 2}: last: latitude: "
    if refused.status != 1 or line not in refused.errors or database.count() != 0:
        fail(f"the bad last row was not refused as it should be: {refused.errors}")
    import_seconds = [run.seconds for run in imports]
    copy_seconds = [run.seconds for run in copies]
    return Result(
        rows=options.rows,
        import_seconds=import_seconds,
        copy_seconds=copy_seconds,
        ratio=statistics.median(import_seconds) / statistics.median(copy_seconds),
        peak_megabytes=max(run.megabytes for run in [*imports, refused]),
        refusal_seconds=refused.seconds,
    )


class Server:
    """`doorstep serve` on a port of its own, with a key that manages the tenant, and a location whose lookups are timed."""

    def __init__(self, doorstep: str, rows: int) -> None:
        tenant = ["--tenant", TENANT]
        clip = "com.example.Places.Clip"
        # The clip remains between the rounds; each round creates a key.
        run([doorstep, "clip", "create", *tenant, "--team-id", "ABCDE12345", "--bundle-id", clip])
        succeed([doorstep, "experience", "create", *tenant, "--clip", clip, "--url", PROBE, "--identifier-rule", "path:1"])
        scopes = [word for scope in ("lookup", "read", "manage") for word in ("--scope", scope)]
        made = subprocess.run(
            [doorstep, "key", "create", *tenant, "--kind", "secret", *scopes], stdout=subprocess.PIPE, check=True
        )
        self.headers = {"Authorization": "Bearer " + json.loads(made.stdout)["key"]}
        self.last = f"{PROBE}/place-{rows - 1}"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        limit = ["--key-limit", "1000000:1000000"]
        self.process = subprocess.Popen(
            [doorstep, "serve", "--host", "127.0.0.1", "--port", str(self.port), *limit], stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while not self.is_ready():
            if time.monotonic() > deadline:
                fail("the server did not start")
            time.sleep(0.05)

    def is_ready(self) -> bool:
        try:
            return self.get(http.client.HTTPConnection("127.0.0.1", self.port), "/readyz") == 200
        except OSError:
            return False

    def get(self, connection: http.client.HTTPConnection, path: str) -> int:
        connection.request("GET", path, headers=self.headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def lookup(self, connection: http.client.HTTPConnection, url: str) -> int:
        return self.get(connection, "/v1/lookup?url=" + urllib.parse.quote(url, safe=""))

    def put(self, file: pathlib.Path, rows: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, blocksize=65_536)
        headers = self.headers | {"Content-Type": "text/csv", "Content-Length": str(file.stat().st_size)}
        with file.open("rb") as body:
            connection.request("PUT", "/v1/locations", body=body, headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 202) or json.loads(text)["added"] != rows:
            fail(f"the PUT was answered with {answer.status}: {text[:500]!r}")

    def peak_megabytes(self) -> float:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024 / 1e6

    def serve(self, work: Callable[[], object]) -> Served:
        """Times lookups at a steady rate during the import, until they find the last row."""
        done = threading.Event()
        milliseconds: list[float] = []

        def time_lookups() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            due = time.monotonic()
            while not done.is_set():
                # From the time when it was due: a lookup that waits for earlier ones is late.
                if self.lookup(connection, PROBE + "/nowhere") != 404:
                    fail("a lookup was not answered")
                milliseconds.append((time.monotonic() - due) * 1_000)
                due += 1 / LOOKUPS_PER_SECOND
                time.sleep(max(0, due - time.monotonic()))

        lookups = threading.Thread(target=time_lookups, daemon=True)
        lookups.start()
        start = time.monotonic()
        work()
        seconds = time.monotonic() - start
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        while self.lookup(connection, self.last) != 200:
            if time.monotonic() > start + 1_200:
                fail("lookups do not know of the rows")
            time.sleep(0.01)
        seen = time.monotonic() - start
        done.set()
        lookups.join()
        return Served(seconds, seen, self.peak_megabytes(), statistics.quantiles(milliseconds, n=100)[98])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def measure_http(options: argparse.Namespace) -> HTTPResult:
    database = Database(options.doorstep)
    say(f"writing {options.rows:,} rows")
    good, _, copied = write_files(options.rows, database.tenant, pathlib.Path(options.scratch))
    puts, copies = [], []
    for number in range(options.rounds):
        for name, runs in (("PUT", puts), ("copy", copies)):
            database.empty()
            server = Server(options.doorstep, options.rows)
            try:
                put, copy = (lambda: server.put(good, options.rows)), (lambda: database.copy(copied))
                runs.append(server.serve(put if name == "PUT" else copy))
            finally:
                server.stop()
            served = runs[-1]
            say(
                f"round {number + 1}: {name} {served.seconds:.1f} s, seen after {served.seen_seconds:.1f} s, "
                f"{served.megabytes:.0f} MB, lookups' p99 {served.p99_milliseconds:.2f} ms"
            )
            if database.count() != options.rows:
                fail(f"after the {name} there are {database.count()} rows")
    return HTTPResult(options.rows, puts, copies)


def print_http_markdown(facts: dict[str, str], result: HTTPResult) -> None:
    def middle(runs: list[Served], name: str) -> float:
        return statistics.median(getattr(run, name) for run in runs)

    print_facts(facts)
    print(f"\n| {result.rows:,} locations | answered | seen by lookups | server's most memory | lookups' p99 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, runs in (("`PUT /v1/locations`", result.puts), ("`psql \\copy` into the same table", result.copies)):
        print(
            f"| {name} | {middle(runs, 'seconds'):.2f} s | {middle(runs, 'seen_seconds'):.2f} s "
            f"| {middle(runs, 'megabytes'):.0f} MB | {middle(runs, 'p99_milliseconds'):.2f} ms |"
        )
    memory = middle(result.puts, "megabytes") - middle(result.copies, "megabytes")
    ratio = middle(result.puts, "p99_milliseconds") / middle(result.copies, "p99_milliseconds")
    print("\n| | measured | goal | |")
    print("| --- | ---: | ---: | --- |")
    for name, measured, goal, unit in (
        ("server's most memory, beyond that with the copy", memory, SERVER_MEMORY_GOAL, " MB"),
        ("lookups' p99, in times that during the copy", ratio, LOOKUP_GOAL, ""),
    ):
        print(f"| {name} | {measured:.2f}{unit} | ≤ {goal}{unit} | {'met' if measured <= goal else 'missed'} |")


def print_markdown(facts: dict[str, str], result: Result) -> None:
    print_facts(facts)
    print(f"\n| {result.rows:,} locations | median | runs |")
    print("| --- | ---: | --- |")
    for name, seconds in (
        ("`doorstep location import`", result.import_seconds),
        ("`psql \\copy` into the same table", result.copy_seconds),
    ):
        print(f"| {name} | {statistics.median(seconds):.2f} s | {', '.join(f'{s:.2f}' for s in seconds)} |")
    print(f"| an import whose last row is bad, refused | {result.refusal_seconds:.2f} s | |\n")
    print("| | measured | goal | |")
    print("| --- | ---: | ---: | --- |")
    for name, measured, goal, unit in (
        ("import, in times the copy takes", result.ratio, RATIO_GOAL, ""),
        ("most memory of the import", result.peak_megabytes, MEMORY_GOAL, " MB"),
    ):
        print(f"| {name} | {measured:.2f}{unit} | ≤ {goal}{unit} | {'met' if measured <= goal else 'missed'} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="import.py", description=__doc__)
    for name in ("doorstep", "scratch"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--format", choices=("markdown", "json"), required=True)
    parser.add_argument("--http", action="store_true")
    options = parser.parse_args()
    facts = circumstances(options.doorstep)
    result = measure_http(options) if options.http else measure(options)
    if options.format == "json":
        print(json.dumps({"circumstances": facts, "result": asdict(result)}, ensure_ascii=False, indent=2))
    elif options.http:
        print_http_markdown(facts, result)
    else:
        print_markdown(facts, result)


if __name__ == "__main__":
    main()
