public import Foundation
import Synchronization

/// A bounded set of connections to one server, or to the hosts of one connection string.
///
/// Connections are made when needed and leased to one closure at a time. Waiting tasks are served in turns between their
/// parties, and in order within a party, so that no party waits behind another's many tasks.
///
/// State of one user never reaches the next. A connection inside a transaction or a COPY is closed. Each BEGIN resets settings
/// and roles, in the same round trip. After `withConnection` has run statements, locks, temporary tables, cursors and LISTEN
/// are released too. A *transaction* that creates such session state (`pg_advisory_lock`, `CREATE TEMPORARY TABLE` without `ON
/// COMMIT DROP`, LISTEN) leaves it on the connection until a `withConnection` uses it: use `pg_advisory_xact_lock` and `ON
/// COMMIT DROP`. Prepared statements are kept.
public final class ConnectionPool: Sendable {
    private struct Shared {
        var machine: PoolStateMachine
        /// Connections that are leased or can be.
        var workers: [PoolStateMachine.ConnectionID: ConnectionWorker] = [:]
        var waiters: [PoolStateMachine.WaiterID: CheckedContinuation<Acquired, Never>] = [:]
        var nextWaiter = 0
        var waits = PoolWaits()
        var isFinished = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private typealias Acquired = Result<Lease, PostgreSQLError>

    /// The pool's configuration; its description contains no secret.
    public let configuration: PoolConfiguration
    private let connectionString: Result<ConnectionString, PostgreSQLError>
    private let preparation: Preparation
    private let shared: Mutex<Shared>

    /// Connects to nothing yet; a connection string that cannot be parsed is an error of the first use.
    public init(_ configuration: PoolConfiguration) {
        self.configuration = configuration
        preparation = Preparation(onGivenUp: configuration.onUnprepared)
        connectionString = Result { () throws(PostgreSQLError) in try ConnectionString(configuration.conninfo)
        }
        shared = Mutex(
            Shared(
                machine: PoolStateMachine(
                    maximumConnections: configuration.maximumConnections,
                    maximumWaiters: configuration.maximumWaiters)))
    }

    deinit {
        for worker in shared.withLock({ $0.workers.values }) { worker.shutDown() }
    }

    /// Runs the closure with a pool, and closes the pool afterwards.
    public nonisolated(nonsending) static func withPool<R: Sendable>(
        _ configuration: PoolConfiguration, _ body: nonisolated(nonsending) (ConnectionPool) async throws -> R
    ) async throws -> R {
        let pool = ConnectionPool(configuration)
        do {
            let result = try await body(pool)
            await pool.close()
            return result
        } catch {
            await pool.close()
            throw error
        }
    }

    /// How the connections are used now.
    public var statistics: PoolStatistics {
        shared.withLock { $0.machine.statistics }
    }

    /// The completed waits since the pool was created.
    public var waits: PoolWaits {
        shared.withLock { $0.waits }
    }

    /// Runs the closure with a connection. Each statement is its own transaction.
    @discardableResult
    public nonisolated(nonsending) func withConnection<R: Sendable>(
        _ body: nonisolated(nonsending) (Connection) async throws -> R
    ) async throws -> R {
        let lease = try await acquireAlive()
        do {
            let result = try await body(Connection(lease: lease))
            await giveBack(lease)
            return result
        } catch {
            await giveBack(lease)
            throw error
        }
    }

    /// Runs a closure in a transaction: committed when it returns, rolled back when it throws.
    ///
    /// `party`: The party whose turn is used when tasks wait for connections.
    ///
    /// Throws the closure's error; `PostgreSQLError.rolledBack` if the closure ignored a failed statement;
    /// `PostgreSQLError.outcomeUnknown` if the connection broke during COMMIT, or a synchronous standby did not confirm it. A
    /// task that is cancelled during COMMIT still gets the result.
    @discardableResult
    public nonisolated(nonsending) func withTransaction<R: Sendable>(
        _ mode: TransactionMode = .readWrite, for party: UUID? = nil,
        _ body: nonisolated(nonsending) (Transaction) async throws -> R
    ) async throws -> R {
        var mode = mode
        mode.statementTimeout = mode.statementTimeout ?? configuration.statementTimeout
        let lease = try await acquireTransaction(mode, for: party)
        let result: R
        do {
            result = try await body(Transaction(lease: lease))
        } catch {
            let isClean = await lease.rollBack()
            release(lease, isReusable: isClean)
            throw error
        }
        do throws(PostgreSQLError) {
            let isClean = try await lease.commit()
            release(lease, isReusable: isClean)
        } catch {
            // A refused COMMIT has ended the transaction; after anything else the state is not certain.
            let isClean = if case .server = error { true } else { error == .rolledBack }
            release(lease, isReusable: isClean)
            throw error
        }
        return result
    }

