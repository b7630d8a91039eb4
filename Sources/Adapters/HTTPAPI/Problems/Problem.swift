import Formats
import HTTPTypes
import Invocation
import Lookups
import Tenancy

/// An error response (RFC 9457), with a stable `code` for clients' decisions.
///
/// `type` and `title` come from the code's ``ProblemType``. Tests check that every code has a ``ProblemType``. Without it, the type
/// would be `about:blank`, and the title the reason phrase of the status (RFC 9457 §4.2.1).
struct Problem: Error, CustomStringConvertible {
    let status: HTTPResponse.Status
    let code: String
    /// One sentence for the developer of the client, without keys, tokens, coordinates and query values.
    let detail: String
    /// Further members, such as the `field` that was rejected.
    var members: JSONObject = [:]
    var headers: HTTPFields = [:]
    /// The state of the request's rate limits.
    var standing = RequestAllowance()
    /// The holder of the request's key, if known.
    var caller: KeyHolder?
    /// Set if the response is delayed.
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

    /// The limit that was reached, for 429; the cause, for 5xx.
    var limit: String? { (members["limit"] ?? members["cause"])?.stringValue }

    /// The problem's members without `requestID`.
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
}

extension Problem {
    static let unauthorized = Problem(
        .unauthorized, "unauthorized", "send a valid API key as 'Authorization: Bearer dpk_…' or 'dsk_…'",
        headers: [.wwwAuthenticate: "Bearer"])
    static func keyLacks(_ scope: Scope) -> Problem {
        Problem(
            .forbidden, "forbidden",
            "this key lacks the scope `\(scope.rawValue)`, which this endpoint requires"
        )
    }
    static let keyIsNotSecret = Problem(.forbidden, "forbidden", "this endpoint requires a secret key")
    static let keyIsRestricted = Problem(
        .forbidden, "forbidden",
        "this key is restricted to locations, but this endpoint is for the whole tenant"
    )
    static let tenantSuspended = Problem(.forbidden, "forbidden", "the tenant is suspended")
    static func unsupportedMediaType(_ expected: [BodyType]) -> Problem {
        Problem(
            .unsupportedMediaType, "unsupported_media_type",
            "send the body as 'Content-Type: \(expected.map { "\($0.name)" }.joined(separator: "' or '"))'")
    }
    static func bodyTooLarge(_ type: BodyType) -> Problem {
        Problem(.contentTooLarge, "body_too_large", "the body must have at most \(type.maximumLength) bytes")
    }
    /// The client or its proxy closed the connection.
    static let bodyCutOff = Problem(
        .badRequest, "malformed_request", "the connection ended before the whole body was sent")
    static let bodyTooSlow = Problem(.requestTimeout, "request_timeout", "the body did not arrive in time")
    static let notAnObject = Problem(.badRequest, "invalid_json", "the body must be a JSON object")
    static let notFound = Problem(.notFound, "not_found", "this path does not exist")
    static let unknownHost = Problem(.notFound, "unknown_host", "no tenant has verified the host")
    static let unknownClip = Problem(
        .notFound, "unknown_clip", "the tenant has no clip with this bundle ID")
    static let internalError = Problem(
        .internalServerError, "internal_error",
        "the request failed; the request ID finds it in the server's log")
    static let notificationsNotConfigured = Problem(
        .serviceUnavailable, "notifications_not_configured",
        "the server has no secret to encrypt push tokens: set DOORSTEP_TOKEN_SECRET")
    static let channelsNotConfigured = Problem(
        .serviceUnavailable, "notifications_not_configured",
        "the server has no APNs keys: set DOORSTEP_APNS_KEYS")
    static let unavailable = Problem(
        .serviceUnavailable, "unavailable", "the database has not responded yet; try again",
        headers: [.retryAfter: "1"])

    static func unavailable(_ error: StoreUnavailable) -> Problem {
        var problem = unavailable
        problem.members["cause"] = error.cause.map(JSONValue.string)
        return problem
    }

    static func notReady(_ detail: String) -> Problem {
        Problem(.serviceUnavailable, "unavailable", detail, headers: [.retryAfter: "1"])
    }

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let list = allowed.map(\.rawValue).sorted().joined(separator: ", ")
        return Problem(
            .methodNotAllowed, "method_not_allowed", "this path supports \(list)", headers: [.allow: list])
    }

    static func field(_ path: String, code: String, _ detail: String) -> Problem {
        Problem(.badRequest, code, detail, members: ["field": .string(path)])
    }

    /// A problem with the status of its code's ``ProblemType``.
    init(_ refusal: some Refusal) {
        self.init(ProblemType.byCode[refusal.code]?.status ?? .internalServerError, refusal)
    }

    init(_ status: HTTPResponse.Status, _ refusal: some Refusal) {
        self.init(status, refusal.code, refusal.description, members: refusal.members)
    }

    /// A problem for a field that is missing, unknown or of the wrong type.
    init(_ error: JSONFieldError) {
        self.init(.badRequest, error)
    }

    /// Reads the URL of a request.
    static func url(_ text: String) throws(Problem) -> InvocationURL { try url(text.utf8.span) }

    /// - Parameter text: Valid UTF-8.
    static func url(_ text: Span<UInt8>) throws(Problem) -> InvocationURL {
        do {
            return try InvocationURL(requested: text)
        } catch {
            throw Problem(.badRequest, error)
        }
    }
}
