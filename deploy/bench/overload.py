"""Finds a server's capacity, sends ten times as many requests, and measures the responses; then slows down its dependencies.

usage: overload.py --doorstep PATH --scratch DIR [--seconds N] [--only NAME]... [--soak MINUTES] [--break PROMISE]

Two tenants: one floods, the other asks for the same, a few times a second, alone and beside the flood. The settings are those that
everyone gets. Ends with status 1 where a promise breaks; with --break one is broken on purpose, and it must.
"""

import asyncio
import json
import pathlib
import re
import resource
import subprocess
import sys
import time

import memory
from installation import CLIP, SITE, TEAM, Arguments, Client, Failure, Installation, free_port, say, table
from openloop import Flood, Requests, Sender
from slow import SlowThings
from soak import Soak

# Later responses count as missing: the client has given up.
LIMIT = 5.0
KEPT, NEIGHBOURS, RECOVERY = 0.8, 2.0, 5.0
# Requests per second of another tenant: planned and sent.
SENT = 0.95
# Responses within this time are always on time [ours].
ON_TIME = 0.010
# Additional memory of a server in MiB: the waiting requests of each tenant and of all are limited.
MEMORY = 256
PLACES = 200
PROMISES = ("goodput", "memory", "neighbours", "recovery", "slow", "growth")


class Site(Installation):
    """A server with the default limits."""

    limits = ()


class Tenant:
    def __init__(self, site, name):
        self.site, self.name = site, name
        site.on_database("tenant", "create", name, "--name", name)
        site.on_database("clip", "create", "--tenant", name, "--team-id", TEAM, "--bundle-id", CLIP, "--multi-business")
        rows = "".join(f"{kind}-{number},{kind} {number},37.3,-122,100\n"
                       for kind in ("place", "guest") for number in range(PLACES))
        site.on_database("location", "import", "--tenant", name, "-",
                         text=f"identifier,name,latitude,longitude,radius\n{rows}")
        # A notification goes to the instances of one business.
        guests = "".join(f"{CLIP},{SITE}/guests/{number},guest-{number},\n" for number in range(PLACES))
        site.on_database("experience", "import", "--tenant", name, "-",
                         text=f"clip,url,location,identifier_rule\n{CLIP},{SITE}/places,,path:1\n{guests}")
        self.publishable = self.key("publishable")
        self.secret = self.key("secret", "lookup", "register", "notify", "read", "manage")

    def key(self, kind, *scopes):
        options = [word for scope in scopes for word in ("--scope", scope)]
        return json.loads(self.site.on_database(
            "key", "create", "--tenant", self.name, "--kind", kind, *options, "--format", "json"))["key"]

    def token(self, number):
        return ("a" if self.name == "flooding" else "b") + number

    def requests(self, kind):
        """A request of a client of this kind."""
        clip = {"Authorization": f"Bearer {self.publishable}", "Content-Type": "application/json"}
        office = clip | {"Authorization": f"Bearer {self.secret}"}
        port = self.site.port
        launch = ('{"url": "%s/guests/%%(n)d/order/1", "token": "%s", "environment": "production",'
                  ' "permission": "ephemeral"}' % (SITE, self.token("%(n)063x")))
        return {
            "lookups": Requests(port, "GET", f"/v1/lookup?url={SITE}/places/place-%(n)d", clip, count=PLACES),
            "registrations": Requests(
                port, "PUT", "/v1/instances/00000000-0000-4000-8000-%(n)012d", clip, launch, count=PLACES),
            "notifications": Requests(
                port, "POST", "/v1/notifications", office,
                '{"url": "%s/guests/%%(n)d/order/1", "aps": {"alert": {"body": "Order %%(unique)d"}},'
                ' "audience": {"business": true}}' % SITE, count=PLACES),
            "catalogue writes": Requests(
                port, "PUT", "/v1/locations/place-%(n)d", office,
                '{"name": "place %(unique)d", "latitude": 37.3, "longitude": -122, "radius": 100}', count=PLACES),
        }[kind]


