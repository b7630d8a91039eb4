"""A highly available installation: three database nodes, and two servers with separate paths to the primary."""

import contextlib
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import tempfile
import time
import urllib.request

from backup import REPOSITORY
from installation import Failure, Installation, kill
from nodes import CLIENTS, Node, Process, as_postgres, make_networks, own

POOLED, DIRECT = "through PgBouncer and HAProxy", "straight to the three hosts"
WAYS = (POOLED, DIRECT)
PRIMARY_PORT, POOLER_PORT = 5000, 6432
START_LIMIT = 180


class HighlyAvailable(Installation):
    def __init__(self, binary, scratch, broken):
        super().__init__(binary, scratch)
        self.database, self.broken = [], broken
        self.passwords = {name: secrets.token_hex(16) for name in (
            "postgres", "replicator", "doorstep_migrate_login", "doorstep_admin_login", "doorstep_serve_login")}
        make_networks()
        self.nodes = [Node(number, self.scratch) for number in (1, 2, 3)]
        self.ports = dict(zip(WAYS, (8001, 8002)))
        self.port = 8000
        self.proxy = self.pooler = None
        self.servers, self.kills = {}, dict.fromkeys(WAYS, 0)

    def url(self, login, database="doorstep", host="127.0.0.1", port=PRIMARY_PORT):
        return f"host={host} port={port} user={login} password={self.passwords[login]} dbname={database}"

    # Starting

    def start_cluster(self):
        for node in self.nodes:
            node.start(self.nodes, self.passwords, is_synchronous=self.broken != "replication",
                       api="etcd3" if self.broken == "leader" else "etcd")
        self.start_proxy()
        self.conninfo, postgres = self.url("postgres"), self.url("postgres", "postgres")
        self.wait_for("whole cluster", lambda: self.whole)
        self.wait_for("way to the primary", lambda: self.psql(postgres, "-c", "SELECT").returncode == 0)
        self.psql(postgres, "-c", "CREATE DATABASE doorstep ENCODING 'UTF8' TEMPLATE template0")
        for file in ("sql/roles.sql", "deploy/postgres/create-logins.sql"):
            done = self.psql(self.conninfo, "-f", str(REPOSITORY / file), **{
                f"{name.upper()}_PASSWORD": self.passwords[f"doorstep_{name}_login"]
                for name in ("migrate", "admin", "serve")})
            if done.returncode != 0:
                raise Failure(f"{file}: {done.stderr}")
        self.environment["DATABASE_URL"] = self.url("doorstep_migrate_login")
        self.run("migrate")
        self.environment["DATABASE_URL"] = self.url("doorstep_admin_login")
        self.start_pooler()

    @staticmethod
    def psql(conninfo, *words, **environment):
        return subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", conninfo, *words], capture_output=True,
                              text=True, check=False, env=os.environ | environment | {"PGCONNECT_TIMEOUT": "5"})

    def start_proxy(self):
        nodes = "\n".join(
            f"    server {node.name} {node.address(CLIENTS)}:5432 check port 8008" for node in self.nodes)
        servers = "\n".join(f"    server server{port} 127.0.0.1:{port} check" for port in self.ports.values())
        # The database does not matter for responses from memory.
        condition = "http-request return status 503 if { nbsrv(primary) eq 0 }" if self.broken == "health" else ""
        path = self.scratch / "haproxy.cfg"
        path.write_text(f"""
defaults
    timeout connect 2s
    timeout client 10m
    timeout server 10m
    timeout check 1s
    {self.unavailable(502)}
    {self.unavailable(503)}
    {self.unavailable(504)}
listen primary
    mode tcp
    bind 127.0.0.1:{PRIMARY_PORT}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter {"20s" if self.broken == "slow" else "500ms"} fall 2 rise 1 on-marked-down shutdown-sessions
{nodes}
listen servers
    mode http
    bind 127.0.0.1:{self.port}
    {condition}
    option httpchk GET /readyz
    option redispatch 1
    retries 3
    # Of what may be done twice only.
    retry-on conn-failure empty-response
    http-request disable-l7-retry unless METH_GET
    default-server inter 200ms fall 1 rise 1
{servers}
""")
        self.proxy = Process(self.scratch / "haproxy.log", "haproxy", "-db", "-f", path)

    @staticmethod
    def unavailable(status):
        return f'http-error status {status} content-type application/json string "{{}}"'

    def start_pooler(self):
        folder = self.scratch / "pgbouncer"
        folder.mkdir()
        users, settings = folder / "users", folder / "settings"
        users.write_text(f'"doorstep_serve_login" "{self.passwords["doorstep_serve_login"]}"\n')
        settings.write_text("\n".join((
            "[databases]", f"doorstep = host=127.0.0.1 port={PRIMARY_PORT} dbname=doorstep", "[pgbouncer]",
            "pool_mode = transaction", "listen_addr = 127.0.0.1", f"listen_port = {POOLER_PORT}", "unix_socket_dir =",
            "auth_type = scram-sha-256", f"auth_file = {users}", "max_client_conn = 200", "default_pool_size = 20",
            "server_login_retry = 1", "server_connect_timeout = 3", "query_wait_timeout = 5")) + "\n")
        for path in (folder, users, settings):
            own(path)
        self.pooler = Process(folder / "log", *as_postgres("pgbouncer", settings))

    def start_servers(self):
        hosts = ",".join(node.address(CLIENTS) for node in self.nodes)
        urls = {
            POOLED: self.url("doorstep_serve_login", port=POOLER_PORT),
            DIRECT: self.url("doorstep_serve_login", host=hosts, port=5432)
            + " target_session_attrs=read-write tcp_user_timeout=3000"}
        for way, port in self.ports.items():
            self.servers[way] = Process(
                self.scratch / f"serve-{port}.log", self.binary, "serve", "--host", "127.0.0.1", "--port", port,
                "--key-limit", "off", "--client-limit", "off", "--new-instance-limit", "off", "--client-new-instance-limit",
                "off", "--outbound-allow", "127.0.0.0/8", "--table-file", self.scratch / f"table-{port}",
                **self.environment | {"DATABASE_URL": urls[way]})
        self.wait_for("two servers", lambda: all(map(self.answers, WAYS)))

    def answers(self, way):
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[way]}/readyz", timeout=5) as answer:
                return answer.status == 200
        return False

    def wait_for(self, words, condition):
        start = time.monotonic()
        while not condition():
            self.look_after()
            if time.monotonic() > start + START_LIMIT:
                raise Failure(f"there is no {words} after {START_LIMIT} s: {[node.latest for node in self.nodes]}")
            time.sleep(0.1)

    # At work

    @property
    def processes(self):
        kept = [process for node in self.nodes for process in (node.etcd, node.patroni)]
        return [process for process in (*kept, self.proxy, self.pooler, *self.servers.values()) if process]

    def look_after(self):
        for process in self.processes:
            process.look_after()

    @property
    def whole(self):
        """The primary and the synchronous standby of a complete cluster; nothing for any other."""
        primaries = [node for node in self.nodes if node.reign]
        if len(primaries) != 1 or not all(node.is_well for node in self.nodes):
            return None
        standbys = [node for node in self.nodes if node is not primaries[0] and (
            node.is_synchronous_standby or self.broken == "replication")]
        return (primaries[0], standbys[0]) if standbys else None

    def kill_one(self, way):
        self.kills[way] += 1
        kill(self.servers[way].process.pid)

    def log_tail(self):
        """Prints the errors of requests, then the states of the nodes. Stores all of it, and prints where."""
        kept = pathlib.Path(tempfile.mkdtemp(prefix="doorstep-cluster-"))
        logs = {path.name: path.read_text(errors="replace").splitlines() for path in sorted(self.scratch.glob("serve-*.log"))}
        said = [f"{name}: {line}" for name, lines in logs.items()
                for line in [*[line for line in lines if " error doorstep" in line][-8:], *lines[-4:]]]
        for node in self.nodes:
            shutil.copytree(node.logs, kept / node.name)
            # Without Patroni's messages about clients that closed their connections.
            lines = [line for line in (node.logs / "patroni.log").read_text(errors="replace").splitlines()
                     if re.match(r"\d{4}-", line) and "Traceback" not in line]
            said += [f"{node.name}: {line}" for line in lines[-25:] + node.running("postgres")]
        return "\n".join([*said, f"The nodes' logs are in {kept}."])

    def close(self):
        for process in (*self.servers.values(), self.pooler, self.proxy):
            if process:
                process.end()
        for node in self.nodes:
            node.close()
        super().close()
