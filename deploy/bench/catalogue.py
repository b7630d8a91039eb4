"""Imports a catalogue of airports into a running Doorstep and checks every answer about each of them.

Started by the command `catalogue`, which starts the server. Ends with status 1 when any answer is not
exactly what the data and the geodesic of GeographicLib say.
"""

import argparse
import csv
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import unicodedata
import urllib.parse
from dataclasses import dataclass

import airportsdata
from geographiclib.geodesic import Geodesic

MINIMUM_PLACES = 25_000
SEED = 20260101
THREADS = 8
REQUEST_TIMEOUT = 10  # seconds
SHOWN_MISMATCHES = 20

HOST = "https://airports.example.com"
RADII = (100, 200, 300, 400, 500)  # metres, by turns
ACCURACY = 12  # metres, of every coordinate that is confirmed
NAME_LENGTH = 128


@dataclass(frozen=True)
class Place:
    identifier: str
    name: str
    latitude: float
    longitude: float
    radius: int
    metadata: dict

    @property
    def component(self):
        """The identifier as a path component."""
        return urllib.parse.quote(self.identifier, safe="")

    @property
    def gate(self):
        """The URL of the experience that is bound to this place."""
        return f"{HOST}/gate/{self.component}"

    @property
    def json(self):
        """The place as every answer shows it."""
        center = {"latitude": self.latitude, "longitude": self.longitude}
        return {
            "identifier": self.identifier,
            "name": self.name,
            "region": {"center": center, "radius": self.radius, "identifier": self.identifier},
        }


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    body: bytes | None
    expected: dict


