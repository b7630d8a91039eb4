"""Sends requests over HTTP/1.1 at their due time, without waiting for earlier responses, on a number of connections.

Where every connection waits for an answer a request is not sent: it is one that a client would have given up. In a process of its
own, so that what it does is in nobody else's way, and from addresses of its own (127.0.1.1 and on), as many clients would.
"""

import asyncio
import collections
import multiprocessing
import os
import re
import socket
import time
from dataclasses import dataclass, field

STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
TICK = 0.005
ADDRESSES = 200


@dataclass(frozen=True)
class Requests:
    """Requests of one kind. In path and body, `%(n)d` is a number below `count`, and `%(unique)d` a new number each time."""

    port: int
    method: str
    path: str
    fields: dict[str, str]
    body: str | None = None
    count: int = 1
    good: tuple[int, ...] = (200, 201, 202, 204)

    def bytes(self, number: int) -> bytes:
        numbers = {"n": number % self.count, "unique": number}
        body = "" if self.body is None else self.body % numbers
        fields = self.fields | ({} if self.body is None else {"Content-Length": str(len(body))})
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{self.method} {self.path % numbers} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{head}\r\n{body}".encode()


@dataclass
class Figures:
    """Times in seconds from the due time of a request to its response, of responses within the limit."""

    seconds: float = 0
    due: int = 0
    sent: int = 0
    statuses: dict[int, int] = field(default_factory=dict)
    good: int = 0
    late: int = 0
    lost: int = 0
    times: list[float] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        times = sorted(self.times)
        return times[min(len(times) - 1, int(len(times) * share))] if times else float("inf")

    @property
    def goodput(self) -> float:
        return self.good / self.seconds


class Connection(asyncio.Protocol):
    def __init__(self, sender):
        self.sender, self.due, self.rest, self.transport = sender, None, b"", None

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sender.all.add(self)
        self.sender.idle.append(self)

    def send(self, request, due):
        self.due = due
        self.transport.write(request)

    def data_received(self, data):
        data = self.rest + data
        found = STATUS.search(data) if self.due is not None else None
        if found is None:
            self.rest = data[-16:]
            return
        # The rest of a long response has no status line.
        self.rest = b""
        due, self.due = self.due, None
        self.sender.take(int(found[1]), due)
        self.sender.idle.append(self)

    def connection_lost(self, error):
        if self.due is not None:
            self.sender.figures.lost += 1
        self.sender.gone(self)


class Sender:
    def __init__(self, requests, connections, limit, seed):
        self.requests, self.connections, self.limit = requests, connections, limit
        self.figures, self.idle, self.number, self.is_over = Figures(), collections.deque(), seed, False
        self.all, self.opening = set(), set()

    async def open(self, number):
        loop = asyncio.get_running_loop()
        address = f"127.0.1.{number % ADDRESSES + 1}"
        await loop.create_connection(lambda: Connection(self), "127.0.0.1", self.requests.port, local_addr=(address, 0))

    def gone(self, connection):
        self.all.discard(connection)
        if connection in self.idle:
            self.idle.remove(connection)
        if not self.is_over:
            task = asyncio.ensure_future(self.again())
            self.opening.add(task)
            task.add_done_callback(self.opening.discard)

    async def again(self):
        await asyncio.sleep(0.1)
        try:
            await self.open(self.number)
        except OSError:
            self.gone(None)

    def take(self, status, due):
        figures, took = self.figures, time.perf_counter() - due
        figures.statuses[status] = figures.statuses.get(status, 0) + 1
        if status not in self.requests.good:
            return
        if took > self.limit:
            figures.late += 1
            return
        figures.good += 1
        figures.times.append(took)

    async def run(self, rate, seconds, on_end=lambda: None):
        for start in range(0, self.connections, 100):
            await asyncio.gather(*(self.open(number) for number in range(start, min(start + 100, self.connections))))
        start, figures = time.perf_counter(), self.figures
        while (now := time.perf_counter()) < start + seconds:
            due = int((now - start) * rate)
            idle = self.idle
            for number in range(figures.due, due):
                if not idle:
                    break
                self.number += 1
                figures.sent += 1
                idle.popleft().send(self.requests.bytes(self.number), start + number / rate)
            figures.due = due
            await asyncio.sleep(TICK)
        figures.seconds = time.perf_counter() - start
        self.is_over = True
        on_end()
        # Waits for the responses to running requests, or until they are too late.
        deadline = time.perf_counter() + self.limit
        while len(self.idle) < self.connections and time.perf_counter() < deadline:
            await asyncio.sleep(TICK)
        for connection in self.all:
            figures.lost += connection.due is not None
            connection.due = None
            connection.transport.abort()
        return figures


def work(pipe):
    # A real attacker has other machines, so the attacking process has the lowest priority.
    os.nice(10)
    while (order := pipe.recv()) is not None:
        requests, rate, seconds, connections, limit, seed = order
        sender = Sender(requests, connections, limit, seed)
        pipe.send(asyncio.run(sender.run(rate, seconds, on_end=lambda: pipe.send(None))))


class Flood:
    """A process that sends requests."""

    def __init__(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(other,), daemon=True)
        self.process.start()
        self.seed = 0

    def start(self, requests, rate, seconds, connections=512, limit=5.0):
        # Unique values stay unique.
        self.seed += 10_000_000
        self.pipe.send((requests, rate, seconds, connections, limit, self.seed))

    def wait(self):
        """Waits until the process sends no more."""
        self.pipe.recv()

    def figures(self):
        return self.pipe.recv()

    def close(self):
        self.process.terminate()
        self.process.join()
