import Tenancy

@testable import Notifications

/// Leased work with scripted results.
final class ScriptedWork: LeasedWork {
    struct Failure: Error {}

    struct State {
        /// The due work by number.
        var due: [TenantID: [Int]] = [:]
        var settled: [TenantID: [Int]] = [:]
        /// The number of attempts to store results.
        var tries: [TenantID: Int] = [:]
        var failed: [TenantID?] = []
        var abandonedCount = 0
    }

    let state: Watched<State>
    private let onLook: @Sendable () async throws -> Void
    private let onClaim: @Sendable (TenantID) async throws -> Void
    private let onWork: @Sendable (Int) async -> Void
    private let onSettle: @Sendable (TenantID) async throws -> Void

    init(
        _ due: [TenantID: [Int]], onLook: @escaping @Sendable () async throws -> Void = {},
        onClaim: @escaping @Sendable (TenantID) async throws -> Void = { _ in },
        onWork: @escaping @Sendable (Int) async -> Void = { _ in },
        onSettle: @escaping @Sendable (TenantID) async throws -> Void = { _ in }
    ) {
        state = Watched(State(due: due))
        self.onLook = onLook
        self.onClaim = onClaim
        self.onWork = onWork
        self.onSettle = onSettle
    }

    func lessees(except busy: [TenantID]) async throws -> [TenantID] {
        try await onLook()
        return state.current.due.filter { !$0.value.isEmpty && !busy.contains($0.key) }.keys.sorted {
            $0.description < $1.description
        }
    }

    func claim(_ room: Int, of tenant: TenantID) async throws -> (leases: [Int], hasMore: Bool) {
        try await onClaim(tenant)
        return state.change { state in
            let leases = Array(state.due[tenant, default: []].prefix(room))
            state.due[tenant]?.removeFirst(leases.count)
            return (leases, false)
        }
    }

    func work(on lease: Int, of tenant: TenantID) async -> Int {
        await onWork(lease)
        return lease
    }

    func isPast(_ outcome: Int) -> Bool { false }

    func settle(_ outcomes: [Int], of tenant: TenantID) async -> Unsettled<Int>? {
        state.change { $0.tries[tenant, default: 0] += 1 }
        do {
            try await onSettle(tenant)
            state.change { $0.settled[tenant, default: []] += outcomes }
            return nil
        } catch {
            return Unsettled(outcomes: outcomes, error: error)
        }
    }

    func rest(_ number: Int) -> Duration { .seconds(10 * number) }

    func report(_ event: LeaseEvent<TenantID>) {
        state.change { state in
            switch event {
            case .failed(let tenant, _): state.failed.append(tenant)
            case .recovered: break
            case .abandoned(let count): state.abandonedCount += count
            }
        }
    }
}
