import PostgreSQL

extension PostgreSQLError {
    /// Whether the database did not answer, or not as the primary that it has to be, rather than that it was asked
    /// something wrong.
    var isNoAnswer: Bool {
        switch self {
        case .connectFailed, .connectionLost, .outcomeUnknown, .timeout, .poolExhausted, .poolClosed: true
        default: isRetryable
        }
    }

    /// Whether a statement of ours takes longer than it may.
    var isSlowStatement: Bool { if case .timeout(.statement) = self { true } else { false } }

    /// Whether a row has no partition, or another than when it set out.
    ///
    /// A partition's bounds are the one check that has no name (PostgreSQL, `ExecFindPartition` and
    /// `ExecPartitionCheckEmitError`).
    var isOfAnotherPartition: Bool { isCheckViolation() && serverError?.constraint == nil }
}
