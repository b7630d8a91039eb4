"""Simulated machines: each has its own networks, small disk and clock, and runs etcd, Patroni and PostgreSQL."""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request

from backup import REPOSITORY, find_binaries
from installation import Failure, kill

# The servers reach PostgreSQL over the first network, and the nodes each other over the second.
CLIENTS, MEMBERS = "clients", "members"
SUBNETS = {CLIENTS: "10.77.0", MEMBERS: "10.78.0"}
DISK = "1g"
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
# The needed programs, and their Debian packages.
PROGRAMS = {"etcd": "etcd-server", "patroni": "patroni", "pgbouncer": "pgbouncer", "haproxy": "haproxy", "ip": "iproute2",
            "unshare": "util-linux", "psql": "postgresql-client"}


def enclose():
    """Starts this program again in new namespaces for networks and mounts, which end with it."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if not pathlib.Path(FAKETIME).exists():
        missing.append("faketime")
    if missing:
        sys.exit(f"cluster: install {' '.join(missing)}")
    if os.geteuid() != 0:
        sys.exit("cluster: only root may make network namespaces and small file systems")
    if os.environ.pop("DOORSTEP_ENCLOSED", None) is None:
        os.execvpe("unshare", ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, *sys.argv],
                   os.environ | {"DOORSTEP_ENCLOSED": "1"})
    # `ip` stores its namespaces in the first, PostgreSQL its shared memory in the second.
    for folder in ("/run", "/dev/shm"):
        order("mount", "-t", "tmpfs", "tmpfs", folder)


def order(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


def make_networks():
    order("ip", "link", "set", "lo", "up")
    for network in SUBNETS:
        order("ip", "link", "add", network, "type", "bridge", "forward_delay", "0")
        order("ip", "link", "set", network, "up")
    order("ip", "address", "add", f"{SUBNETS[CLIENTS]}.1/24", "dev", CLIENTS)


class Process:
    """A program that is started again whenever it ends, except while its machine is down."""

    def __init__(self, log, *words, **environment):
        self.log, self.words, self.environment = log, [str(word) for word in words], os.environ | environment
        self.process, self.starts, self.is_wanted, self.down_until = None, 0, True, 0
        self.start()

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment, cwd=self.log.parent,
                start_new_session=True)
        self.starts += 1

    def look_after(self):
        if self.process.poll() is not None and self.is_wanted and time.monotonic() > self.down_until:
            self.start()

    def end(self):
        self.is_wanted = False
        kill(self.process.pid)
        self.process.wait()


def as_postgres(*words):
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", *words]


def own(path):
    entry = pwd.getpwnam("postgres")
    os.chown(path, entry.pw_uid, entry.pw_gid)


class Node:
    def __init__(self, number, scratch):
        self.number, self.name = number, f"node{number}"
        self.directory = scratch / self.name
        self.disk, self.clock = self.directory / "disk", self.directory / "clock"
        self.logs = scratch / f"{self.name}-logs"
        self.latest, self.is_watched = {}, True
        self.etcd = self.patroni = None
        for folder, size in ((self.directory, "512m"), (self.disk, DISK)):
            folder.mkdir()
            order("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
            own(folder)
            folder.chmod(0o755)
        self.logs.mkdir()
        self.set_clock(0)
        self.join_networks()

    def address(self, network):
        return f"{SUBNETS[network]}.{10 + self.number}"

    def port(self, network):
        """The interface of its cable at the switch."""
        return f"{network}{self.number}"

    def join_networks(self):
        order("ip", "netns", "add", self.name)
        order("ip", "-n", self.name, "link", "set", "lo", "up")
        for network in SUBNETS:
            order("ip", "link", "add", self.port(network), "type", "veth", "peer", "name", network, "netns", self.name)
            order("ip", "-n", self.name, "address", "add", f"{self.address(network)}/24", "dev", network)
            order("ip", "-n", self.name, "link", "set", network, "up")
            order("ip", "link", "set", self.port(network), "up", "master", network)

    def start(self, nodes, passwords, is_synchronous, api):
        members, clients = self.address(MEMBERS), self.address(CLIENTS)
        peers = ",".join(f"{node.name}=http://{node.address(MEMBERS)}:2380" for node in nodes)
        inside = ["nsenter", f"--net=/run/netns/{self.name}", *as_postgres()]
        self.etcd = Process(
            self.logs / "etcd.log", *inside, "etcd", "--name", self.name, "--data-dir", self.directory / "etcd",
            "--listen-client-urls", f"http://{members}:2379", "--advertise-client-urls", f"http://{members}:2379",
            "--listen-peer-urls", f"http://{members}:2380", "--initial-advertise-peer-urls", f"http://{members}:2380",
            "--initial-cluster", peers,
            # With this API, Patroni 3.0.2 of Debian 12 holds the leader's key safely; with the other it overwrites another's
            # [observed; corrected in 3.0.3].
            "--enable-v2",
            # A busy machine must not cause an election.
            "--heartbeat-interval", "250", "--election-timeout", "2500")
        self.make_programs()
        settings = self.directory / "patroni.yml"
        # YAML, of which JSON is a part.
        settings.write_text(json.dumps(self.settings(nodes, passwords, is_synchronous, api), indent=1))
        self.patroni = Process(
            self.logs / "patroni.log", *inside, "env", f"PYTHONPATH={self.directory}", f"NODE_CLOCK={self.clock}", "patroni",
            settings)
        threading.Thread(target=self.watch, args=(f"http://{clients}:8008/patroni",), daemon=True).start()

    def make_programs(self):
        """The configuration of PostgreSQL, which uses the node's clock, and of Patroni."""
        programs = self.directory / "bin"
        programs.mkdir()
        for program in pathlib.Path(find_binaries()).iterdir():
            (programs / program.name).symlink_to(program)
        server = programs / "postgres"
        original = server.readlink()
        server.unlink()
        server.write_text(
            f"#!/bin/sh\nexport LD_PRELOAD={FAKETIME} FAKETIME_TIMESTAMP_FILE={self.clock} FAKETIME_CACHE_DURATION=1"
            f" FAKETIME_DONT_FAKE_MONOTONIC=1\nexec {original} \"$@\"\n")
        server.chmod(0o755)
        shutil.copy(REPOSITORY / "deploy/drills/clock/sitecustomize.py", self.directory)

    def settings(self, nodes, passwords, is_synchronous, api):
        members = self.address(MEMBERS)
        login = {name: {"username": user, "password": passwords[user]} for name, user in (
            ("superuser", "postgres"), ("replication", "replicator"), ("rewind", "postgres"))}
        return {
            "scope": "doorstep", "name": self.name,
            "restapi": {"listen": "0.0.0.0:8008", "connect_address": f"{members}:8008"},
            api: {"hosts": [f"{node.address(MEMBERS)}:2379" for node in nodes]},
            "bootstrap": {
                "dcs": {
                    "ttl": 15, "loop_wait": 2, "retry_timeout": 5, "synchronous_mode": is_synchronous,
                    # After a crash of the primary, a standby takes over at once, without waiting for its recovery.
                    "primary_start_timeout": 0, "master_start_timeout": 0,
                    "postgresql": {
                        "use_pg_rewind": True, "use_slots": False,
                        "parameters": {
                            "max_connections": 100, "timezone": "UTC", "shared_buffers": "64MB", "wal_log_hints": "on",
                            "max_wal_size": "128MB", "min_wal_size": "80MB", "wal_keep_size": "256MB",
                            # Maximum time that an unresponsive standby delays a commit.
                            "wal_sender_timeout": "5s", "wal_receiver_timeout": "5s"}}},
                # Each promotion begins a segment, and wal_keep_size keeps the segments of all timelines, so they are small.
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, {"wal-segsize": "1"}, "data-checksums"]},
            "postgresql": {
                "listen": "0.0.0.0:5432", "connect_address": f"{members}:5432", "data_dir": str(self.disk / "data"),
                "bin_dir": str(self.directory / "bin"), "authentication": login, "pgpass": str(self.directory / "pgpass"),
                "remove_data_directory_on_rewind_failure": True, "remove_data_directory_on_diverged_timelines": True,
                "use_unix_socket": True, "pg_hba": [
                    "local all all trust", "local replication all trust", "host replication all 127.0.0.1/32 scram-sha-256", *(
                    f"host {database} all {subnet}.0/24 scram-sha-256"
                    for database in ("all", "replication") for subnet in SUBNETS.values())],
                "parameters": {"unix_socket_directories": str(self.directory)}}}

    # Its state

    def watch(self, url):
        while self.is_watched:
            state = {}
            with contextlib.suppress(OSError, ValueError):
                with urllib.request.urlopen(url, timeout=1) as answer:
                    state = json.load(answer)
            self.latest = state
            time.sleep(0.15)

    @property
    def reign(self):
        """The node, and the time since when it has been the primary; nothing if it is not."""
        state = self.latest
        if state.get("role") in ("master", "primary") and state.get("state") == "running" and "timeline" in state:
            return self.name, state["timeline"], state.get("postmaster_start_time")
        return None

    @property
    def is_synchronous_standby(self):
        return bool(self.latest.get("sync_standby"))

    @property
    def is_well(self):
        return self.latest.get("state") in ("running", "streaming")

    # Faults

    def processes(self, program=None):
        """All processes of the node, or those of one program."""
        network, found = os.stat(f"/run/netns/{self.name}").st_ino, []
        for entry in pathlib.Path("/proc").iterdir():
            # Some processes end meanwhile.
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and os.stat(entry / "ns/net").st_ino == network and (
                        program is None or os.readlink(entry / "exe").endswith(f"/{program}")):
                    found.append(int(entry.name))
        return found

    def running(self, program):
        """State, kernel wait and title of each process."""
        found = []
        for process in self.processes(program):
            with contextlib.suppress(OSError):
                entry = pathlib.Path(f"/proc/{process}")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                found.append(f"{process} {state} {(entry / 'wchan').read_text()} {words}")
        return found

    def crash(self, seconds_down):
        """Turns the node off, and on again."""
        for process in (self.etcd, self.patroni):
            process.down_until = time.monotonic() + seconds_down
        # Some processes may start others meanwhile.
        while processes := self.processes():
            kill(*processes)

    def signal(self, number):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def freeze(self):
        self.signal(signal.SIGSTOP)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def cut_off(self, *networks):
        for network in networks:
            order("ip", "link", "set", self.port(network), "nomaster")

    def connect(self):
        for network in SUBNETS:
            order("ip", "link", "set", self.port(network), "master", network)

    def fill_disk(self):
        """Fills the disk to the last page."""
        with open(self.disk / "ballast", "wb") as ballast:
            place, size = 0, os.statvfs(self.disk).f_bavail * os.statvfs(self.disk).f_frsize
            while size >= 4096:
                try:
                    os.posix_fallocate(ballast.fileno(), place, size)
                    place += size
                except OSError:
                    # Another process used some of the space.
                    size //= 2

    def free_disk(self):
        (self.disk / "ballast").unlink(missing_ok=True)

    def set_clock(self, seconds):
        """Sets the clock this number of seconds ahead or behind. Running programs read it within a second."""
        new = self.directory / "clock.new"
        new.write_text(f"{seconds:+d}\n")
        new.rename(self.clock)

    def close(self):
        self.is_watched = False
        for process in (self.etcd, self.patroni):
            if process:
                process.is_wanted = False
        # Also PostgreSQL, which runs longer than Patroni.
        kill(*self.processes())
