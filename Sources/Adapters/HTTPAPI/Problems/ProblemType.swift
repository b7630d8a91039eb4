import HTTPTypes

/// A code that refusals have, and what its page says of it.
///
/// From the list of them follow the `type` and the `title` of each ``Problem``, the pages at `/problems`, and the errors in the
/// OpenAPI document. Tests compare the guide with it.
struct ProblemType: Sendable {
    /// What clients branch on.
    let code: String
    /// The one status of its responses.
    let status: HTTPResponse.Status
    /// The same whenever it comes (RFC 9457 §3.1.3).
    let title: String
    /// What happened. What stands between backticks is code, here and below.
    let cause: String
    /// What to do about it.
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

    /// Where its page is, which is also its `type`.
    let path: String

    static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })

    static let all = reading + admission + attestation + locations + catalogue + notifications + server
}
