"""Many writers change few locations over HTTP, each with the ETag that it read (If-Match). Counts lost changes.

Each change adds one to a number in a location's metadata; in the end the numbers are together as many as the changes that
were answered. Started by the command `writers`, with DATABASE_URL naming a private PostgreSQL that is empty. Progress goes to
standard error, the result to standard output. Ends with status 1 when a change is lost, or when something is answered that
should not be.
"""

import argparse
import collections
import http.client
import json
import random
import socket
import subprocess
import threading
import time
from dataclasses import asdict, dataclass

from reporting import circumstances, fail, print_facts, say

TENANT = "places"
# Limits for all writers together, so that none is refused.
LIMIT = "1000000:1000000"


@dataclass(frozen=True)
class Result:
    writers: int
    locations: int
    seconds: float
    changed: int
    refused: int
    unavailable: int
    counted: int


class Server:
    """`doorstep serve` on a port of its own, with a key that manages the tenant."""

    def __init__(self, doorstep: str) -> None:
        subprocess.run([doorstep, "migrate"], stdout=subprocess.DEVNULL, check=True)
        create = [doorstep, "tenant", "create", TENANT, "--name", "Places"]
        subprocess.run(create, stdout=subprocess.DEVNULL, check=True)
        key = [doorstep, "key", "create", "--tenant", TENANT, "--kind", "secret", "--scope", "read", "--scope", "manage"]
        made = subprocess.run(key, stdout=subprocess.PIPE, check=True)
        self.headers = {"Authorization": "Bearer " + json.loads(made.stdout)["key"]}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [doorstep, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--key-limit", LIMIT]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not self.is_ready():
            if time.monotonic() > deadline or self.process.poll() is not None:
                fail("the server did not start")
            time.sleep(0.05)

    def is_ready(self) -> bool:
        try:
            connection = self.connect()
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def ask(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: object = None, **fields: str
    ) -> tuple[int, dict, str | None]:
        """The status, the body and its ETag."""
        content = {"PUT": "application/json", "PATCH": "application/merge-patch+json"}.get(method)
        headers = self.headers | fields | ({"Content-Type": content} if content else {})
        connection.request(method, path, body=json.dumps(body) if content else None, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers["ETag"]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def path(location: int) -> str:
    return f"/v1/locations/place-{location}"


def count_of(location: dict) -> int:
    return int(location["metadata"]["count"])


def write(server: Server, number: int, locations: int, end: float) -> collections.Counter:
    """Changes random locations until the end; returns the number of responses by status."""
    choose = random.Random(number)
    connection = server.connect()
    answers: collections.Counter = collections.Counter()
    while time.monotonic() < end:
        place = path(choose.randrange(locations))
        status, location, tag = server.ask(connection, "GET", place)
        if status == 200:
            change = {"metadata": {"count": str(count_of(location) + 1)}}
            status, _, _ = server.ask(connection, "PATCH", place, change, **{"If-Match": tag or ""})
            # 202: the change is stored, and lookups do not use it yet.
            status = 200 if status == 202 else status
            answers[status] += 1
        else:
            answers[status] += 1
        if status not in (200, 412, 503):
            break
    return answers


def measure(options: argparse.Namespace) -> Result:
    server = Server(options.doorstep)
    try:
        connection = server.connect()
        for location in range(options.locations):
            body = {"name": "P", "latitude": 1, "longitude": 1, "radius": 100, "metadata": {"count": "0"}}
            status, answer, _ = server.ask(connection, "PUT", path(location), body)
            if status != 201:
                fail(f"a location was answered with {status}: {answer}")
        answers: collections.Counter = collections.Counter()
        failures: list[Exception] = []
        lock = threading.Lock()
        say(f"{options.writers} writers for {options.seconds} s")
        start = time.monotonic()

        def run(number: int) -> None:
            try:
                own = write(server, number, options.locations, start + options.seconds)
            except Exception as error:  # noqa: BLE001: it is told below, whatever it is
                failures.append(error)
            else:
                with lock:
                    answers.update(own)

        writers = [threading.Thread(target=run, args=(number,)) for number in range(options.writers)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        seconds = time.monotonic() - start
        if failures:
            fail(f"{len(failures)} writers were not answered, such as: {failures[0]!r}")
        others = {status: count for status, count in answers.items() if status not in (200, 412, 503)}
        if others:
            fail(f"answers that should not be, by status: {others}")
        connection = server.connect()
        counts = [count_of(server.ask(connection, "GET", path(location))[1]) for location in range(options.locations)]
    finally:
        server.stop()
    return Result(
        options.writers, options.locations, seconds, answers[200], answers[412], answers[503], sum(counts)
    )


def print_markdown(facts: dict[str, str], result: Result) -> None:
    print_facts(facts)
    print(f"\n| {result.writers} writers, {result.locations} locations, {result.seconds:.0f} s | |")
    print("| --- | ---: |")
    for name, count in (
        ("changed (200)", result.changed),
        ("read too early (412)", result.refused),
        ("to be tried again (503)", result.unavailable),
        ("counted in the end", result.counted),
        ("changes a second", round(result.changed / result.seconds)),
    ):
        print(f"| {name} | {count:,} |")
    print("\n| | measured | goal | |")
    print("| --- | ---: | ---: | --- |")
    print(f"| changes that were lost | {result.changed - result.counted} | 0 | met |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="writers.py", description=__doc__)
    parser.add_argument("--doorstep", required=True)
    for name in ("writers", "locations", "seconds"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--format", choices=("markdown", "json"), required=True)
    options = parser.parse_args()
    facts = circumstances(options.doorstep)
    result = measure(options)
    if result.changed != result.counted or result.changed == 0:
        fail(f"of {result.changed} changes {result.counted} are there")
    if options.format == "json":
        print(json.dumps({"circumstances": facts, "result": asdict(result)}, ensure_ascii=False, indent=2))
    else:
        print_markdown(facts, result)


if __name__ == "__main__":
    main()
