public import Administration
public import Foundation
public import PostgreSQL
import Synchronization
public import Tenancy

/// Writes down on which day each key was used last, as `doorstep_app`: once a day and key, some seconds later.
///
/// What is not written when the process is killed is lost, until the day's next use at another server tells of it.
public final class KeyUsageQueue: KeyUsageRecorder {
    private struct State {
        /// Days since 1970-01-01 UTC.
        var days: [TenantKey: Int32] = [:]
        var waiting: [TenantID: Set<KeyID>] = [:]
    }

    private struct TenantKey: Hashable {
        let tenant: TenantID
        let key: KeyID

        /// An ID is random, so that one of two hashes as well as both.
        func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }

    private let state = Mutex(State())
    private let pool: ConnectionPool
    private let interval: Duration
    private let onFailure: @Sendable (any Error) -> Void

    /// - Parameter interval: How long uses are gathered before they are written.
    public init(
        _ pool: ConnectionPool, interval: Duration = .seconds(10),
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.pool = pool
        self.interval = interval
        self.onFailure = onFailure
    }

    public func record(_ key: KeyID, of tenant: TenantID, at now: Date) {
        let day = Int32(clamping: Int((now.timeIntervalSince1970 / 86_400).rounded(.down)))
        state.withLock { state in
            guard state.days.updateValue(day, forKey: TenantKey(tenant: tenant, key: key)) != day else {
                return
            }
            state.waiting[tenant, default: []].insert(key)
        }
    }

    /// Writes what was recorded, again and again until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: interval) } catch { return }
            await flush()
        }
    }

    /// Writes what was recorded; what cannot be written waits for the next time, and so does all that is left when the
    /// database does not answer: waiting for it once for each tenant would take minutes.
    public func flush() async {
        var waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        while let (tenant, keys) = waiting.popFirst() {
            let days = state.withLock { state in
                keys.map { state.days[TenantKey(tenant: tenant, key: $0)] ?? 0 }
            }
            do {
                try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                    // The key may be gone, and another server may have come first.
                    _ = try await transaction.execute(
                        """
                        UPDATE doorstep.api_keys k SET last_used_on = u.day
                        FROM (SELECT key_id, date '1970-01-01' + day AS day
                              FROM unnest(\(keys.map(\.uuid)), \(days)) AS v (key_id, day)) AS u
                        WHERE k.tenant_id = \(tenant.uuid) AND k.key_id = u.key_id
                            AND (k.last_used_on IS NULL OR k.last_used_on < u.day)
                        """)
                }
            } catch {
                keep([tenant: keys])
                onFailure(error)
                guard (error as? PostgreSQLError)?.sqlState != nil else { return keep(waiting) }
            }
        }
    }

    private func keep(_ unwritten: [TenantID: Set<KeyID>]) {
        state.withLock { $0.waiting.merge(unwritten) { $0.union($1) } }
    }
}
