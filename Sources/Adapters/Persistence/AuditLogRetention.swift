public import PostgreSQL

/// Prunes entries of the audit log that were kept for long enough.
///
/// Any number of servers may do so at once. Works as `doorstep_router`, which sees no entry.
public struct AuditLogRetention: Sendable {
    /// For how many days the audit log can be kept, where it has an end: nothing of the last week is ever deleted. [ours]
    public static let retentions = 7...36_500

    private let pool: ConnectionPool
    private let retention: Int

    /// - Parameter retention: For how many days entries are kept.
    /// - Precondition: `retention` is one of ``retentions``.
    public init(_ pool: ConnectionPool, retention: Int) {
        precondition(Self.retentions.contains(retention), "the audit log is kept for 7 to 36500 days")
        self.pool = pool
        self.retention = retention
    }

    /// Deletes older entries, a thousand per transaction.
    /// - Returns: How many those were.
    public func maintain() async throws -> Int {
        try await pool.exhaust("SELECT doorstep.prune_audit_log(\(retention)::integer)")
    }
}
