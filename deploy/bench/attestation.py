"""Counts the instructions of a look-up by valgrind's callgrind, of two servers whose clips ask for no attestation, and how many of
them are attestation's.

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

# Where all of it stands that was written for App Attest, but for a line in each that asks it.
OWN = re.compile(r"/Sources/.*(/AppAttest/|/Attestation/|\+Attestation\.swift)")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Lookups:
    """Look-ups one after the other on a connection that is kept."""

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
                sys.exit(f"attestation: a look-up was answered {head.splitlines()[0].decode()}")
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


def instructions(binary, data, key, scratch, count):
    """Of one look-up, by a server of its own under callgrind; what it does by itself meanwhile is in it. And of these, attestation's."""
    port = free_port()
    out = scratch / f"callgrind.{port}"
    # No limit stands in the way of many from one client.
    command = [
        "valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}", binary, "serve",
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
        lookups.ask(min(500, count))
        control("on", server.pid)
        lookups.ask(count)
        control("off", server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=300)
    profile = out.read_text()
    total = re.search(r"^(?:summary|totals): (\d+)", profile, re.MULTILINE)
    return int(total[1]) / count, own(profile) / count


def own(profile):
    """The instructions of lines in attestation's files, also where they are inlined elsewhere, and of what they call.

    Source: valgrind's manual, "Callgrind Format Specification".
    """
    names, total, file, callee, is_call = {}, 0, "", "", False

    def name(text):
        # Once with its number, from then on by that alone.
        number, _, rest = text.partition(" ")
        return names.setdefault(number, rest) if number.startswith("(") else text

    for line in profile.splitlines():
        key, equals, value = line.partition("=")
        if equals and key in ("fl", "fi", "fe", "cfl", "cfi"):
            value = name(value)
            if key in ("cfl", "cfi"):
                callee = value
            else:
                file = value
        elif line.startswith("calls="):
            # Where no other file is named, it is in this one. The next line is what the call took.
            callee, is_call = callee or file, True
        elif line[:1] in ("+", "-", "*") or line[:1].isdigit():
            if OWN.search(file) and not (is_call and OWN.search(callee)):
                total += int(line.split()[1]) if len(line.split()) > 1 else 0
            callee, is_call = "", False
    return total


def control(state, pid):
    subprocess.run(["callgrind_control", "-i", state, str(pid)], check=True, capture_output=True)


def main():
    before, after, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    count, rounds = int(sys.argv[4]), int(sys.argv[5])
    names = {"before": before, "now": after}
    keys = {name: prepare(binary, str(scratch / name / "postgres")) for name, binary in names.items()}
    counts, owns = {name: [] for name in names}, []
    # Turn by turn, so that both meet the same machine.
    for _ in range(rounds):
        for name, binary in names.items():
            total, part = instructions(binary, str(scratch / name / "postgres"), keys[name], scratch, count)
            counts[name].append(total)
            if name == "now":
                owns.append(part)
    print(f"Instructions of a look-up over HTTP where no clip asks for attestation (callgrind, {count:,} on one connection):\n")
    print("| server | " + " | ".join(f"round {n + 1}" for n in range(rounds)) + " | median |")
    print("| --- |" + " ---: |" * (rounds + 1))
    counts["now, of attestation alone"] = owns
    medians = {}
    for name, values in counts.items():
        medians[name] = statistics.median(values)
        print(f"| {name} | " + " | ".join(f"{v:,.0f}" for v in [*values, medians[name]]) + " |")
    change = 100 * (medians["now"] / medians["before"] - 1)
    share = 100 * medians["now, of attestation alone"] / medians["now"]
    print(f"\nNow beside before: {change:+.2f} % (at most {LIMIT:+.0f} % is asked for). Whatever else was changed since is in it.")
    print(f"\nOf attestation alone, in the same server: {share:.2f} % of a look-up (at most {LIMIT:.0f} % is asked for).")
    if change > LIMIT or share > LIMIT:
        sys.exit(1)


if __name__ == "__main__":
    main()
