"""What every measurement says of itself: its progress, and under which circumstances it was made."""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def fail(problem: str) -> None:
    sys.exit(f"{sys.argv[0]}: {problem}")


def output_of(*command: str, environment: dict[str, str] | None = None) -> str:
    """What a command prints to either stream, whatever its status."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False
    )
    return done.stdout.strip()


def first_match(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else "unknown"


def load() -> str:
    """How many processes were running or ready to run, in the last minute, 5 minutes and 15 minutes."""
    return " ".join(f"{average:.2f}" for average in os.getloadavg())


def revision_of(binary: str) -> str:
    """That of the checkout in which the binary was built, if it is still there."""
    command = [pathlib.Path(__file__).parents[2] / "revision", pathlib.Path(binary).parent]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"revision {done.stdout.strip()}" if done.returncode == 0 else "a binary that was given"


def circumstances(doorstep: str) -> dict[str, str]:
    version = output_of(doorstep, "--version")
    # Only the command reports its version.
    described = [version] if re.fullmatch(r"\d\S*", version) else []
    machine = output_of("lscpu", environment=os.environ | {"LC_ALL": "C"})
    memory = int(first_match(r"^MemTotal:\s+(\d+) kB$", pathlib.Path("/proc/meminfo").read_text())) / 1024**2
    return {
        "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
        "Doorstep": ", ".join([*described, revision_of(doorstep)]),
        "machine": f"{first_match(r'^Model name:(.*)$', machine)}, {os.cpu_count()} cores, {memory:.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "load before": load(),
    }


def print_facts(facts: dict[str, str]) -> None:
    for name, value in facts.items():
        print(f"- {name}: {value}")


if __name__ == "__main__":
    print_facts(circumstances(sys.argv[1]))
