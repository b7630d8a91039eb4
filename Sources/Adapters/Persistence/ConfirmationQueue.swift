public import Confirmations
import Formats
import Foundation
import Invocation
import Notifications
public import PostgreSQL
import Receipts
import Synchronization
public import Tenancy

/// Records confirmations in PostgreSQL, some time after the response.
///
/// Responses neither wait for the database nor fail with it: records wait in memory, and one statement writes many of them. If the
/// database does not respond, the records stay in memory. Each tenant has a share of the memory (``TenantBacklog``). Beyond the
/// share, the newest records are dropped and counted. If webhooks of a tenant receive confirmations, its records are written every
/// two seconds, or when there are a hundred, so that the webhooks receive few messages. A record gets its ID before it is written,
/// so that a repetition after a lost COMMIT does not write it twice.
/// For the same reason, a file can keep the waiting records when the server ends, for the next start (``ConfirmationSpool``).
///
/// Safe to use from many threads.
public final class ConfirmationQueue: ConfirmationRecorder, Sendable {
    private typealias Entry = ConfirmationSpool.Entry

    private struct Waiting {
        /// The ID from an earlier attempt with an unknown result.
        var id: UUID?
        let record: ConfirmationRecord
    }

    private struct State {
        var waiting = TenantBacklog<Waiting>()
        /// Records that are taken out of `waiting` and may not be written yet.
        var underWay: [Entry] = []
        /// The number of records that are taken out of `waiting` and not in `underWay` yet.
        var makingCount = 0
        var dropped = 0
        /// The times until which records of a tenant wait for further records, so that its webhooks receive few messages.
        var gatheringUntil: [TenantID: ContinuousClock.Instant] = [:]
        /// The records that were read from the file.
        var restored: Set<UUID> = []
        /// Those of them that are not written yet.
        var unwritten: Set<UUID> = []

        var count: Int { waiting.count + makingCount + underWay.count }
    }

    private let pool: ConnectionPool
    private let limit: Int
    private let spool: ConfirmationSpool?
    private let state = Mutex(State())
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let now: @Sendable () -> ContinuousClock.Instant
    private let onFailure: @Sendable (any Error) -> Void

    /// The time for which records wait for further records, so that one statement writes many.
    private static let gathering = Duration.milliseconds(50)
    /// The longest wait for a tenant whose webhooks receive confirmations. [ours]
    private static let telling = Duration.seconds(2)
    private static let retryInterval = Duration.seconds(1)
    private static let batch = 5_000

