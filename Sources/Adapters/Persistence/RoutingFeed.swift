import Foundation
public import PostgreSQL
public import Routing
public import Tenancy

/// Keeps a routing table as the database is: reads it once, then follows the log of changes.
///
/// The log is read by snapshots: what the present one sees and the last one did not is new, in whatever order
/// transactions began and ended. A long transaction holds nothing up, and nothing is skipped. (PostgreSQL,
/// "Transaction ID and Snapshot Information Functions".) A changed row is read as it is now, in the same snapshot, so
/// that the order of its changes does not matter.
///
/// Everything is read again when changes were pruned before they were read, and when the database is another one than
/// before or its server was started anew: a restored, promoted or crashed server may never have had what was seen.
///
/// A snapshot of a server in recovery names no transaction that is under way (PostgreSQL, `GetSnapshotData`): there only what is older than
/// all of these counts as seen, so that what they changed is read when they end, after a promotion too.
///
/// Works as `doorstep_router`.
public actor RoutingFeed {
    /// What happened, for a log and for metrics.
    public enum Event: Sendable {
        /// Everything was read; `unreadable` rows could not be, and were left out.
        case loaded(experiences: Int, locations: Int, unreadable: Int, duration: Duration)
        /// Changes were read: how many rows, and how many tenants' whole relations.
        case changed(rows: Int, relations: Int, unreadable: Int)
        /// The database did not answer; it is asked again, and meanwhile the last table stays.
        case interrupted(any Error)
        /// It answers again.
        case resumed
        /// Nobody tells of changes, which are then found by asking.
        case notListening(PostgreSQLError)
    }

    private let pool: ConnectionPool
    private let live: LiveRoutingTable
    private let pollInterval: Duration
    private let onEvent: @Sendable (Event) -> Void

    /// How far the log has been read.
    private struct Position {
        let snapshot: String
        /// Another text for another database, for a server that was started anew and, by when its statistics were lost,
        /// for one that went on after a crash.
        let server: String
    }

    private var position: Position?
    private var wake: AsyncStream<Void>.Continuation?
    /// Who waits for what a transaction wrote.
    private var waiters: [Int: (transaction: UInt64, told: CheckedContinuation<Bool, Never>)] = [:]
    private var nextWaiter = 0
    private var isInterrupted = false
    private var nextPruning = ContinuousClock.now

    /// Commits that come faster than this are read together.
    private static let shortestInterval = Duration.milliseconds(20)
    private static let pruningInterval = Duration.seconds(600)
    private static let loadTimeout = Duration.seconds(600)
    /// A server that has fallen silent is noticed after this long.
    private static let followTimeout = Duration.seconds(30)

    /// - Parameters:
    ///   - live: Takes each new table.
    ///   - pollInterval: How long a change can stay unnoticed when no notification tells of it.
    public init(
        _ pool: ConnectionPool, live: LiveRoutingTable, pollInterval: Duration = .seconds(1),
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.pool = pool
        self.live = live
        self.pollInterval = pollInterval
        self.onEvent = onEvent
    }

    /// Follows the database until the task is cancelled.
    public func run() async {
        let (wakeups, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wake = wake
        await withTaskGroup { group in
            group.addTask { await self.listen { wake.yield() } }
            group.addTask {
                while !Task.isCancelled {
                    wake.yield()
                    try? await Task.sleep(for: self.pollInterval)
                }
                wake.finish()
            }
            for await _ in wakeups {
                do {
                    try await refresh()
                    await pruneWhenDue()
                    if isInterrupted { onEvent(.resumed) }
                    isInterrupted = false
                } catch {
                    if !isInterrupted, !Task.isCancelled { onEvent(.interrupted(error)) }
                    isInterrupted = true
                }
                try? await Task.sleep(for: Self.shortestInterval)
            }
            group.cancelAll()
        }
    }

    /// Waits until the table has what a transaction wrote that is committed.
    /// - Returns: False when it has not after so long.
    public func hasSeen(_ transaction: UInt64, within limit: Duration) async -> Bool {
        if sees(transaction) { return true }
        let waiter = nextWaiter
        nextWaiter += 1
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            waiters.removeValue(forKey: waiter)?.told.resume(returning: false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { told in
            waiters[waiter] = (transaction, told)
            // A notification may be lost, and there is none of what routing does not read.
            wake?.yield()
        }
    }

    private func sees(_ transaction: UInt64) -> Bool {
        position.flatMap { TransactionSnapshot($0.snapshot) }?.sees(transaction) == true
    }

    private func tellWaiters() {
        guard !waiters.isEmpty, let snapshot = position.flatMap({ TransactionSnapshot($0.snapshot) }) else {
            return
        }
        for (waiter, (transaction, told)) in waiters where snapshot.sees(transaction) {
            waiters[waiter] = nil
            told.resume(returning: true)
        }
    }

    /// Makes the table what the database is now: all of it the first time, later what changed.
    ///
    /// Not to be called by two tasks at once: the one that ends last may have begun first.
    public func refresh() async throws {
        let asOf = Date()
        let mode = TransactionMode(
            isolation: .repeatableRead, isReadOnly: true,
            statementTimeout: position == nil ? Self.loadTimeout : Self.followTimeout)
        let start = ContinuousClock.now
        let isUpToDate = try await pool.withTransaction(as: .router, mode) { [position] transaction in
            let (snapshot, server, isBehind) = try await transaction.execute(
                """
                SELECT CASE WHEN pg_is_in_recovery()
                        THEN concat_ws(':', pg_snapshot_xmin(pg_current_snapshot()),
                            pg_snapshot_xmin(pg_current_snapshot()), '')
                        ELSE pg_current_snapshot()::text END,
                    concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
                        pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time(),
                        (SELECT oid FROM pg_database WHERE datname = current_database()),
                        'doorstep.changes'::regclass::oid),
                    pruned_xid >= pg_snapshot_xmin(\(position?.snapshot)::pg_snapshot)
                        AND pruned_xid < pg_snapshot_xmax(pg_current_snapshot())
                FROM doorstep.change_horizon
                """
            ).one().decode(String.self, String.self, Bool?.self)
            let next = Position(snapshot: snapshot, server: server)
            guard let position, let state = live.current else {
                try await load(transaction, next, asOf, start)
                return true
            }
            guard position.server == server, isBehind == false else { return false }
            try await follow(transaction, from: position, to: next, state, asOf)
            return true
        }
        guard !isUpToDate else { return tellWaiters() }
        // In a transaction of its own, which may take longer.
        position = nil
        try await refresh()
    }

    private func load(
        _ transaction: Transaction, _ next: Position, _ asOf: Date, _ start: ContinuousClock.Instant
    ) async throws {
        let (table, unreadable) = try await transaction.routingTable()
        live.replace(by: table, from: .database, asOf: asOf)
        position = next
        onEvent(
            .loaded(
                experiences: table.experienceCount, locations: table.locationCount, unreadable: unreadable,
                duration: start.duration(to: .now)))
    }

    private func follow(
        _ transaction: Transaction, from position: Position, to next: Position,
        _ state: LiveRoutingTable.State,
        _ asOf: Date
    ) async throws {
        let changes = try await RoutingChanges(transaction, since: position.snapshot)
        guard !changes.isEmpty else {
            live.confirm(asOf: asOf)
            self.position = next
            return
        }
        var table = state.table
        let unreadable = try await changes.apply(to: &table, transaction)
        live.replace(by: table, from: .database, asOf: asOf)
        self.position = next
        onEvent(
            .changed(rows: changes.rowCount, relations: changes.relationCount, unreadable: unreadable))
    }

    /// A failure is no reason to call the database away, which may take no writes for a while: the next time does it.
    private func pruneWhenDue() async {
        guard nextPruning <= .now else { return }
        // Not all servers at once.
        nextPruning = .now + Self.pruningInterval * Double.random(in: 0.5...1.5)
        _ = try? await pool.withTransaction(as: .router, .readWrite) { transaction in
            try await transaction.execute("SELECT doorstep.prune_changes()")
        }
    }

    private nonisolated func listen(_ wake: @Sendable () -> Void) async {
        do throws(PostgreSQLError) {
            let listener = try Listener(pool.configuration, channels: ["doorstep_changes"])
            var isTold = false
            for await event in listener {
                switch event {
                case .listening, .notification:
                    isTold = false
                    wake()
                case .interrupted(let error):
                    if !isTold { onEvent(.notListening(error)) }
                    isTold = true
                }
            }
        } catch {
            onEvent(.notListening(error))
        }
    }
}

extension Transaction {
    /// Everything that a routing table holds, as it is in the transaction's snapshot.
    /// - Returns: the table, and how many rows could not be read.
    fileprivate func routingTable() async throws -> (table: RoutingTable, unreadable: Int) {
        // An estimate, without which the table would be made larger again and again while it fills.
        let expected: Int = try await execute(
            "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'doorstep.experiences'::regclass"
        ).one().decode(at: 0)
        var table = RoutingTable(expected: expected)
        var unreadable = 0
        for relation in RoutingRelation.allCases {
            unreadable += try await copyRows(of: relation, into: &table)
        }
        table.compact()
        return (table, unreadable)
    }
}

extension ConnectionPool {
    /// What a routing table holds of one tenant, keys aside.
    /// - Parameter trust: Which places that URLs carry in themselves are believed.
    public func tenantTable(
        of tenant: TenantID, trusting trust: PlaceTrust = .nothing
    ) async throws -> TenantTable {
        try await routingTable(of: tenant).of(tenant, trusting: trust)
    }

    /// Reads with no more than the tenant's own rows in reach.
    func routingTable(of tenant: TenantID) async throws -> RoutingTable {
        try await withTenantTransaction(tenant, as: .app, .snapshot) { transaction in
            var table = RoutingTable()
            for relation in RoutingRelation.allCases where relation != .keys {
                _ = try await transaction.copyRows(of: relation, into: &table)
            }
            return table
        }
    }
}