class Bench:
    def __init__(self, options):
        self.options, self.scratch = options, pathlib.Path(options.scratch)
        self.site, self.flood = Site(options.doorstep, options.scratch), Flood()
        if options.soak:
            # One address sends the requests of many clients.
            self.site.limits = Installation.limits
        self.console, self.problems = None, []
        self.neighbours, self.recovery, self.on_time, self.memory = NEIGHBOURS, RECOVERY, ON_TIME, MEMORY

    def expect(self, holds, words):
        say(("overload: " if holds else "overload: NOT ") + words)
        if not holds:
            self.problems.append(words)

    # Setting up

    async def set_up(self):
        self.site.start_simulator()
        self.site.start_server()
        self.flooding, self.quiet = Tenant(self.site, "flooding"), Tenant(self.site, "quiet")
        self.site.conninfo = self.site.run(
            "postgres", str(self.site.postgres), "--", "printenv", "DATABASE_URL").strip()
        # The default rate of keys, and a burst of the same size: a larger burst would blur the figures.
        self.site.on_database("tenant", "limit", "flooding", "--key", "5000:5000")
        client = Client(self.site, self.quiet.secret)
        while (await client.insist("GET", "/v1/tenant"))[0] == 401:
            await asyncio.sleep(0.05)
        client.close()
        for tenant in (self.flooding, self.quiet):
            # All keys are known, and each has a connection.
            figures = await Sender(tenant.requests("registrations"), PLACES, 60, 0).run(PLACES, 1.1)
            if figures.good < PLACES:
                raise Failure(f"{figures.good} of {PLACES} instances are registered: {figures.statuses}")
            await Sender(tenant.requests("lookups"), 4, 60, 0).run(PLACES, 1)

    async def start_console(self):
        """Starts the console and signs in; returns the header fields for the list of locations."""
        port = free_port()
        with open(self.scratch / "console.log", "w") as log:
            self.console = subprocess.Popen(
                [self.site.binary, "console", *self.site.database, "--console-port", str(port)], env=self.site.environment,
                stdout=log, stderr=log)
        link = await asyncio.to_thread(self.site.on_database, "console", "link", "--console-port", str(port))
        form = f"token={link.strip().rpartition('#')[2]}"
        while True:
            try:
                status, fields = await post_form(port, "/login", form)
                break
            except OSError:
                if self.console.poll() is not None:
                    raise Failure((self.scratch / "console.log").read_text()[-800:]) from None
                await asyncio.sleep(0.05)
        if status != 303:
            raise Failure(f"signing in to the console was answered {status}")
        cookie = re.search(r"(?im)^set-cookie: ([^;\r]+)", fields)[1]
        return Requests(port, "GET", "/t/flooding/places?q=place", {"Cookie": cookie})

    # Ten times as much

    async def overload(self, kind):
        process = self.site.server.pid
        if kind == "console pages":
            requests, process = await self.start_console(), self.console.pid
            asked = self.quiet.requests("lookups")
        else:
            requests, asked = self.flooding.requests(kind), self.quiet.requests(kind)
        if self.options.broken == "neighbours":
            asked = requests
        rate, quietly = (50, 100) if kind in ("lookups", "console pages") else (20, 20)
        best = await self.find_best(requests, rate)
        if self.options.broken == "goodput":
            self.site.on_database("tenant", "limit", "flooding", "--key", str(max(1, int(best / 4))))
            await asyncio.sleep(2)
        alone = await self.ask(asked, quietly)
        before = memory.now(process)
        memory.forget_most(process)
        self.flood.start(requests, best * 10, self.options.seconds + 2)
        await asyncio.sleep(2)
        if self.options.broken == "memory":
            await asyncio.to_thread(self.import_much)
        beside = await self.ask(asked, quietly)
        await asyncio.to_thread(self.flood.wait)
        back = await self.time_back(requests, alone)
        figures = await asyncio.to_thread(self.flood.figures)
        most = memory.most(process)
        await self.settle()
        kept = figures.goodput / best
        ratio = beside.quantile(0.99) / max(alone.quantile(0.99), ON_TIME / NEIGHBOURS)
        self.expect(kept >= KEPT, f"{kind}: {figures.goodput:,.0f}/s of {best:,.0f}/s are answered well ({figures.statuses})")
        self.expect(ratio <= NEIGHBOURS, f"{kind}: another tenant's p99 is {ratio:.2f} times as long")
        self.expect_answers(beside, f"{kind}: of another tenant")
        self.expect(most - before <= MEMORY, f"{kind}: the most memory is {most:.0f} MiB, {before:.0f} before")
        self.expect(back <= RECOVERY, f"{kind}: normal again after {back:.1f} s")
        refused = sum(count for status, count in figures.statuses.items() if status not in requests.good)
        return (kind, f"{best:,.0f}", f"{figures.due / figures.seconds:,.0f}", f"{figures.sent / figures.seconds:,.0f}",
                f"{figures.goodput:,.0f}", f"{kept:.2f}", f"{refused / figures.seconds:,.0f}", figures.late + figures.lost,
                f"{alone.quantile(0.99) * 1000:.1f}", f"{beside.quantile(0.99) * 1000:.1f}", f"{ratio:.2f}",
                f"{before:.0f}", f"{most:.0f}", f"{back:.1f}")

    def expect_answers(self, figures, words):
        """All requests were answered in time, and nearly all due requests were sent: the sender can stall, too."""
        self.expect(
            figures.good == figures.sent >= SENT * figures.due,
            f"{words} {figures.good} of {figures.sent} are answered well, of {figures.due} that were due ({figures.statuses},"
            f" {figures.late + figures.lost} late or lost)")

    async def find_best(self, requests, rate):
        """Raises the rate until fewer than four fifths of the requests are answered in time; returns the highest rate of such responses."""
        best, misses = 0, 0
        while misses < 2:
            self.flood.start(requests, rate, 2)
            await asyncio.to_thread(self.flood.wait)
            figures = await asyncio.to_thread(self.flood.figures)
            best = max(best, figures.goodput)
            say(f"overload: {rate:,.0f}/s: {figures.goodput:,.0f}/s, p99 {figures.quantile(0.99) * 1000:.0f} ms,"
                f" {figures.statuses}")
            # Twice, because the machine may be the cause once.
            misses = misses + 1 if figures.goodput < KEPT * rate else 0
            rate *= 2
        await self.settle()
        if best == 0:
            raise Failure(f"no request is answered well: {figures.statuses}")
        # As long as a measurement, because a server can handle a short burst above its capacity.
        self.flood.start(requests, best, self.options.seconds)
        await asyncio.to_thread(self.flood.wait)
        sustained = (await asyncio.to_thread(self.flood.figures)).goodput
        await self.settle()
        return sustained

    async def ask(self, requests, rate, seconds=None):
        # The location of each request.
        self.site.seed = getattr(self.site, "seed", self.options.seed % 100_000) + 100_000
        return await Sender(requests, 32, LIMIT, self.site.seed).run(rate, seconds or self.options.seconds)

    async def time_back(self, requests, alone):
        """Waits until ten requests in a row are answered as fast as on a quiet machine."""
        if self.options.broken == "recovery":
            Flood().start(requests, 100_000, 30)
        start, limit, in_a_row = time.perf_counter(), NEIGHBOURS * max(alone.quantile(0.99), ON_TIME), 0
        while time.perf_counter() - start < 30:
            asked = time.perf_counter()
            status = await answer_of(requests, int(asked * 1_000_000))
            if status in requests.good and time.perf_counter() - asked <= limit:
                in_a_row += 1
                if in_a_row == 1:
                    first = asked - start
                if in_a_row == 10:
                    return first
            else:
                in_a_row = 0
            await asyncio.sleep(0.02)
        return float("inf")

    async def settle(self):
        """Waits until all queued notifications are sent, because they would disturb the next measurement."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            due, = (await asyncio.to_thread(
                self.site.query, "SELECT count(*) FROM doorstep.deliveries WHERE due_at IS NOT NULL"))[0]
            if due == "0":
                return
            await asyncio.sleep(0.5)
        say(f"overload: {due} deliveries are still to be sent")

    def import_much(self):
        """500 MB that every server holds in memory."""
        text = "x" * 2_500
        rows = "".join(f"more-{number},more,37.3,-122,100,{text}\n" for number in range(200_000))
        self.site.on_database("location", "import", "--tenant", "flooding", "-",
                              text=f"identifier,name,latitude,longitude,radius,details.text\n{rows}")

    async def run(self):
        options = self.options
        await self.set_up()
        if options.soak:
            return await Soak(self, options.soak, options.broken == "growth").run()
        kinds = ["lookups", "registrations", "notifications", "catalogue writes", "console pages"]
        slow = SlowThings(self)
        wanted = options.only or ([*kinds, *slow.all] if options.broken is None
                                  else ["slow webhooks"] if options.broken == "slow" else ["lookups"])
        rows = [await self.overload(kind) for kind in kinds if kind in wanted]
        if rows:
            print()
            table(["ten times as many", "#borne/s", "#due/s", "#sent/s", "#answered well/s", "#of the best", "#refused/s",
                   "#late or lost", "#p99 ms of another tenant, alone", "#beside it", "#ratio", "#MiB before", "#most MiB",
                   "#normal again after s"], rows)
        rows = [await slow.all[name]() for name in slow.all if name in wanted]
        if rows:
            print()
            table(["what is slow", "what it is asked", "what others notice", "#alone", "#beside it", "#MiB before", "#most MiB",
                   "#normal again after s"], rows)

    def close(self):
        self.flood.close()
        if self.console:
            self.console.terminate()
            self.console.wait()
        self.site.close()


async def answer_of(requests, number):
    """The status of one request on a new connection; None if there is no response in time."""
    writer = None
    try:
        async with asyncio.timeout(LIMIT):
            reader, writer = await asyncio.open_connection("127.0.0.1", requests.port, limit=1 << 20)
            writer.write(requests.bytes(number))
            return int((await reader.readuntil(b"\r\n")).split()[1])
    except (OSError, asyncio.IncompleteReadError, TimeoutError):
        return None
    finally:
        if writer:
            writer.close()


async def post_form(port, path, form):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write((f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n"
                  "Content-Type: application/x-www-form-urlencoded\r\n"
                  f"Content-Length: {len(form)}\r\n\r\n{form}").encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    return int(head.split()[1]), head


def main():
    parser = Arguments(__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--soak", type=float)
    parser.add_argument("--only", action="append")
    parser.add_argument("--break", dest="broken", choices=PROMISES)
    options = parser.parse_args()
    # Connections at both ends.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(f"\nseed {options.seed}", flush=True)
    bench = Bench(options)
    try:
        asyncio.run(bench.run())
    except Failure as failure:
        sys.exit(f"overload: {failure}\nthe server's log ends:\n{bench.site.log_tail()}")
    finally:
        bench.close()
    for problem in bench.problems:
        print(f"overload: NOT {problem}", file=sys.stderr)
    if bench.problems:
        sys.exit(f"overload: {len(bench.problems)} promises are broken")


if __name__ == "__main__":
    main()
