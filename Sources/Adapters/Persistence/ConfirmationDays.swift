public import PostgreSQL

/// Maintains the partitions of confirmations, one for each day of UTC.
///
/// Any number of servers may do this at once. The role is `doorstep_router`, which cannot read confirmations.
public struct ConfirmationDays: Sendable {
    /// The possible numbers of days for which confirmations are kept.
    ///
    /// Each day is a table with two indexes, and the deletion of a tenant locks all of them. More locks would exceed PostgreSQL's
    /// default of `max_locks_per_transaction`. [ours]
    public static let retentions = 1...730

    /// The number of changes.
    public struct Retention: Sendable, Hashable {
        public var dropped: Int
        public var added: Int
        public var indexed: Int

        public init(dropped: Int = 0, added: Int = 0, indexed: Int = 0) {
            self.dropped = dropped
            self.added = added
            self.indexed = indexed
        }
    }

    private let pool: ConnectionPool
    private let retention: Int

    /// The time limit of one step. The longest step creates the index of a day.
    private static let timeout = Duration.seconds(600)

    /// - Parameter retention: The number of days for which confirmations are kept. A day is dropped when all of it is older.
    /// - Precondition: `retention` is one of ``retentions``.
    public init(_ pool: ConnectionPool, retention: Int) {
        precondition(Self.retentions.contains(retention), "confirmations are kept for 1 to 730 days")
        self.pool = pool
        self.retention = retention
    }

    /// Drops expired days, creates future ones, and creates the index of finished ones.
    /// - Throws: The first failure, after all steps were tried. If a day cannot be dropped, future days must still be created.
    public func maintain() async throws -> Retention {
        var changes = Retention()
        var failure: (any Error)?
        let steps: [(Query, any WritableKeyPath<Retention, Int> & Sendable)] = [
            ("SELECT doorstep.drop_confirmation_days(\(retention)::integer)", \.dropped),
            ("SELECT doorstep.add_confirmation_days()", \.added),
            ("SELECT doorstep.index_confirmation_days()", \.indexed),
        ]
        for (step, count) in steps {
            do {
                changes[keyPath: count] += try await pool.exhaust(
                    step, TransactionMode(statementTimeout: Self.timeout))
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return changes
    }
}
