import Administration
import Synchronization
import Tenancy

/// The imports that run in this server: at most one for each tenant, and a limited number for all tenants. Further imports wait for
/// their turn in the order of arrival. Small imports have turns of their own, so that they do not wait for large ones.
final class RunningImports: Sendable {
    private enum Size { case small, large }

    private struct State {
        /// Includes tenants whose imports wait.
        var tenants: Set<TenantID> = []
        var running: [Size: Int] = [:]
        var waiting: [(tenant: TenantID, size: Size, turn: AsyncStream<Void>.Continuation)] = []
    }

    private let state = Mutex(State())
    private let maximum: Int
    private let maximumSmall: Int
    private let patience: Duration

    /// The maximum number of waiting imports of a size. [ours]
    private static let maximumWaiting = 16

    /// - Parameters:
    ///   - maximum: The maximum number of running imports that are not small.
    ///   - maximumSmall: The maximum number of running small imports; 0 if they take the turns of the others.
    ///   - patience: The time for which an import waits for its turn. [ours]
    init(maximum: Int, maximumSmall: Int = 0, patience: Duration = .seconds(60)) {
        self.maximum = maximum
        self.maximumSmall = maximumSmall
        self.patience = patience
    }

    /// The number of waiting imports.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// - Throws: `AdministrationError.conflict` if an import of the tenant is running or waiting;
    ///   `AdministrationError.tooManyImports` if too many imports wait, or if the turn does not come in time.
    func with<Result>(
        _ tenant: TenantID, isSmall: Bool = false, _ body: () async throws -> Result
    ) async throws -> Result {
        let size = isSmall && maximumSmall > 0 ? Size.small : .large
        let maximum = size == .small ? maximumSmall : self.maximum
        let turn = try state.withLock { state throws -> AsyncStream<Void>? in
            guard !state.tenants.contains(tenant) else { throw AdministrationError.conflict }
            guard state.running[size, default: 0] >= maximum else {
                state.running[size, default: 0] += 1
                state.tenants.insert(tenant)
                return nil
            }
            guard state.waiting.count(where: { $0.size == size }) < Self.maximumWaiting else {
                throw AdministrationError.tooManyImports
            }
            state.tenants.insert(tenant)
            let (turn, continuation) = AsyncStream<Void>.makeStream()
            state.waiting.append((tenant, size, continuation))
            return turn
        }
        defer { leave(tenant, size) }
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

    private func leave(_ tenant: TenantID, _ size: Size) {
        state.withLock { state in
            state.tenants.remove(tenant)
            if let index = state.waiting.firstIndex(where: { $0.tenant == tenant }) {
                // The import stopped waiting before its turn came.
                state.waiting.remove(at: index)
            } else if let next = state.waiting.firstIndex(where: { $0.size == size }) {
                state.waiting.remove(at: next).turn.finish()
            } else {
                state.running[size, default: 0] -= 1
            }
        }
    }
}
