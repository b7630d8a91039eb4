import PostgreSQL

extension PostgreSQLError {
    /// Whether a statement of ours takes longer than it may.
    var isSlowStatement: Bool {
        if case .timeout(.statement) = self { true } else { isCancelledStatement }
    }

    /// Whether the server reported that this statement failed or timed out, so that another statement can work.
    var isOfStatement: Bool { isCancelledStatement || !isNoResponse }

    /// Whether a row has no partition, or another than when it set out.
    ///
    /// A partition's bounds are the one check that has no name (PostgreSQL, `ExecFindPartition` and
    /// `ExecPartitionCheckEmitError`).
    var isOfAnotherPartition: Bool { isCheckViolation() && serverError?.constraint == nil }
}
