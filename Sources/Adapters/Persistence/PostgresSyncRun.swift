public import AppStoreSync
import Cards
import Formats
public import Foundation
import Invocation
import PostgreSQL
import Tenancy

extension PostgresSyncRecords {
    /// A run's lock lasts as long as its connection, so that a killed run leaves no lock. A separate transaction, which reads and writes
    /// nothing, holds the lock. This also works behind a pooler. If the lock is lost and another run has begun, ``SyncRun/write(_:)``
    /// reports it.
    public func withRun<Result: Sendable>(
        at now: Date, _ body: @Sendable (any SyncRun) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (locks, lock) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                defer { lock.finish() }
                try await holdLock { lock.yield() }
            }
            for await _ in locks {
                // Releases the lock before others are notified, because its state no longer matters.
                defer { group.cancelAll() }
                return try await withRecordedRun(at: now, body)
            }
            try await group.next()
            throw CancellationError()
        }
    }

    /// Holds the lock until the task is cancelled.
    private func holdLock(onceTaken: @Sendable () -> Void) async throws {
        try await pool.withTenantTransaction(tenant, as: .admin, actor: actor) { transaction in
            try await takeLock(transaction)
            onceTaken()
            while true {
                try await Task.sleep(for: lockInterval)
                try await transaction.execute("SELECT")
            }
        }
    }

    private func takeLock(_ lock: TenantTransaction) async throws {
        do {
            // PostgreSQL may need this time to notice that the holder's process has ended.
            try await lock.execute("SELECT set_config('lock_timeout', '2s', true)")
            try await lock.execute("SELECT pg_advisory_xact_lock(hashtextextended(\(lockName), 0))")
            try await lock.execute("SELECT set_config('lock_timeout', '0', true)")
            // The transaction is idle during the whole run, which may take hours.
            try await lock.execute("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
        } catch {
            guard error.isLockTimeout else { throw error }
            throw try await busy()
        }
    }

    private func withRecordedRun<Result: Sendable>(
        at now: Date, _ body: @Sendable (any SyncRun) async throws -> Result
    ) async throws -> Result {
        let run = PostgresSyncRun(records: self, id: UUID())
        try await run.begin(at: now)
        do {
            let result = try await body(run)
            try await run.end("done")
            return result
        } catch {
            try? await run.end("failed")
            throw error
        }
    }

    /// Takes a shared lock briefly. A run that begins at this time waits until it is released.
    public func newestRun() async throws -> UUID? {
        let (isFree, run) = try await pool.withTenantTransaction(tenant, as: role, .readOnly) { transaction in
            let isFree = try await transaction.execute(
                "SELECT pg_try_advisory_xact_lock_shared(hashtextextended(\(lockName), 0))"
            ).one().decode(at: 0, as: Bool.self)
            let run = try await transaction.execute(
                """
                SELECT run_id FROM doorstep.app_store_runs
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                ORDER BY started_at DESC, run_id DESC LIMIT 1
                """
            ).first?.decode(at: 0, as: UUID.self)
            return (isFree, run)
        }
        guard isFree else { throw try await busy() }
        return run
    }

    private var lockName: String { "app store \(tenant) \(clip.text)" }

    private func busy() async throws -> SyncError {
        let row = try await pool.withTenantTransaction(tenant, as: role, .readOnly) { transaction in
            try await transaction.execute(
                """
                SELECT actor, started_at FROM doorstep.app_store_runs
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text) AND ended_at IS NULL
                ORDER BY started_at DESC LIMIT 1
                """
            ).first?.decode(String.self, Date.self)
        }
        // A run that has just taken the lock may not be recorded yet.
        return .busy(clip, by: row?.0 ?? "somebody", since: row?.1 ?? Date())
    }
}

/// The newest run of a clip.
struct PostgresSyncRun: SyncRun {
    let records: PostgresSyncRecords
    let id: UUID

    private var tenant: UUID { records.tenant.uuid }
    private var clip: String { records.clip.text }

    fileprivate func begin(at now: Date) async throws {
        try await transaction { transaction in
            try await transaction.execute(
                """
                DELETE FROM doorstep.app_store_runs
                WHERE tenant_id = \(tenant) AND bundle_id = \(clip) AND started_at < \(now) - interval '90 days'
                """)
            try await transaction.execute(
                """
                UPDATE doorstep.app_store_runs SET ended_at = now(), outcome = 'abandoned'
                WHERE tenant_id = \(tenant) AND bundle_id = \(clip) AND ended_at IS NULL
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.app_store_runs (tenant_id, run_id, bundle_id, actor, started_at)
                VALUES (\(tenant), \(id), \(clip), \(records.actor), \(now))
                """)
        }
    }

