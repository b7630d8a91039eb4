import Foundation
public import PostgreSQL

/// Deletes expired entries of the audit log, and the oldest entries of tenants whose log has nearly reached its quota.
///
/// Any number of servers may do this at once. The role is `doorstep_router`, which cannot read entries.
public struct AuditLogRetention: Sendable {
    /// The possible numbers of days for which entries are kept. Entries of the last week are never deleted. [ours]
    public static let retentions = 7...36_500

    private let pool: ConnectionPool
    private let retention: Int?

    /// - Parameter retention: The number of days for which entries are kept; nil if only quotas limit the log.
    /// - Precondition: `retention` is one of ``retentions``.
    public init(_ pool: ConnectionPool, retention: Int?) {
        precondition(
            retention.map { Self.retentions.contains($0) } ?? true,
            "the audit log is kept for 7 to 36500 days")
        self.pool = pool
        self.retention = retention
    }

    /// Deletes at most a thousand entries per transaction.
    /// - Returns: The number of deleted entries.
    public func maintain() async throws -> Int {
        var deleted = 0
        if let retention {
            deleted += try await pool.exhaust("SELECT doorstep.prune_audit_log(\(retention)::integer)")
        }
        for tenant in try await nearlyFull() {
            deleted += try await pool.exhaust("SELECT doorstep.trim_audit_log(\(tenant))")
        }
        return deleted
    }

    /// The tenants whose log uses more than 80 % of a quota, as in `doorstep.trim_audit_log`. [ours]
    private func nearlyFull() async throws -> [UUID] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT u.tenant_id
                FROM doorstep.tenant_usage u
                    JOIN doorstep.tenants t USING (tenant_id) JOIN doorstep.quota_defaults d ON d.kind = u.kind
                WHERE u.kind = 'audit_log' AND (
                    u.row_count > 0.8 * coalesce((t.quotas -> u.kind ->> 'rows')::bigint, d.maximum_rows)
                    OR u.byte_count > 0.8 * coalesce((t.quotas -> u.kind ->> 'bytes')::bigint, d.maximum_bytes))
                """
            ).map { try $0.decode(at: 0) }
        }
    }
}
