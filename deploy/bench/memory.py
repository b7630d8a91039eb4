"""Memory in MiB and descriptors of a process, from /proc."""

import pathlib
import re


def now(process):
    return of_status(process, "VmRSS")


def most(process):
    """The peak since the start of the process, or since the last reset."""
    return of_status(process, "VmHWM")


def forget_most(process):
    pathlib.Path(f"/proc/{process}/clear_refs").write_text("5")


def descriptors(process):
    return sum(1 for _ in pathlib.Path(f"/proc/{process}/fd").iterdir())


def of_status(process, name):
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)[1]) / 1024
