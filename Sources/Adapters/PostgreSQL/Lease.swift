import Synchronization

/// One lease of a connection, the base of `Connection` and `Transaction`.
final class Lease: Sendable {
    let connection: PoolStateMachine.ConnectionID
    private let worker: ConnectionWorker
    private let id: ConnectionWorker.LeaseID
    private let observer: PoolConfiguration.Observer?
    private let state = Mutex(State())

    private struct State {
        var mode: TransactionMode?
        var isDemoted = false
        var isSpent = false
    }

    init(
        connection: PoolStateMachine.ConnectionID, worker: ConnectionWorker,
        observer: PoolConfiguration.Observer?
    ) {
        self.connection = connection
        self.worker = worker
        self.observer = observer
        id = worker.beginLease()
    }

    /// A writing statement or BEGIN failed because the server is read-only: it is not the primary.
    var isDemoted: Bool { state.withLock(\.isDemoted) }

    /// The connection may carry settings of its session, and is not leased again.
    var isSpent: Bool { state.withLock(\.isSpent) }

    func spend() {
        state.withLock { $0.isSpent = true }
    }

    func execute(_ query: Query) async throws(PostgreSQLError) -> QueryResult {
        try await observing(.statement(query)) { () throws(PostgreSQLError) in
            try await perform { session, limits throws(PostgreSQLError) in
                try session.execute(query, limits)
            }
        }
    }

    func execute(script: String) async throws(PostgreSQLError) {
        try await observing(.script) { () throws(PostgreSQLError) in
            try await perform { session, limits throws(PostgreSQLError) in
                try session.execute(script: script, limits)
            }
        }
    }

    /// Runs an operation, and tells the observer of its begin and end.
    func observing<R: Sendable>(
        _ operation: @autoclosure () -> PoolConfiguration.Operation,
        _ body: () async throws(PostgreSQLError) -> R
    ) async throws(PostgreSQLError) -> R {
        guard let observer, let end = observer(operation()) else { return try await body() }
        do throws(PostgreSQLError) {
            let result = try await body()
            end(nil)
            return result
        } catch {
            end(error)
            throw error
        }
    }

    // MARK: - Beginning and ending

    /// Makes sure that the connection is alive, and that it carries nothing of an earlier user.
    func clean(by deadline: Deadline) async throws(PostgreSQLError) {
        try await perform(by: deadline) { session, limits throws(PostgreSQLError) in
            guard session.isAlive() else { throw .connectionLost }
            try session.clean(limits)
        }
    }

    func begin(_ mode: TransactionMode, by deadline: Deadline) async throws(PostgreSQLError) {
        state.withLock { $0.mode = mode }
        try await perform(by: deadline) { session, limits throws(PostgreSQLError) in
            try session.begin(mode, limits)
        }
    }

    /// Commits; returns whether the connection can be leased again.
    func commit() async throws(PostgreSQLError) -> Bool {
        try await observing(.commit) { () throws(PostgreSQLError) in
            try await perform(endsLease: true, isCancellable: false) {
                session, limits throws(PostgreSQLError) in
                try session.commit(limits)
                session.settle()
                return !session.isBroken
            }
        }
    }

    /// Rolls back; returns whether the connection can be leased again.
    func rollBack() async -> Bool {
        await end { session, limits in session.rollBack(limits) }
    }

    /// Resets the session; returns whether the connection can be leased again.
    ///
    /// It cannot from inside a transaction or a COPY.
    func settle() async -> Bool {
        await end { session, limits in
            session.settle()
            guard !session.isBroken else { return }
            do throws(PostgreSQLError) { try session.clean(limits) } catch { session.breakOff(error) }
        }
    }

    private func end(_ work: @escaping @Sendable (Session, Limits) -> Void) async -> Bool {
        do throws(PostgreSQLError) {
            return try await perform(endsLease: true, isCancellable: false) { session, limits in
                work(session, limits)
                return !session.isBroken
            }
        } catch {
            return false
        }
    }

    // MARK: - Jobs

    func perform<R: Sendable>(
        by deadline: Deadline? = nil, endsLease: Bool = false, isCancellable: Bool = true,
        _ work: @escaping @Sendable (Session, Limits) throws(PostgreSQLError) -> R
    ) async throws(PostgreSQLError) -> R {
        let mode = state.withLock(\.mode)
        do throws(PostgreSQLError) {
            return try await worker.perform(
                lease: id, deadline: deadline, timeout: mode?.statementTimeout, endsLease: endsLease,
                isCancellable: isCancellable, work)
        } catch {
            if error.serverError?.isOfStandby == true, mode?.isReadOnly != true {
                state.withLock { $0.isDemoted = true }
            }
            throw error
        }
    }
}
