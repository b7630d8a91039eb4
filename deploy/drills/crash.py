"""Kills the server and its private PostgreSQL under load, again and again, and looks whether what was acknowledged is there.

usage: crash.py --doorstep PATH --scratch DIR [--cycles N] [--seed S] [--crowd N] [--break]

A cycle is some load, then a kill (SIGKILL) of the server, of PostgreSQL with all its processes, of its first process alone, of
one of its sessions, or of everything at once; then both are started again as a service manager would. The seed decides what is
killed when and what the load asks for, not how these interleave. A kill is no power failure: what the kernel was given to
write is written.

At the end one thing of each kind is spoiled in the database by hand, and each must be noticed: what cannot fail proves nothing.
With --break the database runs with synchronous_commit off, under which acknowledged writes are lost: the drill must fail.
"""

import asyncio
import collections
import contextlib
import pathlib
import random
import re
import statistics
import sys
import time

from evidence import Found, judge, spoil
from frozen import FrozenTenant
from installation import Arguments, Failure, Installation, kill, say, table
from load import AUDIENCES, EXPERIENCES, SETTLING_LIMIT, Ledger, Load, Receiver

FAULTS = {
    "the server": 6, "PostgreSQL, all its processes": 4, "PostgreSQL's first process": 2, "one session of PostgreSQL": 3,
    "everything": 5}
# In each so many cycles a key is revoked while another tenant is frozen.
REVOCATION_CYCLES = 5


class Drill:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.installation = Installation(options.doorstep, options.scratch)
        self.ledger = Ledger()
        self.receiver = Receiver(self.ledger)
        self.load = Load(self.installation, self.ledger, self.receiver, options.seed)
        self.frozen = FrozenTenant(self.installation, self.ledger)
        self.faults, self.back = collections.Counter(), collections.defaultdict(list)

    async def run(self):
        await self.set_up()
        load = asyncio.create_task(self.load.run())
        try:
            # Without a kill first, and a crowd at least once.
            self.load.crowd_is_wanted = True
            await asyncio.wait_for(self.load.crowd_came.wait(), SETTLING_LIMIT)
            await asyncio.sleep(1)
            await self.frozen.revoke([self.installation.port])
            for cycle in range(1, self.options.cycles + 1):
                await self.cycle(cycle)
                if load.done():
                    await load
                if cycle % 25 == 0 or len(self.ledger.problems) > 100:
                    say(f"crash: {cycle} cycles, {len(self.ledger.problems)} problems")
                if cycle % 100 == 0:
                    await self.load.collect_requests()
                if len(self.ledger.problems) > 100:
                    break
            await self.load.settle_confirmations()
        finally:
            self.load.is_stopping = True
        await load
        await self.load.notify_guests()
        await self.load.wait_until_nothing_is_due("deliveries", "audiences", "webhook messages")

    # Setting up

    async def set_up(self):
        self.installation.start_simulator()
        self.installation.start_server()
        visits = [f"visit-{number}" for number in range(self.options.cycles + 1)]
        self.installation.set_up([*AUDIENCES, *visits], EXPERIENCES)
        if self.options.is_broken:
            self.installation.query("ALTER DATABASE postgres SET synchronous_commit = off")
            self.installation.kill_server()
            self.installation.start_server()
        await self.load.set_up(self.options.crowd)

    # Cycles

    async def cycle(self, number):
        fault = self.random.choices(list(FAULTS), FAULTS.values())[0]
        pause, is_for_crowd, settles = self.random.uniform(0.1, 0.6), self.random.random() < 0.15, self.random.random() < 0.3
        if is_for_crowd:
            # Killed while the rest of the audience is taken in.
            self.load.crowd_came.clear()
            self.load.crowd_is_wanted = True
            await asyncio.wait_for(self.load.crowd_came.wait(), SETTLING_LIMIT)
            pause /= 4
        await asyncio.sleep(pause)
        if settles:
            await self.load.settle_confirmations()
        if number % REVOCATION_CYCLES == 0:
            await self.frozen.revoke([self.installation.port])
        await self.inflict(fault)

    async def inflict(self, fault):
        installation, start = self.installation, time.monotonic()
        leader, others = installation.postmaster()
        self.faults[fault] += 1
        if fault == "the server":
            installation.kill_server()
        elif fault == "PostgreSQL, all its processes":
            kill(leader, *others)
        elif fault == "PostgreSQL's first process":
            kill(leader)
        elif fault == "one session of PostgreSQL":
            kill(self.random.choice(await self.sessions()))
        else:
            kill(leader, *others)
            installation.kill_server()
        if fault in ("the server", "everything"):
            # By now no request reaches the old one.
            self.load.visit += 1
            await asyncio.to_thread(installation.start_server)
        else:
            if installation.server.poll() is not None:
                self.ledger.problems.append(f"the server ended when {fault} was killed")
                await asyncio.to_thread(installation.start_server)
            await asyncio.to_thread(installation.start_postgres)
        self.back[fault].append(time.monotonic() - start)

    async def sessions(self):
        """Those that there are; after a kill PostgreSQL has none until it has recovered and the server asks again."""
        deadline = time.monotonic() + SETTLING_LIMIT
        while True:
            found = []
            for process in self.installation.postmaster()[1]:
                # One may have ended meanwhile.
                with contextlib.suppress(OSError):
                    title = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
                    if re.match(rb"postgres: \S+ \S+ \[local\]", title):
                        found.append(process)
            if found:
                return found
            if time.monotonic() > deadline:
                raise Failure("PostgreSQL has no session")
            await asyncio.sleep(0.05)


