public import Foundation

/// A session of an App Clip, or of the full app that replaces it, with a Doorstep server.
///
/// Create one for each process. It looks up invocation URLs, confirms that the person is at the location,
/// and registers launches, so that the server can send notifications. A shared container stores the
/// instance, the key of App Attest and the latest URL, so that the full app continues where the App Clip
/// stopped.
///
/// All errors are ``ClipError``.
public actor ClipSession {
    /// The configuration that the session was created with.
    public nonisolated let configuration: ClipConfiguration
    let container: any SharedContainer
    let clock: any SessionClock
    let attester: (any AppAttester)?
    private let transport: any HTTPTransport
    private let chance: @Sendable () -> Double

    /// The token that requests carry, and its expiry.
    var token: (text: String, until: Date)?
    /// The server's challenge for the signature of the next request, and the time of its arrival.
    var challenge: (text: String, at: Date)?
    var launch: ReportedLaunch?
    /// Assertions are sent one at a time: the server accepts only a greater counter.
    let signing = Turns()
    /// A key can be attested only once.
    let attesting = Turns()

    /// - Parameters:
    ///   - attester: Nil to disable App Attest. On devices: `DeviceAttester()`.
    public init(
        _ configuration: ClipConfiguration, container: any SharedContainer,
        transport: any HTTPTransport = URLSessionTransport(), clock: any SessionClock = SystemClock(),
        attester: (any AppAttester)? = nil
    ) {
        self.init(
            configuration, container: container, transport: transport, clock: clock, attester: attester,
            chance: { .random(in: 0...1) })
    }

    init(
        _ configuration: ClipConfiguration, container: any SharedContainer, transport: any HTTPTransport,
        clock: any SessionClock, attester: (any AppAttester)?, chance: @escaping @Sendable () -> Double
    ) {
        self.configuration = configuration
        self.container = container
        self.transport = transport
        self.clock = clock
        self.attester = attester
        self.chance = chance
    }

    /// Returns the invocation URL of the latest launch that had one, also of the App Clip that the full app
    /// has replaced. Show its location after a return without a URL.
    ///
    /// - Throws: ``ClipError/container``.
    public func lastURL() throws(ClipError) -> URL? {
        try keep { try $0.read(.lastURL) }.flatMap { URL(string: String(decoding: $0, as: UTF8.self)) }
    }
}

// MARK: - Requests

/// A request before keys and signatures are added.
struct Call {
    var method: String
    /// Path and query, as the signature covers them.
    var target: String
    var body: Data?
    var fields: [String: String] = [:]
    /// Whether the request is idempotent: then it is repeated if its response is lost.
    var isRepeatable: Bool
    /// Whether the request is signed if there is a challenge.
    var isSigned = false
    var budget: RetryBudget
}

extension ClipSession {
    /// Sends a request with the current token. If the server requires a token, gets one and repeats the
    /// request once.
    func perform(_ call: Call) async throws(ClipError) -> TransportResponse {
        do throws(ClipError) {
            return try await exchangeSigned(call)
        } catch .refused(let problem) where attester != nil && Self.asksForMore.contains(problem.code) {
            if problem.code == .attestationInvalid { token = nil }
            if problem.code != .counterNotGreater {
                guard try await isAttestedNow() else { throw .refused(problem) }
            }
            return try await exchangeSigned(call)
        }
    }

    /// Whether a token is available now, whatever error occurred before.
    private func isAttestedNow() async throws(ClipError) -> Bool {
        do throws(ClipError) { return try await attest() } catch .cancelled { throw .cancelled } catch {
            return false
        }
    }

    private static let asksForMore: Set<ServiceProblem.Code> = [
        .attestationRequired, .attestationInvalid, .counterNotGreater,
    ]

    private func exchangeSigned(_ call: Call) async throws(ClipError) -> TransportResponse {
        guard call.isSigned, attester != nil else { return try await exchange(call) }
        try await signing.begin()
        defer { signing.end() }
        var call = call
        if let signature = await signature(of: call) { call.fields["Doorstep-Assertion"] = signature }
        return try await exchange(call)
    }

