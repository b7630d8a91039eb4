"""Measures how long a committed change takes to be visible on two nodes that are under load.

Started by the command `freshness`, with DATABASE_URL naming a private PostgreSQL that is empty. Progress goes
to standard error, the result to standard output. Ends with status 1 when a change does not become visible, or
when a node refuses or fails one request of the load; a goal that is missed is printed.
"""

import argparse
import asyncio
import contextlib
import hashlib
import http.client
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import time
import urllib.parse
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict, dataclass

import asyncpg
from compare import (
    CLIP,
    CONNECTIONS,
    HOST,
    SEED,
    TENANT,
    Place,
    Server,
    Target,
    choose_invocations,
    doorstep,
    free_ports,
    import_catalogue,
    leave,
    lookup,
    make_places,
    peer_environment,
    serve_command,
    settle_database,
    stop,
    wrk_command,
    write_requests,
)
from fastapi_peer import connection_parameters
from reporting import circumstances, fail, load, print_facts, say

GUEST = "guests"  # a tenant that nobody but this measurement asks for
GOAL = 1_000  # milliseconds, p99
PATIENCE = 30  # seconds
LONGEST_PAUSE = 0.1  # seconds between two changes
LOAD_LIMIT = 3_600  # seconds

MOVED, ADDED, REVOKED = "location moved", "experience added", "key revoked"
ALL = "all of these"
SUSPENDED, RESUMED = "tenant suspended", "tenant resumed"
LATE = "location moved by the open transaction, once it is committed"


# Changes


@dataclass(frozen=True)
class Change:
    kind: str
    tenant: str
    statement: str
    values: tuple
    path: str
    key: str
    is_visible: Callable[[int, dict], bool]  # by the status and the body of the path's answer


@dataclass(frozen=True)
class Keys:
    load: str
    guest: str
    revocable: list[str]


def lookup_path(url: str) -> str:
    return "/v1/lookup?url=" + urllib.parse.quote(url, safe="")


def move(place: Place, latitude: float, key: str, kind: str = MOVED) -> Change:
    return Change(
        kind,
        TENANT,
        "UPDATE doorstep.locations SET latitude = $1 WHERE identifier = $2",
        (latitude, place.identifier),
        lookup_path(place.experience),
        key,
        lambda status, body: status == 200 and body["location"]["region"]["center"]["latitude"] == latitude,
    )


def add(place: Place, number: int, key: str) -> Change:
    url = f"{HOST}/opened/{number}"
    return Change(
        ADDED,
        TENANT,
        """
        INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id, location_identifier)
        VALUES (doorstep.current_tenant_id(), 'advanced', $1, $2, $3)
        """,
        (url, CLIP, place.identifier),
        lookup_path(url),
        key,
        lambda status, body: status == 200 and body["experience"]["url"] == url,
    )


def revoke(key: str, place: Place) -> Change:
    return Change(
        REVOKED,
        TENANT,
        "UPDATE doorstep.api_keys SET revoked_at = now() WHERE digest = $1",
        (hashlib.sha256(key.encode()).digest(),),
        lookup_path(place.experience),
        key,
        lambda status, body: status == 401,
    )


def suspend(is_suspension: bool, place: Place, key: str) -> Change:
    return Change(
        SUSPENDED if is_suspension else RESUMED,
        GUEST,
        "UPDATE doorstep.tenants SET suspended_at = CASE WHEN $1 THEN now() END"
        " WHERE tenant_id = doorstep.current_tenant_id()",
        (is_suspension,),
        lookup_path(place.experience),
        key,
        # The tenant has no experience: resumed, it finds nothing at the URL.
        lambda status, body: status == (403 if is_suspension else 404),
    )


def make_changes(places: list[Place], keys: Keys, numbers: range) -> Iterator[Change]:
    """The kinds in turns; every second turn of a suspension is a resumption."""
    generator = random.Random(SEED + numbers.start)
    for number in numbers:
        place, turn = generator.choice(places), number // 4
        match number % 4:
            case 0:
                yield move(place, round(generator.uniform(-80, 80), 6), keys.load)
            case 1:
                yield add(place, number, keys.load)
            case 2:
                yield revoke(keys.revocable[turn], place)
            case _:
                yield suspend(turn % 2 == 0, place, keys.guest)


# The database


