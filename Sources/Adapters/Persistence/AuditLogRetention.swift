public import PostgreSQL

/// Deletes expired entries of the audit log.
///
/// Any number of servers may do this at once. The role is `doorstep_router`, which cannot read entries.
public struct AuditLogRetention: Sendable {
    /// The possible numbers of days for which entries are kept. Entries of the last week are never deleted. [ours]
    public static let retentions = 7...36_500

    private let pool: ConnectionPool
    private let retention: Int

    /// - Parameter retention: The number of days for which entries are kept.
    /// - Precondition: `retention` is one of ``retentions``.
    public init(_ pool: ConnectionPool, retention: Int) {
        precondition(Self.retentions.contains(retention), "the audit log is kept for 7 to 36500 days")
        self.pool = pool
        self.retention = retention
    }

    /// Deletes older entries, a thousand per transaction.
    /// - Returns: The number of deleted entries.
    public func maintain() async throws -> Int {
        try await pool.exhaust("SELECT doorstep.prune_audit_log(\(retention)::integer)")
    }
}
