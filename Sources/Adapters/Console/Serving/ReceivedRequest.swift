import Formats
import HTTPServer
import HTTPTypes

/// A request on its way to an endpoint.
struct ReceivedRequest: Sendable {
    let method: HTTPRequest.Method
    /// As in the request, without the query.
    let path: String
    let fields: HTTPFields
    let query: String
    let body: ServerRequestBody
    /// The parameters of the path, not decoded.
    var parameters: [Substring: Substring] = [:]
    /// The browser's address, which a trusted proxy may forward; nil if unknown.
    let client: IPAddress?
    /// Whether the connection is from a trusted proxy.
    let isBehindProxy: Bool
    /// Whether the browser uses TLS.
    let isSecure: Bool

    /// Whether the body is a form.
    var isForm: Bool { fields[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true }

    /// The value of a cookie (RFC 6265 §5.4).
    func cookie(_ name: String) -> String? {
        for pair in (fields[.cookie] ?? "").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0].trimmingPrefix(while: { $0 == " " }) == name {
                return String(parts[1])
            }
        }
        return nil
    }
}
