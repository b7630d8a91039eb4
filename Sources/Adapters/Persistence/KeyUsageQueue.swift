public import Administration
public import Foundation
public import PostgreSQL
import Synchronization
public import Tenancy

/// Records the day of each key's last use, as `doorstep_app`: once for each day and key, some seconds later.
///
/// If the process is killed, unwritten uses are lost. The key's next use at another server on the same day is recorded again.
public final class KeyUsageQueue: KeyUsageRecorder, GatheringQueue {
    private struct TenantKey: Hashable {
        let tenant: TenantID
        let key: KeyID

        /// The ID alone is enough for the hash, because it is random.
        func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }

    /// In days since 1970-01-01 UTC, like all days in this file.
    private let days = Mutex<[TenantKey: Int32]>([:])
    private let gathering: TenantGathering<[KeyID: Int32]>

    /// - Parameter interval: The time for which uses are collected before they are written.
    public init(
        _ pool: ConnectionPool, interval: Duration = .seconds(10),
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        gathering = TenantGathering(
            pool, interval: interval, onFailure: onFailure, merge: { $0.merging($1, uniquingKeysWith: max) },
            write: Self.write)
    }

    public func record(_ key: KeyID, of tenant: TenantID, at now: Date) {
        let day = now.dayNumber
        let isKnown = days.withLock {
            $0.updateValue(day, forKey: TenantKey(tenant: tenant, key: key)) == day
        }
        guard !isKnown else { return }
        gathering.gather(for: tenant, in: [:]) { $0[key] = max($0[key] ?? day, day) }
    }

    public func run() async { await gathering.run() }

    public func flush() async { await gathering.flush() }

    private static func write(_ days: [KeyID: Int32], in transaction: TenantTransaction) async throws {
        let (keys, days) = (days.map(\.key), days.map(\.value))
        // The key may be deleted, and another server may have recorded the day first.
        try await transaction.execute(
            """
            UPDATE doorstep.api_keys k SET last_used_on = u.day
            FROM (SELECT key_id, date '1970-01-01' + day AS day
                  FROM unnest(\(keys.map(\.uuid)), \(days)) AS v (key_id, day)) AS u
            WHERE k.tenant_id = \(transaction.tenant.uuid) AND k.key_id = u.key_id
                AND (k.last_used_on IS NULL OR k.last_used_on < u.day)
            """)
    }
}