@dataclass(frozen=True)
class Measurement:
    kind: str
    requests: int
    mismatches: list
    seconds: float
    latencies: list  # seconds, ascending
    server_seconds: float  # of processor time

    def percentile(self, percent):
        return self.latencies[min(len(self.latencies) - 1, len(self.latencies) * percent // 100)]


# The catalogue


def read_places(limit):
    """The airports that the rules of a location allow, and why each of the others is left out."""
    airports = sorted(airportsdata.load("ICAO").items())
    if limit is not None:
        airports = airports[:: max(1, len(airports) // limit)][:limit]
    places, left_out = [], []
    for number, (identifier, airport) in enumerate(airports):
        place = Place(
            identifier=identifier,
            name=airport["name"][:NAME_LENGTH],
            latitude=airport["lat"],
            longitude=airport["lon"],
            radius=RADII[number % len(RADII)],
            metadata={column: airport[column] for column in ("city", "country", "tz")},
        )
        problem = violation(place)
        if problem is None:
            places.append(place)
        else:
            left_out.append(f"{identifier}: {problem}")
    return places, left_out


def violation(place):
    """Which rule of a location a place violates, if any."""
    for column, text in (("identifier", place.identifier), ("name", place.name)):
        if not 1 <= len(text) <= 128:
            return f"{column} of {len(text)} characters"
        if any(unicodedata.category(character) == "Cc" for character in text):
            return f"control character in {column}"
    if not -90 <= place.latitude <= 90:
        return f"latitude {place.latitude}"
    if not -180 <= place.longitude <= 180:
        return f"longitude {place.longitude}"
    return None


def write_locations(path, places):
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["identifier", "name", "latitude", "longitude", "radius", "city", "country", "tz"])
        for place in places:
            rows.writerow(
                [place.identifier, place.name, place.latitude, place.longitude, place.radius]
                + list(place.metadata.values())
            )


def write_experiences(path, places, clip):
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["clip", "url", "location", "identifier_rule"])
        rows.writerow([clip, f"{HOST}/at", "", "path:1"])
        for place in places:
            rows.writerow([clip, place.gate, place.identifier, ""])


def import_file(options, subject, path, expected):
    """Imports a file and holds the counts to what they must be. Gives the seconds it took."""
    start = time.perf_counter()
    command = [options.doorstep, subject, "import", "--tenant", options.tenant, "--format", "json"]
    done = subprocess.run(
        command + ["--embedded-postgres", options.postgres, str(path)], stdout=subprocess.PIPE, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"catalogue: doorstep {subject} import ended with status {done.returncode}")
    counts = json.loads(done.stdout)
    if counts != expected:
        sys.exit(f"catalogue: doorstep {subject} import gave {counts}, not {expected}")
    return seconds


def import_twice(options, subject, path, rows):
    """Prints what the two imports took; the second must change nothing."""
    first = import_file(options, subject, path, {"added": rows, "changed": 0, "removed": 0, "unchanged": 0})
    again = import_file(options, subject, path, {"added": 0, "changed": 0, "removed": 0, "unchanged": rows})
    print(
        f"- {subject} import: {rows:,} rows added in {first:.2f} s ({rows / first:,.0f} rows/s); the same file again:"
        f" 0 added, 0 changed in {again:.2f} s",
        flush=True,
    )


# The requests with the expected responses


def lookup(place, experience, invocation, clip):
    target = "/v1/lookup?" + urllib.parse.urlencode({"url": invocation})
    answer = {
        "url": invocation,
        "experience": {"url": experience, "kind": "advanced", "clip": clip},
        "location": place.json,
    }
    return Request("GET", target, None, answer)


def lookups_by_binding(places, clip):
    return [lookup(place, place.gate, f"{place.gate}/order/1", clip) for place in places]


def lookups_by_rule(places, clip):
    experience = f"{HOST}/at"
    return [lookup(place, experience, f"{experience}/{place.component}", clip) for place in places]


def confirmations(places, distance, outcome, certain):
    """One for each place, of a coordinate in a random direction, the same for every distance.

    `distance` gives the metres from the centre for a radius.
    """
    directions = random.Random(SEED)
    requests = []
    for place in places:
        point = Geodesic.WGS84.Direct(
            place.latitude, place.longitude, directions.uniform(0, 360), distance(place.radius)
        )
        coordinate = {"latitude": point["lat2"], "longitude": point["lon2"], "horizontalAccuracy": ACCURACY}
        body = {
            "url": f"{place.gate}/order/1",
            "source": "nfc",
            "locationAccess": "allowed",
            "coordinate": coordinate,
        }
        answer = {"outcome": outcome, "certain": certain, "error": None, "location": place.json}
        requests.append(Request("POST", "/v1/confirmations", encoded(body), answer))
    return requests


def payloads(places, clip):
    requests = []
    for place in places:
        invocation = f"{place.gate}/order/1"
        aps = {"alert": {"title": place.name, "body": "Your order is ready."}, "category": "order_status"}
        body = {
            "url": invocation,
            "aps": aps,
            "custom": {"order": 1},
            "headers": {"collapseID": f"order-{place.identifier}"},
        }
        payload = {"aps": aps | {"target-content-id": invocation}, "order": 1}
        answer = {
            "payload": payload,
            "headers": {
                "apns-push-type": "alert",
                "apns-topic": clip,
                "apns-priority": "10",
                "apns-collapse-id": f"order-{place.identifier}",
            },
            "experience": {"url": place.gate, "kind": "advanced", "clip": clip},
            "size": len(encoded(payload)),
            "warnings": [],
        }
        requests.append(Request("POST", "/v1/payloads", encoded(body), answer))
    return requests


def encoded(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# Making them


def measure(kind, requests, options, key):
    """Makes the requests on `THREADS` connections that are kept alive, and checks every answer."""
    results = [([], []) for _ in range(THREADS)]
    threads = [
        threading.Thread(target=make, args=(requests[first::THREADS], options.port, key, *result))
        for first, result in enumerate(results)
    ]
    processor_start = processor_seconds(options.server)
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    server_seconds = processor_seconds(options.server) - processor_start
    latencies = sorted(latency for latencies, _ in results for latency in latencies)
    mismatches = [mismatch for _, mismatches in results for mismatch in mismatches]
    measurement = Measurement(kind, len(requests), mismatches, seconds, latencies, server_seconds)
    report(measurement)
    return measurement


def make(requests, port, key, latencies, mismatches):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REQUEST_TIMEOUT)
    for request in requests:
        start = time.perf_counter()
        try:
            connection.request(request.method, request.target, request.body, headers)
            response = connection.getresponse()
            status, answer = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            status, answer = None, repr(error).encode()
        latencies.append(time.perf_counter() - start)
        if status != 200 or json.loads(answer) != request.expected:
            sent = (request.body or b"").decode()
            mismatches.append(
                f"{request.method} {request.target} {sent}\n"
                f"  answered {status} {answer.decode()}\n"
                f"  expected 200 {encoded(request.expected).decode()}"
            )
    connection.close()


def report(measurement):
    milliseconds = [measurement.percentile(percent) * 1_000 for percent in (50, 99)]
    print(
        f"| {measurement.kind} | {measurement.requests:,} | {len(measurement.mismatches):,}"
        f" | {measurement.requests / measurement.seconds:,.0f}"
        f" | {milliseconds[0]:.2f} | {milliseconds[1]:.2f}"
        f" | {measurement.server_seconds / measurement.requests * 1_000:.2f} |",
        flush=True,
    )
    for mismatch in measurement.mismatches[:SHOWN_MISMATCHES]:
        print(mismatch, file=sys.stderr)


def run_requests(places, options, key):
    """Prints a line for each kind of request. Gives how many were made, and how many answers were wrong."""
    kinds = {
        "lookup, bound to its place": lambda: lookups_by_binding(places, options.clip),
        "lookup, identifier rule path:1": lambda: lookups_by_rule(places, options.clip),
        "confirmation, half the radius": lambda: confirmations(places, lambda r: r / 2, "inRegion", True),
        "confirmation, radius - 2 mm": lambda: confirmations(places, lambda r: r - 0.002, "inRegion", False),
        "confirmation, radius + 2 mm": lambda: confirmations(
            places, lambda r: r + 0.002, "notInRegion", False
        ),
        "confirmation, radius + 50 m": lambda: confirmations(places, lambda r: r + 50, "notInRegion", True),
        "payload": lambda: payloads(places, options.clip),
    }
    print("\n| | requests | mismatches | requests/s | p50 ms | p99 ms | CPU ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    measurements = [measure(kind, requests(), options, key) for kind, requests in kinds.items()]
    return sum(one.requests for one in measurements), sum(len(one.mismatches) for one in measurements)


# The costs


def field(path, name):
    """The value of a line `name: value` of a file of /proc."""
    for line in pathlib.Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def kibibytes(path, name):
    return int(field(path, name).removesuffix(" kB"))


def processor_seconds(process):
    """The processor time that a process has taken, in user and in system mode (proc_pid_stat(5))."""
    # The name, in parentheses, may hold spaces.
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="catalogue.py", description=__doc__)
    parser.add_argument("--limit", type=int)
    for name in ("doorstep", "postgres", "tenant", "clip", "key-file", "scratch"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("port", "server"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return parser.parse_args()


def main():
    options = parse_arguments()
    key = json.loads(pathlib.Path(options.key_file).read_text())["key"]
    scratch = pathlib.Path(options.scratch)
    start = time.perf_counter()

    places, left_out = read_places(options.limit)
    if options.limit is None and len(places) < MINIMUM_PLACES:
        sys.exit(f"catalogue: only {len(places)} places, not {MINIMUM_PLACES}")
    print(f"- {len(places):,} places, {len(left_out):,} left out as against the rules")
    for line in left_out:
        print(f"  - {line}")

    write_locations(scratch / "locations.csv", places)
    write_experiences(scratch / "experiences.csv", places, options.clip)
    import_twice(options, "location", scratch / "locations.csv", len(places))
    import_twice(options, "experience", scratch / "experiences.csv", len(places) + 1)
    requests, mismatches = run_requests(places, options, key)

    status = f"/proc/{options.server}/status"
    memory, peak = (kibibytes(status, name) / 1024 for name in ("VmRSS", "VmHWM"))
    print(f"\n- {mismatches:,} of {requests:,} answers were wrong")
    print(f"- the server's memory: {memory:,.0f} MiB, at most {peak:,.0f} MiB")
    print(f"- {time.perf_counter() - start:,.0f} s in all")
    sys.exit(1 if mismatches else 0)


if __name__ == "__main__":
    main()
