import Foundation
public import Lookups
public import PostgreSQL
public import Tenancy

/// Keeps a lookup index equal to the database: reads everything once, then follows the log of changes.
///
/// The feed reads the log by snapshots: rows that the present snapshot sees and the last one did not are new, in any order of
/// transactions. A long transaction delays nothing, and nothing is skipped. (PostgreSQL, "Transaction ID and Snapshot Information
/// Functions".) A changed row is read in its current state in the same snapshot, so the order of its changes does not matter.
///
/// The feed applies keys, limits and clips of all tenants first, then domains. If very many rows of a tenant's catalogue changed,
/// the catalogue is copied page by page at the same time (``CatalogueCopy``). If a copy fails, only this tenant is quarantined: its
/// lookups use the last complete copy, and the copy continues later.
///
/// The feed reads everything again if changes were pruned before it read them, and if the database is another one or its server was
/// restarted. A restored, promoted or crashed server may lack rows that the feed has seen.
///
/// During recovery, a snapshot does not list the running transactions (PostgreSQL, `GetSnapshotData`). There, only transactions
/// older than all running ones count as seen. Changes of the others are read when they end, also after a promotion.
///
/// The role is `doorstep_router`.
public actor IndexFeed {
    /// An event for the log and for metrics.
    public enum Event: Sendable {
        /// Everything was read, except `unreadable` rows, which were left out.
        case loaded(experiences: Int, locations: Int, unreadable: Int, duration: Duration)
        /// Changes were read: the number of rows, and the number of whole relations of tenants.
        case changed(rows: Int, relations: Int, unreadable: Int)
        /// A tenant's catalogue cannot be copied. Its last version remains in use, and the copy is tried again.
        case quarantined(TenantID, any Error)
        /// A quarantined tenant's catalogue was copied.
        case released(TenantID)
        /// The log of changes cannot be read. The last index remains in use, and reading is tried again.
        case interrupted(any Error)
        /// The log of changes can be read again.
        case resumed
        /// The database is a standby, which refuses writes; or it is one no longer.
        case standby(Bool)
        /// No notifications of changes arrive, so changes are found by polling.
        case notListening(PostgreSQLError)
    }

    let pool: ConnectionPool
    let live: LiveLookupIndex
    private let pollInterval: Duration
    let pageLength: Int
    private let readingTime: Duration
    let onEvent: @Sendable (Event) -> Void

    /// The position up to which the log has been read.
    struct Position {
        let snapshot: String
        /// Identifies the database and the run of its server. It differs after a restart. It also differs after a crash, because a
        /// crash resets the statistics, and their reset time is part of it.
        let server: String
    }

    var position: Position?
    var wake: AsyncStream<Void>.Continuation?
    private var wakeCopying: AsyncStream<Void>.Continuation?
    /// The tasks that wait for a transaction's rows.
    private var waiters: [Int: (transaction: UInt64, told: CheckedContinuation<Bool, Never>)] = [:]
    private var nextWaiter = 0
    private var isInterrupted = false
    private var isStandby = false
    private var nextPruning = ContinuousClock.now

    /// The catalogues that are being copied. A tenant's second copy begins when the first is in the index.
    var copies: [TenantID: [CatalogueCopy]] = [:]
    var turns = 0
    /// The number of follows that have begun.
    var follows = 0
    /// The number of loads. A load ends all copies.
    var loads = 0
    /// The tenant whose copy is being put into a copy of the index, and the changes that the index gets in the meantime.
    var merging: (tenant: TenantID, done: [IndexBatch])?

    /// Commits that come faster than this are read together.
    private static let shortestInterval = Duration.milliseconds(20)
    private static let pruningInterval = Duration.seconds(600)
    private static let loadTimeout = Duration.seconds(600)
    /// The time after which the feed notices that PostgreSQL does not respond.
    static let followTimeout = Duration.seconds(30)
    /// The maximum time of the database for a page, in milliseconds. It is much shorter than `followTimeout`, so that a slow
    /// statement can be distinguished from a silent server. [ours]
    static let pageTimeout = 5_000
    /// The maximum time of one statement for changed rows of a catalogue, in milliseconds. Together with the time of a follow, it
    /// is less than a second, the time in which other tenants' changes must become visible. [ours]
    private static let readingTimeout = 500

    /// - Parameters:
    ///   - live: Receives each new index.
    ///   - pollInterval: The longest time until a change is noticed without a notification.
    ///   - pageLength: The number of rows of a catalogue that one statement copies.
    ///   - readingTime: The time for which a follow reads changed rows of catalogues. The next follow reads the rest. [ours]
    public init(
        _ pool: ConnectionPool, live: LiveLookupIndex, pollInterval: Duration = .seconds(1),
        pageLength: Int = 2_000, readingTime: Duration = .milliseconds(400),
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.pool = pool
        self.live = live
        self.pollInterval = pollInterval
        self.pageLength = pageLength
        self.readingTime = readingTime
        self.onEvent = onEvent
    }

    /// Follows the database until the task is cancelled.
    public func run() async {
        let (wakeups, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (copying, wakeCopying) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wake = wake
        self.wakeCopying = wakeCopying
        await withTaskGroup { group in
            group.addTask { await self.listen { wake.yield() } }
            group.addTask {
                while !Task.isCancelled {
                    wake.yield()
                    try? await Task.sleep(for: self.pollInterval)
                }
                wake.finish()
            }
            group.addTask {
                // Errors come from the database; the next follow reports them and wakes this task again.
                for await _ in copying { try? await self.copyWhatIsDue() }
            }
            for await _ in wakeups {
                do {
                    try await follow()
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

    /// Waits until the index contains the rows of a committed transaction.
    /// - Returns: False if the time limit ends first, and at once if the tenant is quarantined.
    public func hasSeen(_ transaction: UInt64, within limit: Duration) async -> Bool {
        if let isVisible = isVisible(transaction) { return isVisible }
        let waiter = nextWaiter
        nextWaiter += 1
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            waiters.removeValue(forKey: waiter)?.told.resume(returning: false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { told in
            waiters[waiter] = (transaction, told)
            // A notification may be lost, and changes of some tables send none.
            wake?.yield()
        }
    }

    /// Whether the index contains the rows of a transaction; nil while they are still expected.
    private func isVisible(_ transaction: UInt64) -> Bool? {
        guard position.flatMap({ TransactionSnapshot($0.snapshot) })?.sees(transaction) == true else {
            return nil
        }
        let holder = copies.first { $0.value.contains { $0.transactions.contains(transaction) } }
        guard let holder else { return true }
        return live.quarantined[holder.key] == nil ? nil : false
    }

    func tellWaiters() {
        for (waiter, (transaction, told)) in waiters {
            guard let isVisible = isVisible(transaction) else { continue }
            waiters[waiter] = nil
            told.resume(returning: isVisible)
        }
    }

    // MARK: Following

    /// Updates the index to the current state of the database: everything at the first call, changes later. Retries the copy of a
    /// quarantined tenant.
    ///
    /// Only one task may call this at a time, and not while ``run()`` runs. Otherwise an older state could replace a newer one.
    public func refresh() async throws {
        for tenant in copies.keys { copies[tenant]?[0].retryNow() }
        repeat {
            try await follow()
            try await copyWhatIsDue()
        } while copies.values.contains { $0[0].isDue(at: .now) }
    }

    private func follow() async throws {
        follows += 1
        let number = follows
        let asOf = Date()
        let mode = TransactionMode(
            isolation: .repeatableRead, isReadOnly: true,
            statementTimeout: position == nil ? Self.loadTimeout : Self.followTimeout)
        let start = ContinuousClock.now
        let isUpToDate = try await pool.withTransaction(as: .router, mode) { [position] transaction in
            let (snapshot, server, isStandby, isBehind) = try await transaction.execute(
                """
                SELECT CASE WHEN pg_is_in_recovery()
                        THEN concat_ws(':', pg_snapshot_xmin(pg_current_snapshot()),
                            pg_snapshot_xmin(pg_current_snapshot()), '')
                        ELSE pg_current_snapshot()::text END,
                    \(constant: Self.serverName), pg_is_in_recovery(),
                    pruned_xid >= pg_snapshot_xmin(\(position?.snapshot)::pg_snapshot)
                        AND pruned_xid < pg_snapshot_xmax(pg_current_snapshot())
                FROM doorstep.change_horizon
                """
            ).one().decode(String.self, String.self, Bool.self, Bool?.self)
            if isStandby != self.isStandby {
                self.isStandby = isStandby
                onEvent(.standby(isStandby))
            }
            let next = Position(snapshot: snapshot, server: server)
            guard let position, live.current != nil else {
                try await load(transaction, next, asOf, start)
                return true
            }
            guard position.server == server, isBehind == false else { return false }
            try await follow(transaction, number, from: position, to: next, asOf)
            return true
        }
        if isUpToDate {
            tellWaiters()
            if !copies.isEmpty { wakeCopying?.yield() }
            return
        }
        // In a separate transaction, which may take longer.
        position = nil
        try await follow()
    }

    static let serverName: StaticString = """
        concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
            pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time(),
            (SELECT oid FROM pg_database WHERE datname = current_database()),
            'doorstep.changes'::regclass::oid)
        """

    private func load(
        _ transaction: Transaction, _ next: Position, _ asOf: Date, _ start: ContinuousClock.Instant
    ) async throws {
        let (table, unreadable) = try await transaction.routingTable()
        loads += 1
        copies = [:]
        for tenant in live.quarantined.keys { release(tenant) }
        live.replace(by: table, from: .database, asOf: asOf)
        position = next
        onEvent(
            .loaded(
                experiences: table.experienceCount, locations: table.locationCount, unreadable: unreadable,
                duration: start.duration(to: .now)))
    }

    private func follow(
        _ transaction: Transaction, _ number: Int, from position: Position, to next: Position, _ asOf: Date
    ) async throws {
        let changes = try await IndexChanges(transaction, since: position.snapshot)
        var batch = try await IndexBatch(changes.control, changes.controlWholes, transaction)
        var (rows, relations, unreadable) = (batch.rowCount, batch.relationCount, 0)
        let wanted = wantedRows(changes, number)
        // A new domain can require a visit of all experiences. Keys and suspensions do not wait for it.
        let domains = batch.split(.domains)
        if !domains.isEmpty, !batch.isEmpty {
            unreadable += try publish(batch, asOf)
            batch = IndexBatch()
        }
        batch.append(domains)
        if !wanted.isEmpty, !batch.isEmpty {
            // From here on, a revoked key is revoked in the index, even if catalogues cannot be read.
            unreadable += try publish(batch, asOf)
            batch = IndexBatch()
        }
        let read = try await Self.read(
            wanted, lengths: copies.mapValues { $0[0].pageLength }, within: readingTime, transaction)

        // Nothing below waits, so that no copying runs between these steps.
        for (tenant, part) in read {
            let news = changes.catalogues[tenant]
            guard let list = copies[tenant] else {
                if part.rest.isEmpty {
                    rows += part.batch.rowCount
                    batch.append(part.batch)
                } else {
                    // The next follow continues here; lookups see all changes at once.
                    note(news ?? IndexChanges.OfCatalogue(), of: tenant)
                    copies[tenant]?[0].add(part, nil)
                    handle(part.error, of: tenant)
                }
                continue
            }
            if merging?.tenant == tenant, !part.rest.isEmpty {
                // The copy is complete without these changes, which belong to the next copy.
                if let news { note(news, of: tenant) }
                continue
            }
            copies[tenant]?[0].add(part, list.count == 1 ? news : nil)
            if list.count > 1, let news { note(news, of: tenant) }
            handle(part.error, of: tenant)
        }
        for (tenant, changes) in changes.catalogues where read[tenant] == nil { note(changes, of: tenant) }
        if batch.isEmpty {
            live.confirm(asOf: asOf)
        } else {
            unreadable += try publish(batch, asOf)
        }
        self.position = next
        guard rows > 0 || relations > 0 else { return }
        onEvent(.changed(rows: rows, relations: relations, unreadable: unreadable))
    }

    /// Puts changed rows into the index, and keeps them for the copy of the index that a merge is making.
    /// - Returns: The number of rows that could not be read, and were left out.
    private func publish(_ batch: IndexBatch, _ asOf: Date) throws -> Int {
        guard var table = live.current?.table else { return 0 }
        let unreadable = try batch.apply(to: &table)
        live.replace(by: table, from: .database, asOf: asOf)
        merging?.done.append(batch)
        return unreadable
    }

    /// The rows of catalogues that a follow reads itself: rows of tenants that are not being copied, and rows that complete a copy.
    private func wantedRows(_ changes: IndexChanges, _ number: Int) -> [TenantID: IndexKeys] {
        var wanted: [TenantID: IndexKeys] = [:]
        for (tenant, changes) in changes.catalogues where changes.wholes.isEmpty {
            guard let list = copies[tenant] else {
                wanted[tenant] = changes.rows
                continue
            }
            if list.count == 1, list[0].isReady { wanted[tenant] = changes.rows }
        }
        for (tenant, list) in copies where !list[0].isReady {
            guard list[0].isComplete(before: number), list[0].isDue(at: .now) else { continue }
            var rows = list[0].unread
            // New changes belong to the second copy, if there is one.
            if list.count == 1, let changes = changes.catalogues[tenant] {
                rows.formUnion(changes.rows)
                guard changes.wholes.isEmpty, rows.overflowing.isEmpty else { continue }
            }
            wanted[tenant] = rows
        }
        return wanted
    }

    /// Reads rows of tenants' catalogues. If the rows of one tenant cannot be read, the rows of the others are still read.
    ///
    /// The tenants with the fewest rows come first. When the time is over, the next follow first reads keys, and then the remaining
    /// rows.
    private static func read(
        _ wanted: [TenantID: IndexKeys], lengths: [TenantID: Int], within time: Duration,
        _ transaction: Transaction
    ) async throws -> [TenantID: IndexBatch.Part] {
        guard !wanted.isEmpty else { return [:] }
        try await limitStatements(transaction, readingTimeout)
        var read: [TenantID: IndexBatch.Part] = [:]
        let deadline = ContinuousClock.now + time
        for (tenant, rows) in wanted.sorted(by: { $0.value.count < $1.value.count }) {
            guard read.isEmpty || .now < deadline else { break }
            read[tenant] = try await IndexBatch.read(
                rows, length: min(IndexBatch.statementLength, lengths[tenant] ?? .max), until: deadline,
                transaction)
        }
        return read
    }

    /// If a statement took too long, tries it with fewer rows before the tenant is quarantined.
    private func handle(_ error: PostgreSQLError?, of tenant: TenantID) {
        guard let error else { return }
        if error.isCancelledStatement, copies[tenant]?[0].shortenPages() == true { return }
        fail(tenant, error)
    }

    static func limitStatements(
        _ transaction: Transaction, _ milliseconds: Int = pageTimeout
    ) async throws {
        try await transaction.execute("SELECT set_config('statement_timeout', \("\(milliseconds)"), true)")
    }

    /// A failure does not mean that the database is unavailable. It may refuse writes for a while, and a later attempt succeeds.
    private func pruneWhenDue() async {
        guard nextPruning <= .now else { return }
        // Random, so that servers do not prune at the same time.
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
