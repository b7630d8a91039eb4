import HTTPTypes
import Hummingbird
import Invocation
import JSON
import Lookups
import Tenancy

/// A refusal as RFC 9457 describes it, with the stable `code` that clients branch on.
///
/// `type` and `title` are those of the code's ``ProblemType``; every code has one, which tests hold. One without would be of
/// the type `about:blank`, whose title is the status's own phrase (RFC 9457 §4.2.1).
struct Problem: Error, CustomStringConvertible {
    let status: HTTPResponse.Status
    let code: String
    /// One sentence for the developer of the client; holds no key, token, coordinate or query value.
    let detail: String
    /// Further members, such as the `field` that was refused.
    var members: JSONObject = [:]
    var headers: HTTPFields = [:]
    /// Of the request's limits.
    var standing = RequestAllowance()
    /// Whose request it is, where that is known.
    var caller: KeyHolder?
    /// Set where the answer is held back.
    var pause: Pause?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ detail: String, members: JSONObject = [:],
        headers: HTTPFields = [:]
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.members = members
        self.headers = headers
    }

    var description: String { "\(code): \(detail)" }

    /// The limit that was reached, for 429.
    var limit: String? { members["limit"]?.stringValue }

    /// The problem's members, `requestID` aside.
    var json: JSONObject {
        var object = members
        let type = ProblemType.byCode[code]
        object["type"] = .string(type?.path ?? "about:blank")
        object["title"] = .string(type?.title ?? status.reasonPhrase)
        object["status"] = JSONValue(status.code)
        object["code"] = .string(code)
        object["detail"] = .string(detail)
        return object
    }

    /// The problem as JSON.
    func body(requestID: String) -> [UInt8] {
        var object = json
        object["requestID"] = .string(requestID)
        return JSONValue.object(object).serialized()
    }

    func response(requestID: String) -> Response {
        Response(APIResponse(self, requestID: requestID))
    }
}

extension Problem {
    static let unauthorized = Problem(
        .unauthorized, "unauthorized", "send a valid key as 'Authorization: Bearer dpk_…' or 'dsk_…'",
        headers: [.wwwAuthenticate: "Bearer"])
    static func keyLacks(_ scope: Scope) -> Problem {
        Problem(
            .forbidden, "forbidden", "this key has not the scope \(scope.rawValue), which this route asks for"
        )
    }
    static let keyIsNotSecret = Problem(.forbidden, "forbidden", "this endpoint requires a secret key")
    static let keyIsRestricted = Problem(
        .forbidden, "forbidden",
        "this key is restricted to locations, and this route is for all that a tenant has"
    )
    static let tenantSuspended = Problem(.forbidden, "forbidden", "the tenant is suspended")
    static func unsupportedMediaType(_ expected: [BodyType]) -> Problem {
        Problem(
            .unsupportedMediaType, "unsupported_media_type",
            "send the body as 'Content-Type: \(expected.map { "\($0.name)" }.joined(separator: "' or '"))'")
    }
    static func bodyTooLarge(_ type: BodyType) -> Problem {
        Problem(.contentTooLarge, "body_too_large", "a body is at most \(type.maximumLength) bytes")
    }
    /// The client, or what stands before it, has gone.
    static let bodyCutOff = Problem(
        .badRequest, "malformed_request", "the connection ended before the body")
    static let bodyTooSlow = Problem(.requestTimeout, "request_timeout", "the body did not arrive in time")
    static let notAnObject = Problem(.badRequest, "invalid_json", "the body must be a JSON object")
    static let notFound = Problem(.notFound, "not_found", "there is nothing at this path")
    static let unknownHost = Problem(.notFound, "unknown_host", "nobody has proved the host")
    static let unknownClip = Problem(
        .notFound, "unknown_clip", "the tenant has no such clip")
    static let internalError = Problem(
        .internalServerError, "internal_error",
        "the request failed; the request ID finds it in the server's log")
    static let notificationsNotConfigured = Problem(
        .serviceUnavailable, "notifications_not_configured",
        "the server has no secret to seal push tokens with: set DOORSTEP_TOKEN_SECRET")
    static let channelsNotConfigured = Problem(
        .serviceUnavailable, "notifications_not_configured",
        "the server has no keys for APNs: set DOORSTEP_APNS_KEYS")
    static let unavailable = Problem(
        .serviceUnavailable, "unavailable", "the database has not answered yet; try again",
        headers: [.retryAfter: "1"])

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let list = allowed.map(\.rawValue).sorted().joined(separator: ", ")
        return Problem(
            .methodNotAllowed, "method_not_allowed", "this path takes \(list)", headers: [.allow: list])
    }

    static func field(_ path: String, code: String, _ detail: String) -> Problem {
        Problem(.badRequest, code, detail, members: ["field": .string(path)])
    }

    /// A refusal with the status of its code's ``ProblemType``.
    init(_ refusal: some Refusal) {
        self.init(ProblemType.byCode[refusal.code]?.status ?? .internalServerError, refusal)
    }

    init(_ status: HTTPResponse.Status, _ refusal: some Refusal) {
        self.init(status, refusal.code, refusal.description, members: refusal.members)
    }

    /// A field that is missing, unknown or of the wrong kind.
    init(_ error: JSONFieldError) {
        self.init(.badRequest, error)
    }

    /// Reads the URL of a request.
    static func url(_ text: String) throws(Problem) -> InvocationURL { try url(text.utf8.span) }

    /// - Parameter text: valid UTF-8.
    static func url(_ text: Span<UInt8>) throws(Problem) -> InvocationURL {
        do {
            return try InvocationURL(requested: text)
        } catch {
            throw Problem(.badRequest, error)
        }
    }
}
