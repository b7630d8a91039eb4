import HTTPTypes

/// An error code, with the text of its page.
///
/// The `type` and `title` of each ``Problem``, the pages at `/problems` and the errors in the OpenAPI document are derived from
/// the list of error codes. Tests compare the guide with it.
struct ProblemType: Sendable {
    /// The stable name that clients use to distinguish problems.
    let code: String
    /// The status of all responses with this code.
    let status: HTTPResponse.Status
    /// A short description, the same in all responses with this code (RFC 9457 §3.1.3).
    let title: String
    /// What happened. Text between backticks is code, here and below.
    let cause: String
    /// What the client or the operator can do.
    let remedy: String

    init(
        _ code: String, _ status: HTTPResponse.Status, title: String, cause: String, remedy: String
    ) {
        self.code = code
        self.status = status
        self.title = title
        self.cause = cause
        self.remedy = remedy
        path = "/problems/\(code)"
    }

    /// The path of the page, which is also the `type`.
    let path: String

    static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })

    static let all = reading + admission + attestation + locations + catalogue + notifications + server
}
