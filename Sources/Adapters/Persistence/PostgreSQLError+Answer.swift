import PostgreSQL

extension PostgreSQLError {
    /// Whether a statement exceeded its time limit.
    var isSlowStatement: Bool {
        if case .timeout(.statement) = self { true } else { isCancelledStatement }
    }

    /// Whether the server reported that this statement failed or timed out. Other statements can then still succeed.
    var isOfStatement: Bool { isCancelledStatement || !isNoResponse }

    /// Whether a row has no partition, or no longer the partition that it was sent to.
    ///
    /// A partition's bounds are the only check without a name (PostgreSQL, `ExecFindPartition` and
    /// `ExecPartitionCheckEmitError`).
    var isOfAnotherPartition: Bool { isCheckViolation() && serverError?.constraint == nil }
}
