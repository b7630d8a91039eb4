import Administration
import Notifications
import Synchronization
import Tenancy

/// Which tenants' imports are under way in this server: one of each, and only so many at once; others wait for their turn, the
/// first first.
final class ImportsUnderWay: Sendable {
    private struct State {
        /// Those that wait, too.
        var tenants: Set<TenantID> = []
        var waiting: [(tenant: TenantID, turn: AsyncStream<Void>.Continuation)] = []
    }

    private let state = Mutex(State())
    private let maximum: Int

    /// How many may wait. [ours]
    private static let maximumWaiting = 16

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// How many wait for their turn.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// - Throws: `AdministrationError.conflict` where one of the tenant's is under way;
    ///   `NotificationStoreError.unavailable` where as many wait as may.
    func with<Result>(_ tenant: TenantID, _ body: () async throws -> Result) async throws -> Result {
        let turn = try state.withLock { state throws -> AsyncStream<Void>? in
            guard !state.tenants.contains(tenant) else { throw AdministrationError.conflict }
            guard state.tenants.count < maximum + Self.maximumWaiting else {
                throw NotificationStoreError.unavailable
            }
            state.tenants.insert(tenant)
            guard state.tenants.count > maximum else { return nil }
            let (turn, continuation) = AsyncStream<Void>.makeStream()
            state.waiting.append((tenant, continuation))
            return turn
        }
        defer { leave(tenant) }
        if let turn {
            for await _ in turn {}
            try Task.checkCancellation()
        }
        return try await body()
    }

    private func leave(_ tenant: TenantID) {
        state.withLock { state in
            state.tenants.remove(tenant)
            if let index = state.waiting.firstIndex(where: { $0.tenant == tenant }) {
                // It gave up before its turn came.
                state.waiting.remove(at: index)
            } else if !state.waiting.isEmpty {
                state.waiting.removeFirst().turn.finish()
            }
        }
    }
}