def report(drill, counts, broken):
    rows = [(fault, drill.faults[fault], f"{statistics.median(times):.2f}", f"{max(times):.2f}")
            for fault, times in drill.back.items()]
    print()
    table(["killed", "#times", "#back after s, median", "#at most"], rows)
    print()
    table(["promise", "#held to it", "#broken"], [
        (promise, count, len(broken[promise])) for promise, count in counts.items()]
        + [("what is acknowledged is what is answered meanwhile", sum(drill.ledger.changes.values()),
            len(drill.ledger.problems))])
    ledger, unanswered = drill.ledger, sum(client.unanswered for client in drill.load.clients)
    print(f"\n- acknowledged: {sum(ledger.changes.values()):,} catalogue writes, {len(ledger.instances):,} registrations,"
          f" {sum(ledger.answered.values()):,} confirmations, {len(ledger.notifications):,} notifications")
    print(f"- requests without a response: {unanswered:,}; starts of the server that failed first:"
          f" {drill.installation.restarts:,}")
    print(f"- webhook messages received: {drill.receiver.count:,}")


def main():
    parser = Arguments(__doc__)
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--crowd", type=int, default=60_000)
    parser.add_argument("--break", dest="is_broken", action="store_true")
    options = parser.parse_args()
    print(f"\nseed {options.seed}, {options.cycles} cycles", flush=True)
    drill = Drill(options)
    try:
        asyncio.run(drill.run())
        found = Found(drill.installation, drill.receiver)
        counts, broken = judge(drill.ledger, found)
        lost = sum(max(0, count - found.confirmations.get(place, 0)) for place, count in drill.ledger.answered.items())
        report(drill, counts, broken)
        print(f"- confirmations lost in the moment before a kill, as documented: {lost:,}")
        problems = [f"{promise}: {thing}" for promise, things in broken.items() for thing in things]
        problems += drill.ledger.problems
        for problem in problems[:20]:
            print(f"crash: NOT {problem}", file=sys.stderr)
        if problems:
            sys.exit(f"crash: {len(problems)} breaches with seed {options.seed}; the server's log ends:\n"
                     f"{drill.installation.log_tail()}")
        unnoticed = spoil(drill.ledger, drill.installation, drill.receiver)
        for promise in unnoticed:
            print(f"crash: a breach by hand goes unnoticed: {promise}", file=sys.stderr)
        if unnoticed:
            sys.exit(1)
        print(f"- spoiled by hand afterwards, and noticed: each of the {len(counts)} promises", flush=True)
    except Failure as failure:
        sys.exit(f"crash: {failure}\nseed {options.seed}; the server's log ends:\n{drill.installation.log_tail()}")
    finally:
        drill.installation.close()


if __name__ == "__main__":
    main()
