"""Slows down a server's dependencies or clients, and measures whether others wait."""

import asyncio
import base64
import contextlib
import copy
import dataclasses
import json
import multiprocessing
import os
import re
import socket
import time
import urllib.request

import memory
from installation import SITE, Client, free_port
from load import Ledger, Receiver

# The delays: to and from the database, and of a response of APNs.
DATABASE_DELAY, APNS_DELAY = 0.25, 3.0
# Deliveries within this time are on time [ours].
SENT_ON_TIME = 1.0
READERS = 500


class SlowProxy:
    """A proxy before PostgreSQL that forwards bytes after a delay, which can change."""

    def __init__(self, conninfo, folder):
        self.host, self.port = (re.search(rf"\b{name}='?([^\s']+)", conninfo)[1] for name in ("host", "port"))
        self.delay, folder = 0, folder / "slow"
        folder.mkdir()
        self.path, self.conninfo = folder / f".s.PGSQL.{self.port}", conninfo.replace(self.host, str(folder))

    async def start(self):
        self.server = await asyncio.start_unix_server(self.serve, self.path)

    async def serve(self, reader, writer):
        other_reader, other_writer = await asyncio.open_unix_connection(f"{self.host}/.s.PGSQL.{self.port}")
        await asyncio.gather(self.pass_on(reader, other_writer), self.pass_on(other_reader, writer))

    async def pass_on(self, reader, writer):
        try:
            while data := await reader.read(1 << 16):
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