    /// - Parameters:
    ///   - limit: The maximum number of waiting records. A record takes about 100 bytes.
    ///   - spool: The file for records that wait at the end; nil for none.
    ///   - onFailure: Called for each failed attempt.
    public init(
        _ pool: ConnectionPool, limit: Int = 100_000, spool: ConfirmationSpool? = nil,
        onFailure: @escaping @Sendable (any Error) -> Void = { _ in },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.pool = pool
        self.limit = limit
        self.spool = spool
        self.now = now
        self.onFailure = onFailure
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The number of waiting records.
    public var count: Int { state.withLock { $0.count } }

    /// The number of records that were dropped, because too many waited or because the database refused them.
    public var droppedCount: Int { state.withLock(\.dropped) }

    public func record(_ record: ConfirmationRecord, of tenant: TenantID) {
        let isFirst = state.withLock { state in
            let wasEmpty = state.waiting.count == 0
            let room = limit - state.makingCount - state.underWay.count
            if !state.waiting.append(Waiting(record: record), of: tenant, room: room) { state.dropped += 1 }
            return wasEmpty && state.waiting.count > 0
        }
        if isFirst { wake.yield() }
    }

    /// Reads the records of an earlier run, which wait then like new ones. The file remains until they are written. An unreadable
    /// file is renamed to end in `.unreadable`.
    /// - Returns: The number of records.
    public func restore() throws -> Int {
        guard let spool else { return 0 }
        let entries: [Entry]
        do {
            entries = try spool.read()
        } catch let error as PersistenceError {
            try spool.setAside()
            throw error
        }
        let count = state.withLock { state in
            var count = 0
            for entry in entries {
                let waiting = Waiting(id: entry.id, record: entry.record)
                let room = limit - state.makingCount - state.underWay.count
                guard state.waiting.append(waiting, of: entry.tenant, room: room) else {
                    state.dropped += 1
                    continue
                }
                state.restored.insert(entry.id)
                state.unwritten.insert(entry.id)
                count += 1
            }
            return count
        }
        if count > 0 { wake.yield() }
        return count
    }

    /// Writes the waiting records to the file, for the next start. To be called at the end, after the last ``flush()``. Records that
    /// another process has left in the file in the meantime remain in it, as far as there is room.
    /// - Returns: The number of waiting records; 0 without a file.
    public func save() throws -> Int {
        guard let spool else { return 0 }
        let (taken, underWay, restored) = state.withLock { state in
            (state.waiting.removeFirst(upTo: .max), state.underWay, state.restored)
        }
        guard !taken.isEmpty || !underWay.isEmpty else { return 0 }
        let now = Date()
        let entries =
            underWay
            + taken.map {
                Entry(
                    id: $0.element.id ?? .timeOrdered(at: now), tenant: $0.tenant, record: $0.element.record)
            }
        state.withLock { $0.underWay = entries }
        let known = restored.union(entries.map(\.id))
        var others: [Entry] = []
        do {
            others = try spool.read().filter { !known.contains($0.id) }
        } catch {
            try? spool.setAside()
        }
        try spool.write(entries + others.prefix(max(0, limit - entries.count)))
        return entries.count
    }

    /// Writes records until the task is cancelled. ``flush()`` writes the records that wait then.
    public func run() async {
        for await _ in wakeups {
            try? await Task.sleep(for: Self.gathering)
            do {
                // One batch. Records that arrive in the meantime form the next batch.
                try await writeBatch(isLast: false)
            } catch {
                guard !Task.isCancelled else { return }
                onFailure(error)
                try? await Task.sleep(for: Self.retryInterval)
            }
            if count > 0 { wake.yield() }
        }
    }

    /// Writes all waiting records. Only one task may call this at a time.
    /// - Throws: If the database does not respond. Unwritten records then wait for the next call.
    public func flush() async throws {
        while count > 0 {
            do {
                try await writeBatch(isLast: true)
            } catch let error as PostgreSQLError where error.isLockTimeout {
                continue
            }
        }
    }

    /// - Parameter isLast: Whether records no longer wait for further records of their tenant.
    private func writeBatch(isLast: Bool) async throws {
        var failure: (any Error)?
        for (tenant, entries) in Dictionary(grouping: nextBatch(isLast), by: \.tenant) {
            do {
                let isTold = try await write(entries, of: tenant)
                finish(entries, isWritten: true)
                if isTold { state.withLock { $0.gatheringUntil[tenant] = now() + Self.telling } }
            } catch let error as PostgreSQLError where error.isOfAnotherPartition {
                // The records remain in `underWay`, and the next call finds the partition.
                continue
            } catch let error as PostgreSQLError where error.isLockTimeout {
                // None of these records was written. Records of other tenants do not wait for a repetition.
                putBack(entries, of: tenant)
                failure = failure ?? error
            } catch let error as PostgreSQLError where error.isRefusal {
                // The tenant was deleted, for example. No repetition can succeed.
                finish(entries, isWritten: false)
                onFailure(error)
            }
        }
        if let failure { throw failure }
    }

    /// The unfinished batches; if there are none, each tenant's share of the records that are ready.
    private func nextBatch(_ isLast: Bool) -> [Entry] {
        let time = self.now()
        let (unfinished, taken) = state.withLock {
            state -> ([Entry], [(tenant: TenantID, element: Waiting)]) in
            guard state.underWay.isEmpty else { return (state.underWay, []) }
            state.gatheringUntil = state.gatheringUntil.filter { $0.value > time }
            let gathering = state.gatheringUntil
            let taken = state.waiting.removeFirst(upTo: Self.batch) { tenant, count in
                isLast || gathering[tenant] == nil || count >= WebhookMessage.itemLimit
            }
            state.makingCount = taken.count
            return ([], taken)
        }
        guard unfinished.isEmpty else { return unfinished }
        // Outside the lock, which every confirmation takes, because random bits need a system call.
        let now = Date()
        let entries = taken.map {
            Entry(id: $0.element.id ?? .timeOrdered(at: now), tenant: $0.tenant, record: $0.element.record)
        }
        state.withLock { state in
            state.underWay = entries
            state.makingCount = 0
        }
        return entries
    }

    private func finish(_ entries: [Entry], isWritten: Bool) {
        let ids = Set(entries.map(\.id))
        let restored: Set<UUID>? = state.withLock { state in
            state.underWay.removeAll { ids.contains($0.id) }
            if !isWritten { state.dropped += entries.count }
            guard !state.unwritten.isEmpty else { return nil }
            state.unwritten.subtract(ids)
            return state.unwritten.isEmpty ? state.restored : nil
        }
        // If this fails, the next start writes the records again, which changes nothing.
        if let restored { try? spool?.remove(restored) }
    }

    /// - Parameter entries: Records of one tenant.
    private func putBack(_ entries: [Entry], of tenant: TenantID) {
        let ids = Set(entries.map(\.id))
        state.withLock { state in
            state.underWay.removeAll { ids.contains($0.id) }
            state.waiting.putBack(entries.map { Waiting(id: $0.id, record: $0.record) }, of: tenant)
        }
    }

    /// An earlier attempt has written some of the records and not the others. It belonged to another batch, before a restart.
    private struct PartlyWritten: Error {}

    /// - Returns: Whether webhooks receive the records.
    private func write(_ entries: [Entry], of tenant: TenantID) async throws -> Bool {
        do {
            return try await writeTogether(entries, of: tenant)
        } catch is PartlyWritten {
            // The halves are divided until all records of each are new, or none is.
            let middle = entries.count / 2
            let first = try await write(Array(entries[..<middle]), of: tenant)
            return try await write(Array(entries[middle...]), of: tenant) || first
        }
    }

    /// Writes records in one transaction. If webhooks receive them, either all are new or none is.
    private func writeTogether(_ entries: [Entry], of tenant: TenantID) async throws -> Bool {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            // While a tenant is being deleted, its row is locked.
            let isWanted = try await transaction.execute(
                "SELECT \(wanted: .confirmationRecorded, of: tenant), set_config('lock_timeout', '500ms', true)"
            ).one().decode(at: 0, as: Bool.self)
            let count = try await transaction.execute(
                """
                INSERT INTO doorstep.confirmations
                    (tenant_id, confirmation_id, location_identifier, outcome, source, minute, attestation)
                SELECT \(tenant.uuid), id, nullif(location, ''), outcome, source, minute, attestation
                FROM unnest(\(entries.map(\.id)), \(entries.map { $0.record.location?.text ?? "" }),
                    \(entries.map(\.record.outcome.rawValue)), \(entries.map(\.record.source.rawValue)),
                    \(entries.map(\.record.minute)), \(entries.map(\.record.attestation.number))::smallint[])
                    AS r (id, location, outcome, source, minute, attestation)
                ON CONFLICT DO NOTHING
                """
            ).affectedRows
            // If an earlier attempt has written the records, it has created the messages, too.
            guard isWanted, count > 0 else { return isWanted }
            guard count == entries.count else { throw PartlyWritten() }
            let confirmations = entries.map { RecordedConfirmation(id: $0.id, record: $0.record).json }
            try await transaction.tell(
                .confirmationRecorded,
                WebhookMessage.messages(
                    .confirmationRecorded, "confirmations", confirmations, at: Date()))
            return true
        }
    }
}

extension PostgreSQLError {
    /// Whether the database will always refuse these rows.
    fileprivate var isRefusal: Bool {
        if case .encoding = self { return true }
        // Class 23: integrity constraint violation; class 22: data exception.
        return sqlState.map { $0.hasPrefix("23") || $0.hasPrefix("22") } ?? false
    }
}