    fileprivate func end(_ outcome: String) async throws {
        try await transaction { transaction in
            try await transaction.execute(
                """
                UPDATE doorstep.app_store_runs SET ended_at = now(), outcome = \(outcome)
                WHERE tenant_id = \(tenant) AND run_id = \(id) AND ended_at IS NULL
                """)
            // The servers' last check is now outdated. They check again, but not after each of many small runs.
            try await transaction.execute(
                """
                UPDATE doorstep.app_store_checks
                SET due_at = least(due_at, greatest(now(), checked_at + interval '1 hour'))
                WHERE tenant_id = \(tenant) AND bundle_id = \(clip)
                """)
        }
    }

    func write(_ changes: [RecordChange]) async throws {
        try await transaction { transaction in
            // Locked, so that no other run begins before the commit.
            let isNewest =
                try await transaction.execute(
                    """
                    SELECT FROM doorstep.app_store_runs
                    WHERE tenant_id = \(tenant) AND run_id = \(id) AND ended_at IS NULL FOR UPDATE
                    """
                ).count == 1
            guard isNewest else { throw SyncError.superseded(records.clip) }
            for change in changes { try await transaction.execute(try statement(for: change)) }
        }
    }

    private func statement(for change: RecordChange) throws -> Query {
        switch change {
        case .applied(let row):
            let (phase, remoteID, missing): (String, String?, Int) =
                switch row.phase {
                case .creating(let missing): ("creating", nil, missing)
                case .created(let remoteID): ("created", remoteID, 0)
                }
            return """
                INSERT INTO doorstep.app_store_experiences
                    (tenant_id, bundle_id, url, phase, remote_id, content, sent_at, missing_listings)
                VALUES (\(tenant), \(clip), \(row.url.canonical), \(phase), \(remoteID), \(Self.text(row.content))::jsonb,
                    \(row.sentAt), \(Int16(missing)))
                ON CONFLICT (tenant_id, bundle_id, url) DO UPDATE
                SET phase = excluded.phase, remote_id = excluded.remote_id, content = excluded.content,
                    sent_at = excluded.sent_at, missing_listings = excluded.missing_listings
                """
        case .forgotten(let url):
            return """
                DELETE FROM doorstep.app_store_experiences
                WHERE tenant_id = \(tenant) AND bundle_id = \(clip) AND url = \(url) AND phase = 'creating'
                """
        case .removed(let url, let remoteID, let time):
            return """
                WITH gone AS (
                    DELETE FROM doorstep.app_store_experiences
                    WHERE tenant_id = \(tenant) AND bundle_id = \(clip) AND url = \(url) AND remote_id = \(remoteID))
                INSERT INTO doorstep.app_store_removals (tenant_id, bundle_id, remote_id, url, removed_at)
                VALUES (\(tenant), \(clip), \(remoteID), \(url), \(time))
                ON CONFLICT (tenant_id, bundle_id, remote_id) DO NOTHING
                """
        case .refused(let url, let refusal, let time):
            return """
                INSERT INTO doorstep.app_store_refusals
                    (tenant_id, bundle_id, url, content, code, source, request_id, refused_at)
                VALUES (\(tenant), \(clip), \(url), \(Self.text(refusal.content))::jsonb, \(refusal.code),
                    \(refusal.source), \(refusal.requestID), \(time))
                ON CONFLICT (tenant_id, bundle_id, url) DO UPDATE
                SET content = excluded.content, code = excluded.code, source = excluded.source,
                    request_id = excluded.request_id, refused_at = excluded.refused_at
                """
        case .taken(let url):
            return """
                DELETE FROM doorstep.app_store_refusals
                WHERE tenant_id = \(tenant) AND bundle_id = \(clip) AND url = \(url)
                """
        case .image(let image):
            let (phase, sealed) = try stored(image)
            return """
                INSERT INTO doorstep.app_store_images
                    (tenant_id, bundle_id, sha256, holder, remote_id, phase, sealed_operations, reserved_at)
                VALUES (\(tenant), \(clip), \(image.digest.description), \(image.holder ?? ""), \(image.id), \(phase),
                    \(sealed), \(image.reservedAt))
                ON CONFLICT (tenant_id, bundle_id, sha256, holder) DO UPDATE
                SET remote_id = excluded.remote_id, phase = excluded.phase,
                    sealed_operations = excluded.sealed_operations, reserved_at = excluded.reserved_at
                """
        }
    }

    private func stored(_ image: RemoteImage) throws -> (phase: String, sealed: [UInt8]?) {
        switch image.phase {
        case .committed: return ("committed", nil)
        case .complete: return ("complete", nil)
        case .failed: return ("failed", nil)
        case .reserved(let operations):
            let json = JSONValue.array(operations.map { .object($0.json) })
            let sealed = try records.keys.of(records.tenant).seal(
                json.serialized(), at: RemoteImage.place(records.clip, image.id))
            return ("reserved", sealed)
        }
    }

    private static func text(_ content: ExperienceContent) -> String {
        JSONValue.object(content.json).text
    }

    private func transaction(_ body: (TenantTransaction) async throws -> Void) async throws {
        try await records.pool.withTenantTransaction(
            records.tenant, as: .admin, actor: records.actor, .readWrite, body)
    }
}
