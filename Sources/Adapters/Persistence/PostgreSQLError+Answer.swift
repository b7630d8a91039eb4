import PostgreSQL

extension PostgreSQLError {
    /// Whether a statement exceeded its time limit.
    var isSlowStatement: Bool {
        if case .timeout(.statement) = self { true } else { isCancelledStatement }
    }

    /// Whether the server reported that this statement failed or timed out, so that another statement can work.
    var isOfStatement: Bool { isCancelledStatement || !isNoResponse }

    /// Whether a row has no partition, or no longer the partition that it was sent to.
    ///
    /// A partition's bounds are the only check without a name (PostgreSQL, `ExecFindPartition` and
    /// `ExecPartitionCheckEmitError`).
    var isOfAnotherPartition: Bool { isCheckViolation() && serverError?.constraint == nil }
}
