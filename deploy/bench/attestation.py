"""Counts the instructions of a lookup by valgrind's callgrind, of two servers whose clips ask for no attestation.

usage: attestation.py BEFORE AFTER SCRATCH LOOKUPS ROUNDS
"""

import json
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import time

TENANT = "restaurants"
URL = "https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_a%2Forder%2F1234"
LIMIT = 1.0  # per cent
# Before the count, so that a server's one-time work is done.
FIRST = 500

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Lookups:
    """Lookups one after the other on a connection that is kept."""

    def __init__(self, port, key):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=300)
        self.request = (
            f"GET /v1/lookup?url={URL} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n"
        ).encode()

    def ask(self, count):
        for _ in range(count):
            self.connection.sendall(self.request)
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += self.connection.recv(65_536)
            head, body = answer.split(b"\r\n\r\n", 1)
            if not head.startswith(b"HTTP/1.1 200"):
                sys.exit(f"attestation: a lookup was answered {head.splitlines()[0].decode()}")
            length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
            while len(body) < length:
                body += self.connection.recv(65_536)


def prepare(binary, data):
    """A database of its own, since each version has its own schema; returns the key."""
    def run(*arguments, text=None):
        done = subprocess.run(
            [binary, *arguments, "--embedded-postgres", data], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"attestation: {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    run("tenant", "create", TENANT, "--name", "Restaurants")
    run("clip", "create", "--tenant", TENANT, "--team-id", "ABCDE12345", "--bundle-id", "com.example.MyApp.Clip")
    run("location", "import", "--tenant", TENANT, "-", text=
        "identifier,name,latitude,longitude,radius\nrestaurant_a,Restaurant A,37.334722,-122.008889,100\n")
    run("experience", "create", "--tenant", TENANT, "--clip", "com.example.MyApp.Clip", "--url",
        "https://example.com/restaurants/restaurant_a", "--location", "restaurant_a")
    made = run("key", "create", "--tenant", TENANT, "--kind", "publishable", "--format", "json")
    return json.loads(made)["key"]


def stripped(binary, scratch, name):
    """Valgrind gives up on what the compiler says for debuggers."""
    path = scratch / f"doorstep-{name}"
    subprocess.run(["strip", "--strip-debug", "-o", path, binary], check=True)
    return path


def instructions(binary, data, key, scratch, count):
    """All of a server's own under callgrind, from its start to its end, of which so many lookups are a part."""
    port = free_port()
    out = scratch / f"callgrind.{port}"
    # No limits, because all requests come from one client.
    command = [
        "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", binary, "serve",
        "--embedded-postgres", data, "--port", str(port), "--client-limit", "off", "--key-limit", "off",
    ]
    log = open(scratch / "serve.log", "ab")
    server = subprocess.Popen(command, stdout=log, stderr=log, cwd=scratch)
    try:
        deadline = time.monotonic() + 300
        while True:
            try:
                lookups = Lookups(port, key)
                break
            except OSError:
                if time.monotonic() > deadline or server.poll() is not None:
                    sys.exit("attestation: the server did not start: " + (scratch / "serve.log").read_text()[-2_000:])
                time.sleep(0.5)
        lookups.ask(count)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=300)
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)[1])


def main():
    before, after, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    count, rounds = int(sys.argv[4]), int(sys.argv[5])
    names = {name: stripped(path, scratch, name) for name, path in (("before", before), ("now", after))}
    keys = {name: prepare(binary, str(scratch / name / "postgres")) for name, binary in names.items()}
    counts = {name: [] for name in names}
    # Turn by turn, so that both meet the same machine.
    for _ in range(rounds):
        for name, binary in names.items():
            data = str(scratch / name / "postgres")
            few, many = (
                instructions(binary, data, keys[name], scratch, number) for number in (FIRST, FIRST + count))
            counts[name].append((many - few) / count)
    print(f"Instructions of a lookup over HTTP where no clip asks for attestation (callgrind, {count:,} on one connection):\n")
    print("| server | " + " | ".join(f"round {n + 1}" for n in range(rounds)) + " | median |")
    print("| --- |" + " ---: |" * (rounds + 1))
    medians = {name: statistics.median(values) for name, values in counts.items()}
    for name, values in counts.items():
        print(f"| {name} | " + " | ".join(f"{v:,.0f}" for v in [*values, medians[name]]) + " |")
    change = 100 * (medians["now"] / medians["before"] - 1)
    print(f"\nNow beside before: {change:+.2f} % (at most {LIMIT:+.0f} % is asked for). Whatever else was changed since is in it.")
    if change > LIMIT:
        sys.exit(1)


if __name__ == "__main__":
    main()
