import HTTPTypes

extension ProblemType {
    /// What is the server's own matter.
    static let server = [
        unavailable, internalError,
    ]

    static let unavailable = ProblemType(
        "unavailable", .serviceUnavailable, title: "The server cannot answer yet",
        cause: """
            The server has not read its table yet, or the database that this request needs is away, or cannot be \
            written, such as where its disk is full.
            """,
        remedy: """
            Send the request again after the seconds that `Retry-After` gives. `/readyz` tells whether \
            it is ready.
            """)
    static let internalError = ProblemType(
        "internal_error", .internalServerError, title: "The request failed",
        cause: "The server met an error that it did not expect, and wrote it to its log.",
        remedy: """
            Send the request again; if it fails again, whoever runs the server finds the reason in its \
            log by the answer's `requestID`.
            """)
}