class Administration:
    """A connection that changes one tenant's rows in each transaction, as the administration commands do."""

    def __init__(self, connection: asyncpg.Connection, tenants: dict[str, str]) -> None:
        self.connection, self.tenants = connection, tenants

    @classmethod
    @contextlib.asynccontextmanager
    async def connect(cls) -> AsyncIterator["Administration"]:
        connection = await asyncpg.connect(**connection_parameters())
        try:
            rows = await connection.fetch("SELECT slug, tenant_id::text FROM doorstep.tenants")
            yield cls(connection, dict(rows))
        finally:
            await connection.close()

    async def execute(self, change: Change) -> None:
        """In a transaction that is open."""
        await self.connection.execute(
            "SELECT set_config('role', 'doorstep_admin', true), set_config('doorstep.tenant_id', $1, true)",
            self.tenants[change.tenant],
        )
        # The status ends with the number of rows.
        status = await self.connection.execute(change.statement, *change.values)
        if not status.endswith(" 1"):
            fail(f"{change.kind}: the statement ended with {status}, not with one row")

    async def commit(self, change: Change) -> float:
        """Returns the time at which COMMIT returned."""
        async with self.connection.transaction():
            await self.execute(change)
        return time.monotonic()


# The nodes


class Node:
    """A server, and a connection to it that is kept alive, for one thread at a time."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)

    def shows(self, change: Change) -> bool:
        self.connection.request("GET", change.path, headers={"Authorization": f"Bearer {change.key}"})
        response = self.connection.getresponse()
        return change.is_visible(response.status, json.loads(response.read()))

    def time_of_showing(self, change: Change) -> float:
        """Repeats a request; returns the time of the first expected response."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.shows(change):
                return time.monotonic()
        self.server.fail(f"{change.kind}: not visible after {PATIENCE} seconds")


def require_hidden(nodes: list[Node], change: Change) -> None:
    for node in nodes:
        if node.shows(change):
            node.server.fail(f"{change.kind}: visible before it was committed")


async def time_until_visible(nodes: list[Node], change: Change, committed: float) -> float:
    """Milliseconds until the last node shows the change."""
    # The connections are read by threads: asyncio is left to PostgreSQL's.
    times = await asyncio.gather(*(asyncio.to_thread(node.time_of_showing, change) for node in nodes))
    return (max(times) - committed) * 1e3


# The load


@dataclass(frozen=True)
class Load:
    node: str
    requests_per_second: float
    p50: float  # milliseconds
    p99: float  # milliseconds
    refused: int
    failed: int


