"""Measures the costs of Doorstep's lookup index at several sizes.

Started by the command `scale`, with DATABASE_URL naming a private PostgreSQL that is empty. Progress goes to
standard error, the result to standard output. Ends with status 1 when a lookup finds the wrong place, a
change is missing after it was brought in, or anything else cannot be measured; a goal that is missed is
printed.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
from dataclasses import asdict, dataclass

from reporting import circumstances, fail, load, print_facts, say

FOLDER = pathlib.Path(__file__).resolve().parent
TIMEOUT = 1_800  # seconds, of each command

GOAL_SIZE = 1_000_000
MATCH_GOAL = 400  # nanoseconds, p50
MEMORY_GOAL = 400  # bytes for an experience and its location
LOAD_GOAL = 1.5  # times what psql takes to read the same rows

# The statements with which the index feed reads most rows (IndexRelation+SQL.swift), as text, for a reader that discards it.
COPIES = [
    f"\\copy (SELECT {fields} FROM doorstep.{relation} r) TO '/dev/null'"
    for relation, fields in (
        ("locations", "r.tenant_id, r.identifier, r.name, r.latitude, r.longitude, r.radius"),
        ("experiences", "r.tenant_id, r.kind, r.url, r.bundle_id, r.location_identifier, r.identifier_rule"),
    )
]


@dataclass(frozen=True)
class Search:
    p50: float  # nanoseconds
    p99: float  # nanoseconds
    allocations: float  # for each


@dataclass(frozen=True)
class Delta:
    median: float  # milliseconds
    slowest: float  # milliseconds


@dataclass(frozen=True)
class Round:
    load: float  # seconds
    psql: float  # seconds
    table: float  # bytes for each pair, as the table itself counts them
    loaded: float  # bytes for each pair that the process has grown by
    trimmed: float  # the same, when what was freed had been given back
    match: Search
    lookup: Search
    one_row: Delta
    hundred_rows: Delta

    @property
    def ratio(self) -> float:
        return self.load / self.psql


@dataclass(frozen=True)
class Size:
    pairs: int
    rounds: list[Round]
    load_average: str

    def median(self, *path: str) -> float:
        """The median of a figure over the rounds."""

        def figure(value: Round) -> float:
            for name in path:
                value = getattr(value, name)
            return value

        return statistics.median(figure(one) for one in self.rounds)


@dataclass(frozen=True)
class Goal:
    name: str
    measured: float
    unit: str
    at_most: float

    @property
    def met(self) -> bool:
        return self.measured <= self.at_most


def run(command: list[str], text: str | None = None) -> str:
    done = subprocess.run(
        command, input=text, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode != 0:
        fail(f"{' '.join(command[:2])} ended with status {done.returncode}")
    return done.stdout


def psql(options: argparse.Namespace, *arguments: str) -> str:
    command = [options.psql, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", *arguments]
    return run([*command, "--dbname", os.environ["DATABASE_URL"]])


def seconds_of_psql(options: argparse.Namespace) -> float:
    """The time of the statements that psql prints, without its start and its connection."""
    # As the role of the feed, with row-level security.
    statements = ["SET ROLE doorstep_router", "\\timing on", *COPIES]
    printed = psql(options, *(f"--command={statement}" for statement in statements))
    times = [float(time) / 1e3 for time in re.findall(r"^Time: ([\d.]+) ms", printed, re.MULTILINE)]
    if len(times) != len(COPIES):
        fail(f"psql printed no time for each statement: {printed}")
    return sum(times)


def measure_round(options: argparse.Namespace, pairs: int) -> Round:
    reading = seconds_of_psql(options)
    report = json.loads(run([options.benchmarks, "scale"]))
    if (report["experiences"], report["locations"]) != (pairs, pairs):
        fail(f"loaded {report['experiences']} experiences and {report['locations']} locations, not {pairs}")
    resident = report["residentBytes"]
    searches = {
        one["name"]: Search(one["medianNanoseconds"], one["percentile99Nanoseconds"], one["allocations"])
        for one in report["searches"]
    }
    deltas = {
        one["rows"]: Delta(one["medianMilliseconds"], one["slowestMilliseconds"]) for one in report["deltas"]
    }
    return Round(
        load=report["loadSeconds"],
        psql=reading,
        table=report["tableBytes"] / pairs,
        loaded=(resident["loaded"] - resident["before"]) / pairs,
        trimmed=(resident["trimmed"] - resident["before"]) / pairs,
        match=searches["match"],
        lookup=searches["look up"],
        one_row=deltas[1],
        hundred_rows=deltas[100],
    )


def measure_sizes(options: argparse.Namespace) -> list[Size]:
    sizes, there = [], 0
    for pairs in options.sizes:
        say(f"making {pairs:,} experiences and as many locations")
        psql(options, f"--set=first={there + 1}", f"--set=last={pairs}", f"--file={FOLDER / 'scale.sql'}")
        there = pairs
        average, rounds = load(), []
        # The first read comes from the disk, so it is not measured.
        seconds_of_psql(options)
        for number in range(1, options.rounds + 1):
            one = measure_round(options, pairs)
            rounds.append(one)
            figures = f"loaded in {one.load:.2f} s, psql {one.psql:.2f} s, match {one.match.p50:.0f} ns"
            say(f"round {number}: {figures}")
        sizes.append(Size(pairs, rounds, average))
    return sizes


def goals(size: Size) -> list[Goal]:
    return [
        Goal("match, p50", size.median("match", "p50"), "ns", MATCH_GOAL),
        Goal("match, allocations", size.median("match", "allocations"), "", 0),
        Goal("memory of a pair, resident", size.median("trimmed"), "bytes", MEMORY_GOAL),
        Goal("load / psql", size.median("ratio"), "", LOAD_GOAL),
    ]


def print_markdown(options: argparse.Namespace, facts: dict[str, str], sizes: list[Size]) -> None:
    print_facts(facts)
    print(f"- medians of {options.rounds} rounds, in each of which psql reads and then Doorstep loads\n")
    columns = [f"{size.pairs:,}" for size in sizes]
    print(f"| experiences, and as many locations | {' | '.join(columns)} |")
    print(f"| --- |{' ---: |' * len(sizes)}")

    def row(name: str, form: str, *paths: tuple[str, ...]) -> None:
        cells = [" / ".join(form.format(size.median(*path)) for path in paths) for size in sizes]
        print(f"| {name} | {' | '.join(cells)} |")

    row("load, s", "{:.3f}", ("load",))
    row("psql's `\\copy … TO '/dev/null'` of the same rows, s", "{:.3f}", ("psql",))
    row("load / psql", "{:.2f}", ("ratio",))
    row("bytes a pair, as the table counts them", "{:.0f}", ("table",))
    row("bytes a pair, resident: after the load / trimmed", "{:.0f}", ("loaded",), ("trimmed",))
    row("match, ns: p50 / p99", "{:,.0f}", ("match", "p50"), ("match", "p99"))
    row("match, allocations", "{:.0f}", ("match", "allocations"))
    row("look up, ns: p50 / p99", "{:,.0f}", ("lookup", "p50"), ("lookup", "p99"))
    row("look up, allocations", "{:.0f}", ("lookup", "allocations"))
    row("1 row changed, ms: p50 / slowest", "{:.2f}", ("one_row", "median"), ("one_row", "slowest"))
    row(
        "100 rows changed, ms: p50 / slowest",
        "{:.2f}",
        ("hundred_rows", "median"),
        ("hundred_rows", "slowest"),
    )
    print(f"| load average of the machine before | {' | '.join(size.load_average for size in sizes)} |\n")
    print(f"| at {GOAL_SIZE:,} | measured | goal | |")
    print("| --- | ---: | ---: | --- |")
    for size in sizes:
        if size.pairs != GOAL_SIZE:
            continue
        for goal in goals(size):
            measured = f"{goal.measured:.2f}" if goal.at_most < 10 else f"{goal.measured:,.0f} {goal.unit}"
            verdict = "met" if goal.met else "missed"
            print(f"| {goal.name} | {measured} | ≤ {goal.at_most:g} {goal.unit} | {verdict} |")
    if GOAL_SIZE not in options.sizes:
        print("| this size was not measured | | | |")


def print_json(options: argparse.Namespace, facts: dict[str, str], sizes: list[Size]) -> None:
    found = [goal for size in sizes if size.pairs == GOAL_SIZE for goal in goals(size)]
    document = {
        "circumstances": facts,
        "sizes": [asdict(size) for size in sizes],
        "goals": [asdict(goal) | {"met": goal.met} for goal in found],
    }
    print(json.dumps(document, ensure_ascii=False, indent=2))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scale.py", description=__doc__)
    for name in ("doorstep", "benchmarks", "psql"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--sizes", required=True, help="separated by commas")
    parser.add_argument("--format", choices=("markdown", "json"), required=True)
    options = parser.parse_args()
    options.sizes = sorted({int(size) for size in options.sizes.split(",")})
    return options


def main() -> None:
    options = parse_arguments()
    facts = circumstances(options.doorstep)
    run([options.doorstep, "migrate"])
    facts["PostgreSQL"] = psql(options, "--tuples-only", "--no-align", "--command=SHOW server_version").strip()
    sizes = measure_sizes(options)
    print_result = print_json if options.format == "json" else print_markdown
    print_result(options, facts, sizes)


if __name__ == "__main__":
    main()
