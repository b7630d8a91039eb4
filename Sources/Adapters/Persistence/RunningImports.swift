import Administration
import Synchronization
import Tenancy

/// The imports that run in this server: at most one for each tenant, and a limited number for all tenants. Further imports wait for
/// their turn in the order of arrival.
final class RunningImports: Sendable {
    private struct State {
        /// Includes tenants whose imports wait.
        var tenants: Set<TenantID> = []
        var waiting: [(tenant: TenantID, turn: AsyncStream<Void>.Continuation)] = []
    }

    private let state = Mutex(State())
    private let maximum: Int
    private let patience: Duration

    /// The maximum number of waiting imports. [ours]
    private static let maximumWaiting = 16

    /// - Parameters:
    ///   - maximum: The maximum number of running imports.
    ///   - patience: The time for which an import waits for its turn. [ours]
    init(maximum: Int, patience: Duration = .seconds(60)) {
        self.maximum = maximum
        self.patience = patience
    }

    /// The number of waiting imports.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// - Throws: `AdministrationError.conflict` if an import of the tenant is running or waiting;
    ///   `AdministrationError.tooManyImports` if too many imports wait, or if the turn does not come in time.
    func with<Result>(_ tenant: TenantID, _ body: () async throws -> Result) async throws -> Result {
        let turn = try state.withLock { state throws -> AsyncStream<Void>? in
            guard !state.tenants.contains(tenant) else { throw AdministrationError.conflict }
            guard state.tenants.count < maximum + Self.maximumWaiting else {
                throw AdministrationError.tooManyImports
            }
            state.tenants.insert(tenant)
            guard state.tenants.count > maximum else { return nil }
            let (turn, continuation) = AsyncStream<Void>.makeStream()
            state.waiting.append((tenant, continuation))
            return turn
        }
        defer { leave(tenant) }
        if let turn {
            let hasTurn = await comes(turn)
            try Task.checkCancellation()
            guard hasTurn else { throw AdministrationError.tooManyImports }
        }
        return try await body()
    }

    /// Whether the import's turn comes in time.
    private func comes(_ turn: AsyncStream<Void>) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in turn {}
                return true
            }
            group.addTask { [patience] in
                try? await Task.sleep(for: patience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    private func leave(_ tenant: TenantID) {
        state.withLock { state in
            state.tenants.remove(tenant)
            if let index = state.waiting.firstIndex(where: { $0.tenant == tenant }) {
                // The import stopped waiting before its turn came.
                state.waiting.remove(at: index)
            } else if !state.waiting.isEmpty {
                state.waiting.removeFirst().turn.finish()
            }
        }
    }
}
