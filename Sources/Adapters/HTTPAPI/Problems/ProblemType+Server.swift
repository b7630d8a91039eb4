import HTTPTypes

extension ProblemType {
    /// Failures of the server.
    static let server = [
        unavailable, internalError,
    ]

    static let unavailable = ProblemType(
        "unavailable", .serviceUnavailable,
        title: "The server is not available yet",
        cause: """
            The server has not loaded its lookup index yet. Or the database that the request needs is down or cannot \
            be written; then `cause` has the reason, such as `disk_full`.
            """,
        remedy: """
            Send the request again after the seconds in `Retry-After`. `/readyz` shows whether the server is ready.
            """)
    static let internalError = ProblemType(
        "internal_error", .internalServerError,
        title: "The request failed",
        cause: "The server met an unexpected error and wrote it to its log.",
        remedy: """
            Send the request again. If it fails again, the operator finds the reason in the server's log by the \
            response's `requestID`.
            """)
}