    /// Sends a request and repeats it where that is safe, until a response arrives or the budget is used
    /// up.
    ///
    /// - Returns: A response of 2xx or 304.
    func exchange(_ call: Call) async throws(ClipError) -> TransportResponse {
        let request = try request(of: call)
        var spent = Duration.zero
        var tries = 0
        while true {
            tries += 1
            switch await attempt(request, isRepeatable: call.isRepeatable) {
            case .answered(let response): return response
            case .failed(let error, let mayRepeat, let retryAfter):
                guard mayRepeat,
                    let pause = call.budget.pause(
                        afterTries: tries, spent: spent, retryAfter: retryAfter, chance: chance())
                else { throw error }
                spent += pause
                do { try await clock.sleep(for: pause) } catch { throw .cancelled }
            }
        }
    }

    private enum Attempt {
        case answered(TransportResponse)
        case failed(ClipError, mayRepeat: Bool, retryAfter: Duration?)
    }

    private func attempt(_ request: TransportRequest, isRepeatable: Bool) async -> Attempt {
        let response: TransportResponse
        do throws(TransportFailure) {
            response = try await transport.send(request)
        } catch {
            return error == .cancelled
                ? .failed(.cancelled, mayRepeat: false, retryAfter: nil)
                : .failed(.notReached, mayRepeat: isRepeatable || error == .notSent, retryAfter: nil)
        }
        if let text = response.fields["doorstep-challenge"] { challenge = (text, clock.now) }
        if 200..<300 ~= response.status || response.status == 304 { return .answered(response) }
        let retryAfter = response.fields["retry-after"].flatMap(Int64.init).map {
            Duration.seconds(max(0, $0))
        }
        guard let problem = ServiceProblem(response, retryAfter: retryAfter) else {
            // The response comes from a proxy in front of the server, for example while the server starts.
            let isAway = response.status >= 500
            return .failed(
                isAway ? .notReached : .unreadableResponse, mayRepeat: isAway && isRepeatable,
                retryAfter: retryAfter)
        }
        return .failed(
            .refused(problem),
            mayRepeat: problem.wasNotDone || problem.status >= 500 && isRepeatable && problem.mayPass,
            retryAfter: retryAfter)
    }

    private func request(of call: Call) throws(ClipError) -> TransportRequest {
        let server = configuration.server.absoluteString
        guard
            let url = URL(string: (server.hasSuffix("/") ? String(server.dropLast()) : server) + call.target)
        else { throw .invalidURL }
        var fields = call.fields
        fields["Authorization"] = "Bearer \(configuration.publishableKey)"
        fields["Accept"] = "application/json"
        if call.body != nil { fields["Content-Type"] = "application/json" }
        if let token, token.until > clock.now { fields["Doorstep-Attestation"] = token.text }
        return TransportRequest(
            method: call.method, url: url, fields: fields, body: call.body, timeout: call.budget.timeout)
    }

    // MARK: JSON and the container

    /// RFC 3339 with milliseconds.
    private static let timestamp = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    static func json(_ value: some Encodable) -> Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Fractions of a second preserve the order of two launches within one second.
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(timestamp))
        }
        return try? encoder.encode(value)
    }

    static func read<Value: Decodable>(_ type: Value.Type, from data: Data) throws(ClipError) -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            return try (try? Date(text, strategy: timestamp)) ?? Date(text, strategy: .iso8601)
        }
        guard let value = try? decoder.decode(type, from: data) else { throw .unreadableResponse }
        return value
    }

    /// Uses the container and maps all its errors to one.
    func keep<Result>(_ use: (any SharedContainer) throws -> Result) throws(ClipError) -> Result {
        do { return try use(container) } catch { throw .container }
    }
}

extension ServiceProblem {
    /// Reads a problem; nil if the response is not a problem of a Doorstep server.
    init?(_ response: TransportResponse, retryAfter: Duration?) {
        struct Members: Decodable {
            var code: String
            var field: String?
        }
        guard let members = try? JSONDecoder().decode(Members.self, from: response.body) else { return nil }
        self.init(
            status: response.status, code: Code(rawValue: members.code), field: members.field,
            retryAfter: retryAfter)
    }

    /// Whether the server reports that it did nothing, and that a later attempt may succeed.
    var wasNotDone: Bool { status == 429 || status == 503 && mayPass }

    /// Waiting does not help if the server's settings are incomplete.
    var mayPass: Bool { code != .notificationsNotConfigured }
}
