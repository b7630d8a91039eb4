"""Sends mixed load for a long time, and measures whether memory and descriptors grow.

A line is laid through what is sampled, by least squares, after a first quarter in which caches fill: what it rises by, from its
first to its last sample, is what grows.
"""

import asyncio
import time

import memory
from installation import say, table
from load import AUDIENCES, EXPERIENCES, Ledger, Load, Receiver
from openloop import Sender

# The growth that is allowed during the measurement: MiB or a share of the memory; descriptors [ours].
GROWTH, SHARE, DESCRIPTORS = 16, 0.05, 8
SAMPLES = 240
RATES = {"lookups": 100, "console pages": 2}
# How often a tenant is filled and emptied, with how many locations of how many bytes [ours]. Memory is read after the servers have
# returned unused memory twice.
CYCLES, PLACES, DETAIL, SETTLE = 5, 20_000, 2_000, 35


class Soak:
    def __init__(self, bench, minutes, is_broken):
        self.bench, self.seconds, self.is_broken = bench, minutes * 60, is_broken
        self.ledger = Ledger()

    async def run(self):
        bench, site = self.bench, self.bench.site
        site.set_up([*AUDIENCES, "visit-0"], EXPERIENCES)
        load = Load(site, self.ledger, Receiver(self.ledger), bench.options.seed)
        await load.set_up(2_000)
        pages = await bench.start_console()
        processes = {"the server": site.server.pid, "the console": bench.console.pid}
        tasks = [asyncio.create_task(work) for work in (
            load.run(), self.send(bench.quiet.requests("lookups"), RATES["lookups"]),
            self.send(pages, RATES["console pages"]))]
        rows = await self.sample(processes)
        load.is_stopping = True
        _, lookups, shown = await asyncio.gather(*tasks)
        bench.expect(not self.ledger.problems, f"soak: each answer is right: {self.ledger.problems[:3]}")
        for name, figures in (("lookups", lookups), ("console pages", shown)):
            bench.expect(set(figures.statuses) == {200} and not figures.lost, f"soak: {name} are answered: {figures.statuses}")
        print(f"\n{self.seconds / 60:g} minutes of mixed load.\n")
        table(["process", "of what", "#at first", "#in the end", "#growth of the line", "#bound"],
              [self.judge(name, what, samples) for (name, what), samples in rows.items()])
        await self.fill_and_empty(processes)
        ledger = self.ledger
        print(f"\n- meanwhile {lookups.good:,} lookups and {shown.good:,} console pages, and what one client after the other"
              f" got done: {sum(ledger.changes.values()):,} catalogue writes, {len(ledger.instances):,} registrations,"
              f" {sum(ledger.answered.values()):,} confirmations, {len(ledger.notifications):,} notifications", flush=True)

    async def send(self, requests, rate):
        return await Sender(requests, 16, 60, 0).run(rate, self.seconds)

    async def sample(self, processes):
        samples, start, pause = {}, time.monotonic(), max(0.5, self.seconds / SAMPLES)
        kept = []
        while (now := time.monotonic() - start) < self.seconds:
            for name, process in processes.items():
                samples.setdefault((name, "memory, MiB"), []).append((now, memory.now(process)))
                samples.setdefault((name, "descriptors"), []).append((now, memory.descriptors(process)))
            if self.is_broken:
                # A leak of both, which the measurement must find.
                kept.append(await asyncio.open_connection("127.0.0.1", self.bench.site.port))
                await asyncio.to_thread(self.add_places, len(kept))
            await asyncio.sleep(pause)
        for _, writer in kept:
            writer.close()
        return samples

    async def fill_and_empty(self, processes):
        """Whether memory that deletes freed is returned or reused: the levels after each cycle do not rise."""
        self.bench.site.on_database("tenant", "create", "filled", "--name", "Filled")
        filled, emptied = ({name: [] for name in processes} for _ in range(2))
        for _ in range(CYCLES):
            for count, levels in ((PLACES, filled), (1, emptied)):
                await asyncio.to_thread(self.replace_places, count)
                await asyncio.sleep(SETTLE)
                for name, process in processes.items():
                    levels[name].append(memory.now(process))
        print(f"\n{PLACES:,} locations of {DETAIL:,} bytes added and deleted, {CYCLES} times; memory in MiB.\n")
        table(["process", "#filled", "#emptied first", "#emptied last", "#growth", "#bound"],
              [self.judge_cycles(name, filled[name], emptied[name]) for name in processes])

    def judge_cycles(self, name, filled, emptied):
        # The first cycle fills caches.
        growth, bound = emptied[-1] - emptied[1], max(GROWTH, SHARE * emptied[1])
        self.bench.expect(growth <= bound, f"soak: {name}: filling and emptying grows by {growth:.1f} MiB, and may by {bound:.1f}")
        return [name, f"{max(filled):.0f}", f"{emptied[1]:.0f}", f"{emptied[-1]:.0f}", f"{growth:.1f}", f"{bound:.0f}"]

    def replace_places(self, count):
        rows = "".join(f"place-{number},Place,{number % 170 - 85},{number % 360 - 180},100,{str(number) * (DETAIL // len(str(number)))}\n"
                       for number in range(count))
        self.bench.site.on_database(
            "location", "import", "--tenant", "filled", "--prune", "--allow-removals", "1000000", "-",
            text=f"identifier,name,latitude,longitude,radius,details.text\n{rows}")

    def add_places(self, number):
        rows = "".join(f"leak-{number}-{each},more,37.3,-122,100\n" for each in range(10_000))
        self.bench.site.on_database("location", "import", "--tenant", "flooding", "-",
                                    text=f"identifier,name,latitude,longitude,radius\n{rows}")

    def judge(self, name, what, samples):
        settled = samples[len(samples) // 4:]
        growth = slope(settled) * (settled[-1][0] - settled[0][0])
        level = sum(value for _, value in settled) / len(settled)
        bound = DESCRIPTORS if what == "descriptors" else max(GROWTH, SHARE * level)
        self.bench.expect(growth <= bound, f"soak: {name}, {what}: grows by {growth:.1f}, and may by {bound:.1f}")
        say(f"soak: {name}, {what}: {settled[0][1]:.0f} to {settled[-1][1]:.0f}")
        return (name, what, f"{settled[0][1]:.0f}", f"{settled[-1][1]:.0f}", f"{growth:.1f}", f"{bound:.0f}")


def slope(points):
    """The slope of the line through the points, by least squares."""
    middle = sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
    spread = sum((x - middle[0]) ** 2 for x, _ in points)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in points) / spread if spread else 0.0
