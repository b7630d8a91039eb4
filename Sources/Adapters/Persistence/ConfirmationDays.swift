public import PostgreSQL

/// Looks after the partitions that confirmations are kept in, one for each day of UTC.
///
/// Any number of servers may do so at once. Works as `doorstep_router`, which sees no confirmation.
public struct ConfirmationDays: Sendable {
    /// For how many days confirmations can be kept.
    ///
    /// Each day is a table with two indexes, and deleting a tenant locks them all: more would not fit into PostgreSQL's
    /// default of `max_locks_per_transaction`. [ours]
    public static let retentions = 1...730

    /// The results.
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

    /// How long one step may take: making the index of a day is the longest.
    private static let timeout = Duration.seconds(600)

    /// - Parameter retention: For how many days confirmations are kept; they go when the whole day is that old.
    /// - Precondition: `retention` is one of ``retentions``.
    public init(_ pool: ConnectionPool, retention: Int) {
        precondition(Self.retentions.contains(retention), "confirmations are kept for 1 to 730 days")
        self.pool = pool
        self.retention = retention
    }

    /// Drops expired days, creates future ones, and creates the index of finished ones.
    /// - Throws: The first failure, after all was tried: what cannot be dropped must not keep days from being made.
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
