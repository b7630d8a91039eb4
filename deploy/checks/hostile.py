"""Opens connections that send or read nothing, and sends queries that took much processor time in earlier versions.

usage: hostile.py --key FILE --plain PORT:PID --tls PORT:PID …

The server over TLS is asked to end while such connections are open, and has ended when this script has.
"""

import argparse
import contextlib
import os
import pathlib
import re
import resource
import select
import signal
import socket
import ssl
import sys
import time
import urllib.parse

LOOKUP = "/v1/lookup?url=" + urllib.parse.quote(
    "https://example.com/restaurants/restaurant_a/order/1234", safe="")
# The longest request line, with different names.
NAMES = "/v1/lookup?" + "&".join(f"{number:x}" for number in range(4_096))[:15_900]
# Times with a reserve for a busy machine.
HANDSHAKE_LIMIT, ANSWER_LIMIT, MARGIN = 10, 35, 30
# The most processor time of a query of names, in lookups. It is a hundred times as long; in earlier versions it took thousands.
MOST_LOOKUPS = 100
STREAMS = 100
# Clients that pipeline and never read. The unanswered requests of each take at most PIPELINE_MEMORY. GROWTH is the fixed growth of the
# server.
PIPELINES, PIPELINE_MEMORY, GROWTH = 100, 256 * 2**10, 16 * 2**20


class Failure(Exception):
    pass


def check(holds, words):
    print(("hostile: " if holds else "hostile: NOT ") + words, flush=True)
    if not holds:
        raise Failure(words)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def connect_tls(port, protocol="http/1.1"):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(connect(port), server_hostname="localhost")


class Client:
    """A connection with one request at a time."""

    def __init__(self, connection, key):
        self.connection, self.key, self.received = connection, key, b""

    def get(self, path):
        """Returns the status and the body."""
        self.connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.key}\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.received:
            self.receive()
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
        while len(self.received) < length:
            self.receive()
        body, self.received = self.received[:length], self.received[length:]
        return int(head.split(b" ", 2)[1]), body

    def receive(self):
        part = self.connection.recv(65_536)
        if not part:
            raise Failure("the server closed a connection that was in use")
        self.received += part


