import Synchronization

/// Leases due work, performs it, and settles the results, until it is stopped.
///
/// No lessee delays another: each has a share of the leases, and a lessee whose claims or settlements fail is paused. Results
/// that could not be settled are kept for later, and no new work of that lessee is leased meanwhile. Several servers can do
/// this at once.
///
/// Two tasks run side by side: one leases and works; the other settles, and continues with its retries while the first ends.
final class LeaseLoop<Work: LeasedWork>: Sendable {
    private let settings: LeaseSettings
    private let clock: any Clock<Duration>
    private let state: Mutex<LeaseState<Work.Lessee, Work.Outcome>>
    private let due = WakeUp()
    private let finished = WakeUp()
    private let stopped = WakeUp()

    init(_ settings: LeaseSettings, clock: any Clock<Duration>) {
        self.settings = settings
        self.clock = clock
        state = Mutex(LeaseState(settings))
    }

    /// The number of unsettled leases.
    var heldCount: Int { state.withLock(\.heldCount) }

    var isStopping: Bool { Task.isCancelled || state.withLock(\.isStopping) }

    /// Something is due now.
    func wake() { due.raise() }

    /// Leases nothing more, and lets ``run(_:)`` return when the remaining results are stored.
    func stop() {
        state.withLock { $0.isStopping = true }
        due.raise()
        stopped.raise()
    }

    /// Goes on until ``stop()``. To be called once.
    func run(_ work: Work) async {
        await withTaskGroup { group in
            group.addTask { await self.takeAndSettle(work) }
            guard settings.cutsOff else { return }
            await stopped.wait()
            group.cancelAll()
        }
        await settleRest(work)
    }

    private func takeAndSettle(_ work: Work) async {
        async let settling: Void = settleWhileWorking(work)
        await take(work)
        state.withLock { $0.drain() }
        finished.raise()
        await settling
    }

    // MARK: Taking

    private func take(_ work: Work) async {
        await withDiscardingTaskGroup { timers in
            timers.addTask { await self.poll(work) }
            await withDiscardingTaskGroup { group in
                while !isStopping {
                    for (lessee, number) in state.withLock({ $0.takeRests() }) {
                        timers.addTask { await self.rest(lessee, for: work.rest(number)) }
                    }
                    if let found = await look(work) {
                        if settings.isInTurn {
                            for lessee in state.withLock({ $0.inTurn(found) }) {
                                guard let room = state.withLock({ $0.reserve(for: lessee) }) else { continue }
                                for lease in await claim(room, of: lessee, work) {
                                    group.addTask { await self.perform(lease, of: lessee, work) }
                                }
                            }
                        } else {
                            for (lessee, room) in state.withLock({ $0.reserve(for: found) }) {
                                group.addTask { await self.claimAndPerform(room, of: lessee, work) }
                            }
                        }
                    }
                    await due.wait()
                }
                timers.cancelAll()
            }
        }
    }

    private func poll(_ work: Work) async {
        while (try? await clock.sleep(for: settings.pollInterval)) != nil {
            let droppedCount = state.withLock { state in
                state.pass()
                return state.drop(where: work.isPast)
            }
            if droppedCount > 0 { work.report(.abandoned(droppedCount)) }
            due.raise()
        }
    }

    /// Nil if no lessees were read.
    private func look(_ work: Work) async -> [Work.Lessee]? {
        guard let busy = state.withLock(\.busy) else { return nil }
        do {
            let lessees = try await work.lessees(except: busy)
            succeeded(work)
            return lessees
        } catch {
            state.withLock { $0.isLookFailing = true }
            failed(error, of: nil, work)
            return nil
        }
    }

    /// - Parameter room: The reserved number.
    private func claim(_ room: Int, of lessee: Work.Lessee, _ work: Work) async -> [Work.LeasedMessage] {
        do {
            let (leases, hasMore) = try await work.claim(room, of: lessee)
            succeeded(work)
            let isMoreDue = state.withLock {
                $0.claimed(leases.count, of: room, for: lessee, hasMore: hasMore)
            }
            if isMoreDue { due.raise() }
            return leases
        } catch {
            state.withLock { $0.failedToClaim(room, for: lessee) }
            failed(error, of: lessee, work)
            due.raise()
            return []
        }
    }

    private func rest(_ lessee: Work.Lessee, for pause: Duration) async {
        try? await clock.sleep(for: pause)
        state.withLock { $0.endRest(of: lessee) }
        due.raise()
    }

    private func claimAndPerform(_ room: Int, of lessee: Work.Lessee, _ work: Work) async {
        let leases = await claim(room, of: lessee, work)
        await withDiscardingTaskGroup { group in
            for lease in leases { group.addTask { await self.perform(lease, of: lessee, work) } }
        }
    }

    private func perform(_ lease: Work.LeasedMessage, of lessee: Work.Lessee, _ work: Work) async {
        let outcome = await work.work(on: lease, of: lessee)
        state.withLock { $0.finish(outcome, of: lessee) }
        finished.raise()
    }

    // MARK: Settling

    private func settleWhileWorking(_ work: Work) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, !state.withLock(\.isQuiet) {
                guard let lessee = state.withLock({ $0.next() }) else {
                    await finished.wait()
                    continue
                }
                group.addTask { await self.settle(lessee, work) }
            }
            // Only rests are left.
            group.cancelAll()
        }
    }

    /// Settles the remaining results in rounds: each round tries each lessee once, so that a failing one delays no others.
    private func settleRest(_ work: Work) async {
        for round in 1...max(1, settings.lastTries) {
            let settlers = state.withLock { $0.beginRound() }
            guard settlers > 0 else { return }
            if round > 1 { try? await clock.sleep(for: settings.settlingRest) }
            await withDiscardingTaskGroup { group in
                for _ in 1...settlers {
                    group.addTask {
                        while let lessee = self.state.withLock({ $0.next() }) {
                            await self.settle(lessee, work)
                        }
                    }
                }
            }
        }
        let abandonedCount = state.withLock { $0.abandon() }
        if abandonedCount > 0 { work.report(.abandoned(abandonedCount)) }
    }

    /// Stores one batch of results. If that fails, waits until the lessee has rested. Meanwhile it occupies no settler.
    private func settle(_ lessee: Work.Lessee, _ work: Work) async {
        if state.withLock({ $0.mayGather(for: lessee) }) {
            try? await clock.sleep(for: settings.gathering)
        }
        let outcomes = state.withLock { $0.takeOutcomes(of: lessee) }
        let unsettled = await work.settle(outcomes, of: lessee)
        let left = unsettled?.outcomes ?? []
        let mustRest = state.withLock {
            $0.settled(outcomes.count - left.count, keeping: left, of: lessee)
        }
        if let unsettled { failed(unsettled.error, of: lessee, work) } else { succeeded(work) }
        due.raise()
        finished.raise()
        guard mustRest else { return }
        try? await clock.sleep(for: settings.settlingRest)
        state.withLock { $0.endSettlingRest(of: lessee) }
        due.raise()
        finished.raise()
    }

    // MARK: Telling

    private func failed(_ error: any Error, of lessee: Work.Lessee?, _ work: Work) {
        guard !Task.isCancelled else { return }
        state.withLock { $0.isFailing = true }
        work.report(.failed(lessee, error))
    }

    private func succeeded(_ work: Work) {
        let hasRecovered = state.withLock { state in
            defer { (state.isFailing, state.isLookFailing) = (false, false) }
            return state.isFailing
        }
        if hasRecovered { work.report(.recovered) }
    }
}
