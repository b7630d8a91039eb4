/// The reason why a session has no result.
public enum ClipError: Error, Sendable, Hashable {
    /// The server refused the request.
    case refused(ServiceProblem)
    /// No response came within the budget, or the response to a request that must not be repeated was lost.
    case notReached
    /// The response is not one of a Doorstep server.
    case unreadableResponse
    /// The container could not be read or written.
    case container
    /// No request can be made with the URL: the server's URL is invalid, or the URL is longer than 2,048
    /// bytes.
    case invalidURL
    /// The task was cancelled.
    case cancelled
}

/// A server's problem (RFC 9457), as `/problems` of the server lists them.
public struct ServiceProblem: Sendable, Hashable {
    /// The stable identifier of a problem, independent of its text.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as the server writes it.
        public let rawValue: String

        /// Creates a code, also one that is not listed here.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No experience is registered for the URL.
        public static let doesNotMatch = Code(rawValue: "does_not_match")
        /// The URL is generic: it contains no location's identifier. Show
        /// ``ClipSession/nearby(_:coordinate:within:limit:)``.
        public static let noIdentifier = Code(rawValue: "no_identifier")
        /// The URL names a location that is not registered.
        public static let unknownIdentifier = Code(rawValue: "unknown_identifier")
        /// The URL cannot launch an App Clip.
        public static let invalidURL = Code(rawValue: "invalid_url")
        /// The key is unknown, revoked or expired.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The key lacks the required scope.
        public static let forbidden = Code(rawValue: "forbidden")
        /// The rate limit of this key or address is exceeded.
        public static let rateLimited = Code(rawValue: "rate_limited")
        /// The server is temporarily unavailable.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The server has no secret for encrypting push tokens.
        public static let notificationsNotConfigured = Code(rawValue: "notifications_not_configured")
        /// The instance does not exist: register a launch first.
        public static let unknownInstance = Code(rawValue: "unknown_instance")
        /// The Live Activity does not exist.
        public static let unknownActivity = Code(rawValue: "unknown_activity")
        /// The server does not have this endpoint.
        public static let notFound = Code(rawValue: "not_found")
        /// The request needs a token or a signature of App Attest.
        public static let attestationRequired = Code(rawValue: "attestation_required")
        /// The token has expired, was revoked, or belongs to another clip.
        public static let attestationInvalid = Code(rawValue: "attestation_invalid")
        /// The server rejected the attestation or the signature.
        public static let attestationRefused = Code(rawValue: "attestation_refused")
        /// The server has already seen a later signature of the same key: sign again.
        public static let counterNotGreater = Code(rawValue: "counter_not_greater")
        /// The instance belongs to another install's key, for example after a restore.
        public static let instanceOfOtherKey = Code(rawValue: "instance_of_other_key")
    }

    /// The HTTP status.
    public let status: Int
    /// The code of the problem.
    public let code: Code
    /// The refused parameter or field.
    public let field: String?
    /// The time to wait before the request is repeated.
    public let retryAfter: Duration?

    /// Creates a refusal from a response's members: for previews and tests.
    public init(status: Int, code: Code, field: String? = nil, retryAfter: Duration? = nil) {
        self.status = status
        self.code = code
        self.field = field
        self.retryAfter = retryAfter
    }
}

extension ClipError: CustomStringConvertible {
    /// A text without any data that the app sent.
    public var description: String {
        switch self {
        case .refused(let problem): "the server refused: \(problem.status) \(problem.code.rawValue)"
        case .notReached: "the server was not reached"
        case .unreadableResponse: "the response cannot be read"
        case .container: "the shared container cannot be used"
        case .invalidURL: "the URL cannot be requested"
        case .cancelled: "cancelled"
        }
    }
}