class SlowThings:
    def __init__(self, bench):
        self.bench, self.site = bench, bench.site
        self.all = {
            "a slow database": self.database, "slow APNs": self.apns, "slow webhooks": self.webhooks,
            "slow readers": self.readers}

    def row(self, name, asked, noticed, alone, beside, before, most, back, on_time):
        """In seconds and MiB."""
        bench = self.bench
        limit = bench.neighbours * max(alone, on_time / bench.neighbours)
        bench.expect(beside <= limit, f"{name}: {noticed}: {beside * 1000:.0f} ms, {alone * 1000:.0f} without")
        bench.expect(most - before <= bench.memory, f"{name}: the most memory is {most:.0f} MiB, {before:.0f} before")
        bench.expect(back <= bench.recovery, f"{name}: normal again after {back:.1f} s")
        return (name, asked, noticed, f"{alone * 1000:.1f}", f"{beside * 1000:.1f}", f"{before:.0f}", f"{most:.0f}",
                f"{back:.1f}")

    # The database

    async def database(self):
        """A slow database delays registrations, and not lookups."""
        bench = self.bench
        proxy = SlowProxy(self.site.conninfo, bench.scratch)
        await proxy.start()
        server = copy.copy(self.site)
        server.port, server.server, server.database = free_port(), None, ["--database-url", proxy.conninfo]
        await asyncio.to_thread(server.start_server)
        try:
            asked, waiting = (dataclasses.replace(requests, port=server.port) for requests in (
                bench.quiet.requests("lookups"), bench.flooding.requests("registrations")))
            quick = await bench.ask(waiting, 20)
            alone = await bench.ask(asked, 100)
            before = memory.now(server.server.pid)
            memory.forget_most(server.server.pid)
            proxy.delay = DATABASE_DELAY
            bench.flood.start(waiting, 200, bench.options.seconds + 2)
            await asyncio.sleep(2)
            beside = await bench.ask(asked, 100)
            await asyncio.to_thread(bench.flood.wait)
            proxy.delay = 0
            back = await bench.time_back(waiting, quick)
            figures = await asyncio.to_thread(bench.flood.figures)
            most = memory.most(server.server.pid)
        finally:
            server.server.terminate()
            await asyncio.to_thread(server.server.wait, 120)
        bench.expect(
            set(figures.statuses) <= {*waiting.good, 429, 503},
            f"a slow database: registrations are answered or refused by name ({figures.statuses}, {figures.lost} not yet)")
        bench.expect_answers(beside, "a slow database: of lookups")
        return self.row(
            "a slow database", f"200 registrations/s, {DATABASE_DELAY} s each way", "p99 ms of lookups",
            alone.quantile(0.99), beside.quantile(0.99), before, most, back, bench.on_time)

    # APNs

    async def apns(self):
        """APNs responds slowly for one tenant's devices, and fast for another's."""
        bench, process = self.bench, self.site.server.pid
        device = bench.quiet.token(f"{0:063x}")
        client = Client(self.site, bench.quiet.secret)
        alone = max([await self.time_to_deliver(client) for _ in range(10)])
        before = memory.now(process)
        memory.forget_most(process)
        self.set_rules([{"effect": "pass", "device": device},
                        {"effect": "pass", "delayMilliseconds": int(APNS_DELAY * 1000)}])
        bench.flood.start(bench.flooding.requests("notifications"), 200, bench.options.seconds + 2)
        await asyncio.sleep(2)
        beside = max([await self.time_to_deliver(client) for _ in range(10)])
        await asyncio.to_thread(bench.flood.wait)
        self.set_rules([])
        start = time.perf_counter()
        while await self.time_to_deliver(client) > max(2 * alone, SENT_ON_TIME) and time.perf_counter() - start < 30:
            pass
        back = time.perf_counter() - start
        figures = await asyncio.to_thread(bench.flood.figures)
        await bench.settle()
        client.close()
        return self.row(
            "slow APNs", f"{figures.goodput:.0f} notifications/s, answered after {APNS_DELAY:.0f} s",
            "ms until another tenant's is delivered, at most", alone, beside, before, memory.most(process), back, SENT_ON_TIME)

    def set_rules(self, rules):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.site.control}/rules", json.dumps(rules).encode(), {"Content-Type": "application/json"},
            method="PUT")
        with urllib.request.urlopen(request, timeout=60):
            pass

    async def time_to_deliver(self, client):
        start = time.perf_counter()
        status, answer = await client.insist("POST", "/v1/notifications", {
            "url": f"{SITE}/guests/0/order/1", "aps": {"alert": {"body": "Ready"}}, "audience": {"business": True}})
        if status not in (200, 201):
            self.bench.expect(False, f"a notification was answered {status}: {answer}")
            return float("inf")
        while time.perf_counter() - start < 15:
            states = await asyncio.to_thread(self.site.query, f"""
                SELECT state FROM doorstep.deliveries WHERE notification_id = '{answer["id"]}'""")
            if states == [["delivered"]]:
                return time.perf_counter() - start
            await asyncio.sleep(0.01)
        return float("inf")

    # Webhooks

    async def webhooks(self):
        """One tenant's receiver never responds, and another's does."""
        bench, process = self.bench, self.site.server.pid
        never = await asyncio.start_server(self.take_and_say_nothing, "127.0.0.1", 0)
        receiver = Receiver(Ledger())
        quick = await receiver.start()
        slow = never.sockets[0].getsockname()[1]
        client, flooding = Client(self.site, bench.quiet.secret), Client(self.site, bench.flooding.secret)
        await self.add_webhook(flooding, slow)
        receiver.secrets.append(await self.add_webhook(client, slow if bench.options.broken == "slow" else quick))
        alone = max([await self.time_to_tell(client, receiver, number) for number in range(10)])
        before = memory.now(process)
        memory.forget_most(process)
        bench.flood.start(bench.flooding.requests("catalogue writes"), 50, bench.options.seconds + 2)
        await asyncio.sleep(2)
        beside = max([await self.time_to_tell(client, receiver, number) for number in range(10, 20)])
        await asyncio.to_thread(bench.flood.wait)
        start = time.perf_counter()
        while (await self.time_to_tell(client, receiver, 21) > max(2 * alone, SENT_ON_TIME)
               and time.perf_counter() - start < 30):
            pass
        back = time.perf_counter() - start
        figures = await asyncio.to_thread(bench.flood.figures)
        most = memory.most(process)
        for each in (client, flooding):
            _, answer = await each.insist("GET", "/v1/webhooks")
            for webhook in answer["data"]:
                await each.insist("DELETE", f"/v1/webhooks/{webhook['id']}")
            each.close()
        never.close()
        return self.row(
            "slow webhooks", f"{figures.goodput:.0f} changes/s, told to one that never answers",
            "ms until another tenant is told, at most", alone, beside, before, most, back, SENT_ON_TIME)

    @staticmethod
    async def take_and_say_nothing(reader, writer):
        with contextlib.suppress(OSError, asyncio.CancelledError):
            while await reader.read(1 << 16):
                pass
        writer.close()

    async def add_webhook(self, client, port):
        status, answer = await client.insist("POST", "/v1/webhooks", {
            "url": f"http://127.0.0.1:{port}/hook", "events": ["location.changed"]})
        if status != 201:
            self.bench.expect(False, f"a webhook request got {status}: {answer}")
        return base64.b64decode(answer["secret"].removeprefix("whsec_"))

    async def time_to_tell(self, client, receiver, number):
        start, count = time.perf_counter(), receiver.count
        status, answer = await client.insist("PUT", f"/v1/locations/place-{number}", {
            "name": f"at {time.time()}", "latitude": 37.3, "longitude": -122, "radius": 100})
        if status not in (200, 202):
            self.bench.expect(False, f"a change was answered {status}: {answer}")
        while receiver.count == count and time.perf_counter() - start < 10:
            await asyncio.sleep(0.005)
        return time.perf_counter() - start if receiver.count > count else float("inf")

    # Readers

    async def readers(self):
        """Clients that ask for long lists, again and again, and never read."""
        bench, process = self.bench, self.site.server.pid
        asked = bench.quiet.requests("lookups")
        alone = await bench.ask(asked, 100)
        before = memory.now(process)
        memory.forget_most(process)
        request = (f"GET /v1/locations?limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                   f"Authorization: Bearer {bench.flooding.secret}\r\n\r\n").encode() * 50
        # In another process, so that they delay nothing here.
        context = multiprocessing.get_context("spawn")
        pipe, other = context.Pipe()
        readers = context.Process(target=never_read, args=(other, self.site.port, request), daemon=True)
        readers.start()
        other.close()
        await asyncio.to_thread(pipe.recv)
        await asyncio.sleep(2)
        beside = await bench.ask(asked, 100)
        pipe.send(None)
        asking = await asyncio.to_thread(pipe.recv)
        readers.join()
        back = await bench.time_back(bench.flooding.requests("lookups"), alone)
        bench.expect_answers(beside, "slow readers: of lookups")
        return self.row(
            "slow readers", f"{asking} connections that ask for lists and do not read", "p99 ms of lookups",
            alone.quantile(0.99), beside.quantile(0.99), before, memory.most(process), back, bench.on_time)


def never_read(pipe, port, request):
    """Sends requests on many connections without reading, until it is stopped. Reports when all are open, and at the end how many still are."""
    os.nice(10)
    sockets = []
    for number in range(READERS):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.bind((f"127.0.2.{number % 200 + 1}", 0))
        reader.connect(("127.0.0.1", port))
        reader.setblocking(False)
        sockets.append(reader)
    pipe.send(None)
    while not pipe.poll(0.2):
        for reader in list(sockets):
            try:
                reader.send(request)
            except BlockingIOError:
                pass
            except OSError:
                # The server closed it, because it did not read for too long.
                sockets.remove(reader)
    pipe.send(len(sockets))
