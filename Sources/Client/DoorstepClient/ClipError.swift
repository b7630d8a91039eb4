/// Why a session has no answer.
public enum ClipError: Error, Sendable, Hashable {
    /// The server refused the request.
    case refused(ServiceProblem)
    /// No answer came within the budget, or one was lost of a request that must not be sent twice.
    case notReached
    /// What came is no answer of this server.
    case unreadableResponse
    /// The container could not be read or written.
    case container
    /// The URL is none that a request can be made with: the server's, or one longer than 2,048 bytes.
    case invalidURL
    /// The task was cancelled.
    case cancelled
}

/// A server's problem (RFC 9457), as `/problems` of the server lists them.
public struct ServiceProblem: Sendable, Hashable {
    /// What stays the same of a problem, whatever its text.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// As the server writes it.
        public let rawValue: String

        /// Takes a code, also one that is not listed here.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No experience is registered for the URL.
        public static let doesNotMatch = Code(rawValue: "does_not_match")
        /// The URL carries no identifier of a place: a generic one. Show ``ClipSession/nearby(_:coordinate:within:limit:)``.
        public static let noIdentifier = Code(rawValue: "no_identifier")
        /// The URL names a place that is not registered.
        public static let unknownIdentifier = Code(rawValue: "unknown_identifier")
        /// The URL is none that can launch an App Clip.
        public static let invalidURL = Code(rawValue: "invalid_url")
        /// The key is unknown, revoked or expired.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The key may not do this.
        public static let forbidden = Code(rawValue: "forbidden")
        /// Too many requests of this key or address, for now.
        public static let rateLimited = Code(rawValue: "rate_limited")
        /// The server cannot answer at the moment.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The server has no secret by which it would keep push tokens.
        public static let notificationsNotConfigured = Code(rawValue: "notifications_not_configured")
        /// There is no such instance: register a launch first.
        public static let unknownInstance = Code(rawValue: "unknown_instance")
        /// There is no such Live Activity.
        public static let unknownActivity = Code(rawValue: "unknown_activity")
        /// The server has no such route.
        public static let notFound = Code(rawValue: "not_found")
        /// The request needs a token or a signature of App Attest.
        public static let attestationRequired = Code(rawValue: "attestation_required")
        /// The token has expired, was revoked, or is another clip's.
        public static let attestationInvalid = Code(rawValue: "attestation_invalid")
        /// What the device attested or signed was refused.
        public static let attestationRefused = Code(rawValue: "attestation_refused")
        /// Another signature of the same key was there first: sign anew.
        public static let counterNotGreater = Code(rawValue: "counter_not_greater")
        /// The instance belongs to another install's key, as after a restore.
        public static let instanceOfOtherKey = Code(rawValue: "instance_of_other_key")
    }

    /// Of HTTP.
    public let status: Int
    /// What happened.
    public let code: Code
    /// The parameter or field in question.
    public let field: String?
    /// How long to wait before the same is asked again.
    public let retryAfter: Duration?

    /// Takes what the server answers: for previews and tests.
    public init(status: Int, code: Code, field: String? = nil, retryAfter: Duration? = nil) {
        self.status = status
        self.code = code
        self.field = field
        self.retryAfter = retryAfter
    }
}

extension ClipError: CustomStringConvertible {
    /// Without anything that the app sent.
    public var description: String {
        switch self {
        case .refused(let problem): "the server refused: \(problem.status) \(problem.code.rawValue)"
        case .notReached: "the server was not reached"
        case .unreadableResponse: "the answer cannot be read"
        case .container: "the shared container cannot be used"
        case .invalidURL: "the URL cannot be asked for"
        case .cancelled: "cancelled"
        }
    }
}