@contextlib.contextmanager
def load_on(target: Target, key: str, options: argparse.Namespace) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(
        wrk_command(options, 1, LOAD_LIMIT, target),
        stdout=subprocess.PIPE,
        text=True,
        env=peer_environment(options) | {"DOORSTEP_KEY": key},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            stop(process)


def end_load(server: Server, process: subprocess.Popen) -> Load:
    """wrk ends at SIGINT and prints what it would have printed."""
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    if process.returncode != 0:
        server.fail(f"wrk ended with status {process.returncode}: {output}")
    figures = json.loads(output.splitlines()[-1])
    rate = figures["requests"] / figures["seconds"]
    found = Load(server.name, rate, *(figures[name] for name in ("p50", "p99", "refused", "failed")))
    if figures["requests"] == 0 or found.refused or found.failed:
        server.fail(
            f"of {figures['requests']} requests {found.refused} were refused and {found.failed} failed"
        )
    return found


# The measurement


@dataclass(frozen=True)
class Figure:
    kind: str
    with_open_transaction: bool
    changes: int
    p50: float  # milliseconds
    p99: float  # milliseconds
    slowest: float  # milliseconds

    @classmethod
    def of(cls, kind: str, with_open_transaction: bool, times: list[float]) -> "Figure":
        ranked = sorted(times)

        def percentile(percent: int) -> float:
            return ranked[math.ceil(len(ranked) * percent / 100) - 1]

        return cls(kind, with_open_transaction, len(ranked), percentile(50), percentile(99), ranked[-1])


async def measure_changes(
    administration: Administration, nodes: list[Node], changes: Iterator[Change]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    generator = random.Random(SEED)
    for change in changes:
        # At a random point between two reads of a node.
        await asyncio.sleep(generator.uniform(0, LONGEST_PAUSE))
        await asyncio.to_thread(require_hidden, nodes, change)
        committed = await administration.commit(change)
        taken = await time_until_visible(nodes, change, committed)
        times.setdefault(change.kind, []).append(taken)
    return times | {ALL: [taken for kind in times.values() for taken in kind]}


async def measure(
    nodes: list[Node], places: list[Place], keys: Keys, options: argparse.Namespace
) -> list[Figure]:
    # Only the open transaction moves this location: its row is locked.
    reserved, *others = places
    count = options.changes
    async with Administration.connect() as administration, Administration.connect() as other:
        say(f"{count} changes, one after the other")
        times = await measure_changes(administration, nodes, make_changes(others, keys, range(count)))
        figures = [Figure.of(kind, False, taken) for kind, taken in times.items()]

        say(f"{count} changes while a transaction that has written is open")
        late = move(reserved, 12.345678, keys.load, LATE)
        async with other.connection.transaction():
            await other.execute(late)
            changes = make_changes(others, keys, range(count, 2 * count))
            times = await measure_changes(administration, nodes, changes)
            await asyncio.to_thread(require_hidden, nodes, late)
        committed = time.monotonic()
        times[LATE] = [await time_until_visible(nodes, late, committed)]
        return figures + [Figure.of(kind, True, taken) for kind, taken in times.items()]


def prepare(options: argparse.Namespace, places: list[Place]) -> Keys:
    def key(tenant: str) -> str:
        created = doorstep(options, "key", "create", "--tenant", tenant, "--kind", "publishable")
        return json.loads(created)["key"]

    say(f"importing {len(places):,} places")
    own = import_catalogue(options, places)
    doorstep(options, "tenant", "create", GUEST, "--name", "Guests")
    say("making the keys that are to be revoked")
    return Keys(own, key(GUEST), [key(TENANT) for _ in range((options.changes + 1) // 2)])


# The result


def print_markdown(
    options: argparse.Namespace, facts: dict[str, str], figures: list[Figure], loads: list[Load]
) -> None:
    print_facts(facts)
    print(
        f"- {options.places:,} places, two nodes, wrk with {CONNECTIONS} connections that are kept alive on"
        " each\n"
    )
    print("| change | a transaction open | changes | p50 ms | p99 ms | slowest ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for one in figures:
        spread = f"{one.p50:.0f} | {one.p99:.0f} | {one.slowest:.0f}"
        print(f"| {one.kind} | {'yes' if one.with_open_transaction else 'no'} | {one.changes} | {spread} |")
    print("\n| load | requests/s | p50 ms | p99 ms | refused | failed |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for one in loads:
        latencies = f"{one.p50:.2f} | {one.p99:.2f}"
        print(f"| {one.node} | {one.requests_per_second:,.0f} | {latencies} | {one.refused} | {one.failed} |")
    print("\n| p99 of all changes on every node | measured | goal | |")
    print("| --- | ---: | ---: | --- |")
    for one in (figure for figure in figures if figure.kind == ALL):
        name = "while a transaction is open" if one.with_open_transaction else "no other transaction"
        print(f"| {name} | {one.p99:.0f} ms | ≤ {GOAL:,} ms | {'met' if one.p99 <= GOAL else 'missed'} |")


def print_json(
    options: argparse.Namespace, facts: dict[str, str], figures: list[Figure], loads: list[Load]
) -> None:
    settings = {"places": options.places, "changes": options.changes, "connections": CONNECTIONS}
    document = {"circumstances": facts, "settings": settings, "goal": {"p99": GOAL}}
    document["met"] = all(figure.p99 <= GOAL for figure in figures if figure.kind == ALL)
    document |= {"changes": [asdict(one) for one in figures], "load": [asdict(one) for one in loads]}
    print(json.dumps(document, ensure_ascii=False, indent=2))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="freshness.py", description=__doc__)
    for name in ("doorstep", "wrk", "libraries"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("places", "changes"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--format", choices=("markdown", "json"), required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    return parser.parse_args()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    options = parse_arguments()
    places = make_places(options.places)
    keys = prepare(options, places)
    facts = circumstances(options.doorstep)
    facts["PostgreSQL"] = asyncio.run(settle_database())

    exchanges = [lookup(place, invocation) for place, invocation in choose_invocations(places)]
    requests = options.scratch / "lookups"
    write_requests(requests, exchanges)
    with contextlib.ExitStack() as stack:
        servers = []
        for number, port in enumerate(free_ports(2), start=1):
            command = serve_command(options.doorstep, port)
            node = Server.run(f"node {number}", port, command, options.scratch, os.environ)
            servers.append(stack.enter_context(node))
        for server in servers:
            server.wait_until_answering(exchanges[0].path, keys.load, is_secure=False)
        targets = [Target(server.name, server, exchanges, requests) for server in servers]
        under_load = [stack.enter_context(load_on(one, keys.load, options)) for one in targets]
        figures = asyncio.run(measure([Node(server) for server in servers], places, keys, options))
        loads = [end_load(*one) for one in zip(servers, under_load)]
    facts["load after"] = load()

    print_result = print_json if options.format == "json" else print_markdown
    print_result(options, facts, figures, loads)


if __name__ == "__main__":
    main()
