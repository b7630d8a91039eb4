"""Measures an import of locations beside `psql \\copy` into the same table.

Started by the command `import`, with DATABASE_URL naming a private PostgreSQL that is empty. Progress goes to standard
error, the result to standard output. Ends with status 1 when an import does not do what it should; a goal that is missed
is printed.
"""

import argparse
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass

from reporting import circumstances, fail, print_facts, say

TENANT = "places"
COLUMNS = ("identifier", "name", "latitude", "longitude", "radius")
RATIO_GOAL = 3
MEMORY_GOAL = 200  # MB, of 1,000,000 bytes


@dataclass(frozen=True)
class Run:
    seconds: float
    megabytes: float
    status: int
    errors: str


@dataclass(frozen=True)
class Result:
    rows: int
    import_seconds: list[float]
    copy_seconds: list[float]
    ratio: float
    peak_megabytes: float
    refusal_seconds: float


def run(command: list[str], environment: dict[str, str] | None = None) -> Run:
    """Runs a command to its end; how long it took, and the most memory it had at once."""
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
        # The triggers write as the owner, who sees one tenant.
        settings = {"PGOPTIONS": f"-c doorstep.tenant_id={self.tenant}"}
        return succeed([self.psql, "-Xq", "-v", "ON_ERROR_STOP=1", "-c", command, self.url], settings)

    def count(self) -> int:
        return int(self.ask("SELECT count(*) FROM doorstep.locations"))

    def empty(self) -> None:
        """As it was before the first run, so that no run finds the table of another."""
        self.ask("TRUNCATE doorstep.locations, doorstep.experiences, doorstep.audit_log, doorstep.changes")
        self.ask("CHECKPOINT")


def write_files(rows: int, tenant: str, scratch: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path, pathlib.Path]:
    """The same places for an import, with a bad row at the end, and for a copy."""
    good, bad, copied = (scratch / f"{name}.csv" for name in ("good", "bad", "copied"))
    with good.open("w", newline="") as file, copied.open("w", newline="") as copy:
        writer, copier = csv.writer(file), csv.writer(copy)
        writer.writerow([*COLUMNS, "city"])
        for number in range(rows):
            # Spread over the world; seven digits, which are about a centimetre.
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
    line = f"{bad}:{options.rows + 2}: latitude: "
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
    options = parser.parse_args()
    facts = circumstances(options.doorstep)
    result = measure(options)
    if options.format == "json":
        print(json.dumps({"circumstances": facts, "result": asdict(result)}, ensure_ascii=False, indent=2))
    else:
        print_markdown(facts, result)


if __name__ == "__main__":
    main()
