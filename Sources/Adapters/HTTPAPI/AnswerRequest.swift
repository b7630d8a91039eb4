import HTTPTypes
import Tenancy

/// What a route under `/v1` asks of a request, before anything of the route itself matters.
struct RouteAccess {
    /// What a key must be good for.
    let scope: Scope
    /// Whether there must be JSON in the body.
    let takesBody: Bool
}

/// A request to a route under `/v1`, as far as it is known before its body, whoever read it from the wire.
struct AnswerRequest {
    let access: RouteAccess
    let client: Client
    /// The URL's query as it came, without the question mark.
    var query: Substring = ""
    var fields = RequestFields()
}

/// The header fields of a request that its answer under `/v1` depends on; what comes several times is joined by commas, so
/// that of two keys neither is one.
struct RequestFields {
    var authorization: String?
    var contentType: String?
    var contentLength: String?
    var ifNoneMatch: String?
    var forwardedFor: String?
    var requestID: String?
}

extension RequestFields {
    init(_ fields: HTTPFields) {
        self.init(
            authorization: fields[.authorization], contentType: fields[.contentType],
            contentLength: fields[.contentLength], ifNoneMatch: fields[.ifNoneMatch],
            forwardedFor: fields[.forwardedFor], requestID: fields[.requestID])
    }
}

extension HTTPField.Name {
    /// Which proxies and clients agree on without a standard.
    static let requestID = Self(known: "X-Request-ID")
    static let forwardedFor = Self(known: "X-Forwarded-For")
    // IETF, draft-ietf-httpapi-ratelimit-headers-10.
    static let rateLimitPolicy = Self(known: "RateLimit-Policy")
    static let rateLimit = Self(known: "RateLimit")

    /// - Parameter name: a token (RFC 9110 §5.6.2).
    private init(known name: String) {
        guard let name = Self(name) else { preconditionFailure("no field can have this name") }
        self = name
    }
}
