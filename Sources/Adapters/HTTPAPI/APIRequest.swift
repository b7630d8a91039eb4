import Administration
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Lookups
import NIOCore
import Platform
import Tenancy

/// A request as endpoints see it, over HTTP or from this process.
///
/// A class, because copying a structure would change the reference counts of a dozen strings.
final class APIRequest: Sendable {
    let client: Client
    /// The URL's query as received, without the question mark.
    let query: Substring
    /// The values of the path's parameters, as received.
    let parameters: [Substring: Substring]
    /// The host and port, as received; nil for a request that the event loop responds to.
    let authority: String?
    /// Path and query, as received; empty for a request that the event loop responds to.
    let target: String
    let fields: RequestFields
    /// The key in `Authorization`.
    let key: PresentedKey?

    /// - Parameter key: The key in `fields`, if it has been read before.
    init(
        client: Client, query: Substring = "", parameters: [Substring: Substring] = [:],
        authority: String? = nil, target: String = "", fields: consuming RequestFields = RequestFields(),
        key: PresentedKey? = nil
    ) {
        self.client = client
        self.query = query
        self.parameters = parameters
        self.authority = authority
        self.target = target
        if let key { self.key = key } else { self.key = fields.authorization.map(PresentedKey.init) }
        self.fields = fields
    }
}

/// The header fields of a request that its response depends on.
///
/// Repeated fields are joined by commas, so that two `Authorization` fields are not a valid key. The type is noncopyable, because
/// copying it would change the reference counts of a dozen strings.
struct RequestFields: ~Copyable {
    var authorization: String?
    var contentType: String?
    var contentLength: String?
    var contentEncoding: String?
    var ifNoneMatch: String?
    var ifMatch: String?
    var prefer: String?
    var acceptEncoding: String?
    var forwardedFor: String?
    var requestID: String?
    var traceparent: String?
    /// The origin of a page in a browser.
    var origin: String?
    /// The method of the request that a preflight asks about.
    var requestedMethod: String?
    /// The value of each field, because a value may contain a comma.
    var idempotencyKeys: [String] = []
    /// A token of App Attest.
    var attestation: String?
    /// The request's signature by App Attest.
    var assertion: String?
}

extension RequestFields {
    init(_ request: ServerRequest) {
        self.init()
        request.forEachField { take($0, $1) }
    }

    init(_ fields: HTTPFields) {
        self.init()
        for field in fields { take(field.name.rawName, field.value) }
    }

    private mutating func take(_ name: String, _ value: String) {
        let bytes = name.utf8.span
        /// - Parameter text: Lower-case ASCII.
        func isNamed(_ text: StaticString) -> Bool { bytes.isEqualIgnoringCase(to: text) }
        /// Appends the value of a repeated field (RFC 9110 §5.3).
        func add(to field: inout String?) { field = field.map { "\($0), \(value)" } ?? value }
        switch bytes.count {
        case 6 where isNamed("prefer"): add(to: &prefer)
        case 6 where isNamed("origin"): add(to: &origin)
        case 8 where isNamed("if-match"): add(to: &ifMatch)
        case 11 where isNamed("traceparent"): add(to: &traceparent)
        case 12 where isNamed("content-type"): add(to: &contentType)
        case 12 where isNamed("x-request-id"): add(to: &requestID)
        case 13 where isNamed("authorization"): add(to: &authorization)
        case 13 where isNamed("if-none-match"): add(to: &ifNoneMatch)
        case 14 where isNamed("content-length"): add(to: &contentLength)
        case 15 where isNamed("x-forwarded-for"): add(to: &forwardedFor)
        case 15 where isNamed("accept-encoding"): add(to: &acceptEncoding)
        case 15 where isNamed("idempotency-key"): idempotencyKeys.append(value)
        case 16 where isNamed("content-encoding"): add(to: &contentEncoding)
        case 18 where isNamed("doorstep-assertion"): add(to: &assertion)
        case 20 where isNamed("doorstep-attestation"): add(to: &attestation)
        case 29 where isNamed("access-control-request-method"): add(to: &requestedMethod)
        default: break
        }
    }
}

extension RequestFields {
    /// The trace that the caller named; nil without a valid `traceparent`.
    var trace: TraceContext? { traceparent.flatMap(TraceContext.init(traceparent:)) }

    /// Whether the client accepts `gzip`, and does not prefer a body without coding.
    var acceptsGzip: Bool { acceptEncoding?.utf8.span.prefersGzip == true }

    /// Whether the server compresses a compressible body of this length.
    func selectsGzip(for length: Int) -> Bool { length > GzipEncoder.longestPlainLength && acceptsGzip }
}

extension HTTPField.Name {
    /// Fields that proxies and clients use without a standard.
    static let requestID = Self(known: "X-Request-ID")
    static let forwardedFor = Self(known: "X-Forwarded-For")
    // RFC 7240.
    static let prefer = Self(known: "Prefer")
    static let preferenceApplied = Self(known: "Preference-Applied")
    // IETF, draft-ietf-httpapi-idempotency-key-header-07.
    static let idempotencyKey = Self(known: "Idempotency-Key")
    // [ours] Whether the response is a repeated one.
    static let idempotentReplayed = Self(known: "Idempotent-Replayed")
    // IETF, draft-ietf-httpapi-ratelimit-headers-10.
    static let rateLimitPolicy = Self(known: "RateLimit-Policy")
    static let rateLimit = Self(known: "RateLimit")

    /// - Parameter name: A token (RFC 9110 §5.6.2).
    init(known name: String) {
        guard let name = Self(name) else { preconditionFailure("no field can have this name") }
        self = name
    }
}