def processor_time(pid):
    """The processor time of a process in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_memory(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cost(client, path, status, count, pid):
    """The processor time of one request in seconds."""
    # One-time work is done before the measurement.
    for _ in range(10):
        client.get(path)
    before = processor_time(pid)
    for _ in range(count):
        answered = client.get(path)[0]
        if answered != status:
            raise Failure(f"{path[:40]}… was answered {answered}, not {status}")
    return (processor_time(pid) - before) / count


def queries_cost_little(port, pid, key, count, milliseconds):
    client = Client(connect(port), key)
    # Many requests, because the system counts hundredths of a second.
    lookup = cost(client, LOOKUP, 200, 20 * count, pid)
    names = cost(client, NAMES, 400, count, pid)
    words = f"a query of {len(NAMES)} bytes of names takes {1e3 * names:.3f} ms of the processor, a lookup {1e3 * lookup:.3f}"
    check(names <= MOST_LOOKUPS * max(lookup, 1e-5), words)
    if milliseconds:
        check(names * 1e3 < milliseconds, f"that is less than {milliseconds:g} ms")


def pipelines_take_little(port, pid):
    """If a client does not read its responses, its further requests wait in the system's buffers, not in the server's memory."""
    request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    before = resident_memory(pid)
    opened = [connect(port) for _ in range(PIPELINES)]
    sent = [0] * PIPELINES
    for connection in opened:
        connection.setblocking(False)
    # Small responses, so that the server reads many requests before the buffers of both sides are full. Sends until the buffers are full,
    # or until shortly before the server closes connections with unread responses.
    blocked, deadline = 0, time.monotonic() + ANSWER_LIMIT / 2
    while blocked < 20 and time.monotonic() < deadline:
        earlier = sum(sent)
        for index, connection in enumerate(opened):
            with contextlib.suppress(BlockingIOError):
                while True:
                    # Continue after the part of the request that was sent.
                    sent[index] += connection.send((request * 1_000)[sent[index] % len(request):])
        blocked = blocked + 1 if sum(sent) == earlier else 0
        time.sleep(0.05)
    grown = resident_memory(pid) - before
    check(
        grown < PIPELINES * PIPELINE_MEMORY + GROWTH,
        f"memory grew by {grown / 2**20:.0f} MiB for {PIPELINES} clients that send requests and read no answers")
    for connection in opened:
        connection.close()


def wait_until_ready(port):
    deadline = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError, Failure):
            if Client(connect_tls(port), "").get("/readyz")[0] == 200:
                return
        if time.monotonic() > deadline:
            raise Failure("the server over TLS was not ready within a minute")
        time.sleep(0.2)


def open_connections(client):
    _, metrics = client.get("/metrics")
    return int(float(re.search(rb"^doorstep_http_connections (\S+)$", metrics, re.MULTILINE)[1]))


def wait_until_open(client, count, words):
    """Waits until the server has accepted all connections."""
    deadline = time.monotonic() + MARGIN
    while (opened := open_connections(client) - 1) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    check(opened >= count, f"{count} connections that {words} are open")


def ask_without_reading(port):
    connection = connect_tls(port)
    # More than all buffers of both sides: each response has 150 KB.
    connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
    return connection


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def ask_with_a_closed_window(port):
    """HTTP/2 (RFC 9113) with a window of 0 for each stream: the server may send no byte of a body."""
    connection = connect_tls(port, "h2")
    if connection.selected_alpn_protocol() != "h2":
        raise Failure("the server did not agree to HTTP/2")
    # GET and https from the static table, path and authority as literals (RFC 7541, section 6.2.2).
    path, authority = b"/openapi.json", b"localhost"
    headers = (bytes([0x82, 0x87, 0x04, len(path)]) + path + bytes([0x01, len(authority)]) + authority)
    settings = (4).to_bytes(2, "big") + (0).to_bytes(4, "big")
    connection.sendall(
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, settings)
        + b"".join(frame(1, 0x5, 2 * stream + 1, headers) for stream in range(STREAMS)))
    return connection


def resets(connection, seconds):
    """The number of streams that the server resets within a time; other frames are ignored."""
    received, count, deadline = b"", 0, time.monotonic() + seconds
    connection.setblocking(False)
    while count < STREAMS and time.monotonic() < deadline:
        try:
            part = connection.recv(65_536)
        except ssl.SSLWantReadError:
            select.select([connection], [], [], 1)
            continue
        if not part:
            break
        received += part
        while len(received) >= 9 and len(received) >= 9 + int.from_bytes(received[:3], "big"):
            length = int.from_bytes(received[:3], "big")
            count += received[3] == 3
            received = received[9 + length:]
    return count


def wait_until_gone(client, key, seconds, words):
    """Waits until the connection that sends lookups is the only one, and sends lookups meanwhile."""
    start, lookups = time.monotonic(), 0
    while True:
        status, _ = client.get(LOOKUP)
        if status != 200:
            raise Failure(f"a lookup was answered {status}")
        lookups += 1
        left = open_connections(client) - 1
        elapsed = time.monotonic() - start
        if left <= 0 or elapsed > seconds:
            break
        time.sleep(0.05)
    check(left <= 0, f"{words} are gone after {elapsed:.1f} s, and {lookups} lookups were answered meanwhile")


def connections_end(port, pid, key, silent, unread):
    client = Client(connect_tls(port), key)
    client.get(LOOKUP)

    opened = [connect(port) for _ in range(silent)]
    wait_until_open(client, silent, "say nothing")
    wait_until_gone(client, key, HANDSHAKE_LIMIT + MARGIN, "they")
    for connection in opened:
        connection.close()

    opened = [ask_without_reading(port) for _ in range(unread)]
    wait_until_open(client, unread, "read nothing")
    wait_until_gone(client, key, ANSWER_LIMIT + MARGIN, "they")
    for connection in opened:
        connection.close()

    before = resident_memory(pid)
    opened = [ask_with_a_closed_window(port) for _ in range(unread)]
    client.get(LOOKUP)
    time.sleep(2)
    grown, asked = resident_memory(pid) - before, unread * STREAMS * len(client.get("/openapi.json")[1])
    check(
        grown < asked / 4 + 64 * 2**20,
        f"memory grew by {grown / 2**20:.0f} MiB for {asked / 2**20:.0f} MiB of answers that have no window")
    for connection in opened:
        count = resets(connection, ANSWER_LIMIT + MARGIN)
        if count < STREAMS:
            raise Failure(f"only {count} of {STREAMS} streams without a window were given up")
    check(True, f"{unread} times {STREAMS} streams without a window are given up")
    for connection in opened:
        connection.close()


def ends(port, pid, seconds, silent, unread):
    opened = [connect(port) for _ in range(silent)] + [ask_without_reading(port) for _ in range(unread)]
    # So that the server reads them before the signal.
    time.sleep(1)
    start = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    while time.monotonic() < start + seconds + MARGIN:
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            break
        # It has ended, and its parent has not collected its status yet.
        if state == "Z":
            break
        time.sleep(0.05)
    elapsed = time.monotonic() - start
    # Well before the server closes connections with unread responses.
    check(elapsed < seconds + 15, f"the server ended {elapsed:.1f} s after SIGTERM, of which requests have {seconds} s")
    for connection in opened:
        connection.close()


def port_and_pid(text):
    port, pid = text.split(":")
    return int(port), int(pid)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--silent", type=int, required=True)
    parser.add_argument("--unread", type=int, required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--milliseconds", type=float)
    parser.add_argument("--shutdown-timeout", type=int, required=True)
    parser.add_argument("--key", type=pathlib.Path, required=True)
    parser.add_argument("--plain", type=port_and_pid, required=True)
    parser.add_argument("--tls", type=port_and_pid, required=True)
    arguments = parser.parse_args()
    key = arguments.key.read_text().strip()
    wanted = arguments.silent + arguments.unread + 256
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    try:
        queries_cost_little(*arguments.plain, key, arguments.requests, arguments.milliseconds)
        pipelines_take_little(*arguments.plain)
        wait_until_ready(arguments.tls[0])
        connections_end(*arguments.tls, key, arguments.silent, arguments.unread)
        ends(*arguments.tls, arguments.shutdown_timeout, arguments.silent, arguments.unread)
    except Failure as failure:
        sys.exit(f"hostile: {failure}")


if __name__ == "__main__":
    main()
