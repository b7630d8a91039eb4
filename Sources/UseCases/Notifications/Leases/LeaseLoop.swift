import Synchronization
import Tenancy

/// Takes what is due of tenants on loan, works on it, and settles what became of it, until it is told to stop.
///
/// No tenant holds up another: each has a share of what is on loan, and one for which claiming or settling fails is left alone
/// for a while. What could not be settled is kept and settled later, and nothing new is taken of that tenant meanwhile: its
/// loans could end, and be taken again here. Any number of servers may do so at once.
final class LeaseLoop<Work: LeasedWork>: Sendable {
    private let settings: LeaseSettings
    private let clock: any Clock<Duration>
    private let state: Mutex<LeaseState<Work.Outcome>>
    private let due = WakeUp()
    private let finished = WakeUp()

    init(_ settings: LeaseSettings, clock: any Clock<Duration>) {
        self.settings = settings
        self.clock = clock
        state = Mutex(LeaseState(settings))
    }

    /// How much is on loan and not settled.
    var loanCount: Int { state.withLock(\.loanCount) }

    var isStopping: Bool { Task.isCancelled || state.withLock(\.isStopping) }

    /// Something is due now.
    func wake() { due.raise() }

    /// Takes nothing more, and lets ``run(_:)`` return once the rest is settled.
    func stop() {
        state.withLock { $0.isStopping = true }
        due.raise()
    }

    /// Goes on until ``stop()``. To be called once.
    func run(_ work: Work) async {
        async let settling: Void = settleAll(work)
        await takeAll(work)
        state.withLock { $0.drain() }
        finished.raise()
        await settling
        let abandoned = state.withLock { $0.abandon() }
        if abandoned > 0 { work.report(.abandoned(abandoned)) }
    }

    // MARK: Taking

    private func takeAll(_ work: Work) async {
        await withDiscardingTaskGroup { pauses in
            pauses.addTask { await self.poll() }
            await withDiscardingTaskGroup { group in
                while !isStopping {
                    for (tenant, pause) in state.withLock({ $0.takeRests() }) {
                        pauses.addTask { await self.rest(tenant, for: pause) }
                    }
                    for tenant in await tenants(work) {
                        guard let room = state.withLock({ $0.reserve(for: tenant) }) else {
                            continue
                        }
                        if settings.isInTurn {
                            let loans = await claim(room, of: tenant, work)
                            group.addTask { await self.perform(loans, of: tenant, work) }
                        } else {
                            group.addTask {
                                await self.perform(
                                    await self.claim(room, of: tenant, work), of: tenant, work)
                            }
                        }
                    }
                    await due.wait()
                }
                pauses.cancelAll()
                if settings.cutsOff { group.cancelAll() }
            }
        }
    }

    private func poll() async {
        while (try? await clock.sleep(for: settings.pollInterval)) != nil { due.raise() }
    }

    private func tenants(_ work: Work) async -> [TenantID] {
        guard let busy = state.withLock({ $0.busy }) else { return [] }
        do {
            let tenants = try await work.tenants(except: busy)
            succeeded(work)
            return tenants
        } catch {
            failed(error, of: nil, work)
            return []
        }
    }

    /// - Parameter room: What is reserved; what is not claimed of it is given back.
    private func claim(_ room: Int, of tenant: TenantID, _ work: Work) async -> [Work.Loan] {
        do {
            let loans = try await work.claim(room, of: tenant)
            succeeded(work)
            state.withLock { state in
                state.release(room - loans.count, of: tenant)
                if loans.isEmpty { state.failures[tenant] = nil }
            }
            // There may be more of it, or room for others.
            if !loans.isEmpty { due.raise() }
            return loans
        } catch {
            state.withLock { state in
                state.release(room, of: tenant)
                if !Task.isCancelled { state.rest(tenant, for: work.rest) }
            }
            failed(error, of: tenant, work)
            return []
        }
    }

    private func perform(_ loans: [Work.Loan], of tenant: TenantID, _ work: Work) async {
        await withDiscardingTaskGroup { group in
            for loan in loans {
                group.addTask {
                    let outcome = await work.work(on: loan, of: tenant)
                    self.state.withLock { $0.finish(outcome, of: tenant) }
                    self.finished.raise()
                }
            }
        }
    }

    // MARK: Settling

    private func settleAll(_ work: Work) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, let tenants = state.withLock({ $0.nextToSettle() }) {
                for tenant in tenants { group.addTask { await self.settle(tenant, work) } }
                if tenants.isEmpty { await finished.wait() }
            }
        }
    }

    private func settle(_ tenant: TenantID, _ work: Work) async {
        if state.withLock({ $0.mayGather(for: tenant) }) {
            try? await clock.sleep(for: settings.gathering)
        }
        let outcomes = state.withLock { $0.takeOutcomes(of: tenant) }
        do {
            try await work.settle(outcomes, of: tenant)
            succeeded(work)
            state.withLock { $0.settled(outcomes.count, of: tenant) }
        } catch {
            let pause = state.withLock {
                $0.keep(outcomes, of: tenant, resting: work.rest)
            }
            failed(error, of: tenant, work)
            if let pause {
                try? await clock.sleep(for: pause)
                state.withLock { $0.settleAgain(tenant) }
            }
        }
        due.raise()
        finished.raise()
    }

    // MARK: Resting

    private func rest(_ tenant: TenantID, for pause: Duration) async {
        try? await clock.sleep(for: pause)
        state.withLock { $0.endRest(of: tenant) }
        due.raise()
        finished.raise()
    }

    private func failed(_ error: any Error, of tenant: TenantID?, _ work: Work) {
        guard !Task.isCancelled else { return }
        state.withLock { $0.isFailing = true }
        work.report(.failed(tenant, error))
        if tenant != nil { due.raise() }
    }

    private func succeeded(_ work: Work) {
        let hasRecovered = state.withLock { state in
            defer { state.isFailing = false }
            return state.isFailing
        }
        if hasRecovered { work.report(.recovered) }
    }
}