    /// Refuses further use, waits for the end of all leases, and closes all connections.
    ///
    /// Connections that are not returned in time are closed while in use, and a second later the pool stops waiting.
    public func close(within limit: Duration = .seconds(10)) async {
        handle { $0.close() }
        let timer = Task { [weak self] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            self?.handle { $0.closeBusy() }
            // A thread may hang in a name lookup or in PQcancel, and a user in its own work.
            guard (try? await Task.sleep(for: Self.graceToEnd)) != nil else { return }
            self?.finish()
        }
        await withCheckedContinuation { continuation in
            let isFinished = shared.withLock { shared in
                if !shared.isFinished { shared.closers.append(continuation) }
                return shared.isFinished
            }
            if isFinished { continuation.resume() }
        }
        timer.cancel()
    }

    private static let graceToEnd = Duration.seconds(1)

    private func finish() {
        let closers = shared.withLock { shared in
            defer { shared.closers = [] }
            shared.isFinished = true
            return shared.closers
        }
        for closer in closers { closer.resume() }
    }

    // MARK: - Lending

    private func acquire(_ deadline: Deadline, for party: UUID?) async throws(PostgreSQLError) -> Lease {
        _ = try connectionString.get()
        if Task.isCancelled { throw .cancelled }
        let (leased, waiter) = shared.withLock { shared in
            shared.nextWaiter += 1
            let leased = shared.machine.lendIdle().flatMap { id in
                shared.workers[id].map { lease(id, $0) }
            }
            return (leased, shared.nextWaiter)
        }
        if let leased { return leased }
        // A new connection may open before this task runs again, and would then be used after the deadline.
        if deadline.hasPassed { throw .timeout(.acquiring) }

        let start = ContinuousClock.now
        let endOfWait = configuration.observer?(.waitForConnection)
        defer {
            let wait = start.duration(to: .now)
            shared.withLock { $0.waits.add(wait) }
        }
        // The timer and the cancellation only notify the state machine, which decides which came first.
        let timer = Task { [weak self] in
            guard let instant = deadline.instant,
                (try? await Task.sleep(until: instant, clock: .continuous)) != nil
            else { return }
            self?.giveUp(waiter, .timeout(.acquiring))
        }
        defer { timer.cancel() }
        let acquired: Acquired = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                perform(
                    shared.withLock { shared in
                        shared.waiters[waiter] = continuation
                        return shared.machine.acquire(waiter, for: party)
                    })
                // Either may have come before the continuation existed.
                if Task.isCancelled { giveUp(waiter, .cancelled) }
                if deadline.hasPassed { giveUp(waiter, .timeout(.acquiring)) }
            }
        } onCancel: {
            giveUp(waiter, .cancelled)
        }
        do throws(PostgreSQLError) {
            let lease = try acquired.get()
            endOfWait?(nil)
            return lease
        } catch {
            endOfWait?(error)
            throw error
        }
    }

    private func lease(_ id: PoolStateMachine.ConnectionID, _ worker: ConnectionWorker) -> Lease {
        Lease(connection: id, worker: worker, observer: configuration.observer)
    }

    private func giveUp(_ waiter: PoolStateMachine.WaiterID, _ error: PostgreSQLError) {
        handle { $0.giveUp(waiter, error) }
    }

    /// A connection that the server has not closed meanwhile.
    private func acquireAlive() async throws(PostgreSQLError) -> Lease {
        try await acquireFirst(for: nil) { lease, deadline throws(PostgreSQLError) in
            try await lease.clean(by: deadline)
        }
    }

    /// A connection in a new transaction.
    private func acquireTransaction(
        _ mode: TransactionMode, for party: UUID?
    ) async throws(PostgreSQLError) -> Lease {
        try await acquireFirst(for: party) { lease, deadline throws(PostgreSQLError) in
            try await lease.begin(mode, by: deadline)
        }
    }

    /// The first connection that a harmless step succeeds on: those found dead, or silent, are thrown away.
    ///
    /// The step gets half of the time that is left, so that another connection can still be tried.
    private func acquireFirst(
        for party: UUID?, _ step: (Lease, Deadline) async throws(PostgreSQLError) -> Void
    ) async throws(PostgreSQLError) -> Lease {
        let deadline = Deadline.after(configuration.acquireTimeout)
        var left = configuration.maximumConnections
        while true {
            let lease = try await acquire(deadline, for: party)
            do throws(PostgreSQLError) {
                try await step(lease, max(deadline.share(of: 2), .after(Self.leastToBegin)))
                return lease
            } catch {
                await giveBack(lease)
                guard error == .connectionLost || error == .timeout(.statement) else { throw error }
                if deadline.hasPassed { throw .timeout(.acquiring) }
                guard left > 0 else { throw error }
                left -= 1
            }
        }
    }

    /// A task that has waited until its deadline would otherwise discard a connection that arrives a moment later.
    private static let leastToBegin = Duration.seconds(1)

    private func giveBack(_ lease: Lease) async {
        let isClean = await lease.settle()
        release(lease, isReusable: isClean)
    }

    private func release(_ lease: Lease, isReusable: Bool) {
        perform(
            shared.withLock { shared in
                let stale = lease.isDemoted ? shared.machine.invalidate() : []
                return stale
                    + shared.machine.release(
                        lease.connection, isReusable: isReusable && !lease.isSpent)
            })
    }

    // MARK: - Actions of the state machine

    private func perform(_ actions: [PoolStateMachine.Action]) {
        for action in actions {
            switch action {
            case .connect(let id):
                connect(id)
            case .lend(let id, let waiter):
                let (continuation, worker) = shared.withLock { shared in
                    (shared.waiters.removeValue(forKey: waiter), shared.workers[id])
                }
                if let worker {
                    continuation?.resume(returning: .success(lease(id, worker)))
                } else {
                    // `closeBusy` came in between.
                    handle { $0.release(id, isReusable: false) }
                    continuation?.resume(returning: .failure(.poolClosed))
                }
            case .fail(let waiter, let error):
                shared.withLock { $0.waiters.removeValue(forKey: waiter) }?
                    .resume(returning: .failure(error))
            case .close(let id):
                shared.withLock { $0.workers.removeValue(forKey: id) }?.shutDown()
            case .finished:
                finish()
            }
        }
    }

    private func connect(_ id: PoolStateMachine.ConnectionID) {
        do throws(PostgreSQLError) {
            let string = try connectionString.get()
            let worker = try ConnectionWorker(configuration: configuration, preparation: preparation)
            // `close` may come before there is a worker to shut down.
            let isWanted = shared.withLock { shared in
                let isWanted = shared.machine.isConnecting(id)
                if isWanted { shared.workers[id] = worker }
                return isWanted
            }
            if isWanted { worker.start(string, events(of: id)) } else { handle { $0.ended(id) } }
        } catch {
            handle { $0.connectFailed(id, error) + $0.ended(id) }
        }
    }

    private func events(of id: PoolStateMachine.ConnectionID) -> ConnectionWorker.Events {
        // The thread may live longer than a released pool. Then there is no receiver.
        ConnectionWorker.Events(
            connected: { [weak self] result in
                switch result {
                case .success: self?.handle { $0.connected(id) }
                case .failure(let error): self?.handle { $0.connectFailed(id, error) }
                }
            },
            unusable: { [weak self] in self?.handle { $0.lost(id) } },
            idle: { [weak self] in self?.handle { $0.idled(id) } },
            ended: { [weak self] in self?.handle { $0.ended(id) } })
    }

    private func handle(_ event: (inout PoolStateMachine) -> [PoolStateMachine.Action]) {
        perform(shared.withLock { event(&$0.machine) })
    }
}
