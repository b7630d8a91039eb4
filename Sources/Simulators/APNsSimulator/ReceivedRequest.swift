import NIOHPACK

/// A request that the simulator has looked at, and what it said.
public struct ReceivedRequest: Sendable {
    /// The connections are counted from 1.
    public let connection: Int
    public let path: String
    /// From the path, in lower case; nil for what is not for a device.
    public let device: String?
    /// `apns-id`, or `apns-request-id` of a broadcast: given, or made by the simulator.
    public let id: String
    public let payload: [UInt8]
    /// The status it was answered with; nil when it was not.
    public let status: Int?
    /// What it was refused for.
    public let reason: String?
    private let headers: HPACKHeaders

    init(
        connection: Int, path: String, device: String?, id: String, payload: [UInt8], status: Int?,
        reason: String?, headers: HPACKHeaders
    ) {
        self.connection = connection
        self.path = path
        self.device = device
        self.id = id
        self.payload = payload
        self.status = status
        self.reason = reason
        self.headers = headers
    }

    public var topic: String? { header("apns-topic") }

    /// The value of a header field.
    public func header(_ name: String) -> String? {
        headers.first(name: name)
    }
}

/// How often things happened since the start.
public struct SimulatorCounters: Sendable, Hashable {
    public var connections = 0
    /// Connections that a rule refused; they are not among the others.
    public var refusedConnections = 0
    /// Connections that are open.
    public var openConnections = 0
    /// Requests that were looked at.
    public var requests = 0
    /// Requests that were taken for delivery.
    public var accepted = 0
    /// Requests that were refused, by reason.
    public var refused: [String: Int] = [:]
    /// Requests that a rule left without an answer.
    public var unanswered = 0
    /// Requests beyond a GOAWAY or reset, that were not looked at.
    public var turnedAway = 0
    /// Streams opened beyond the number that the client had agreed to.
    public var streamOverruns = 0
    /// The most streams that were open on one connection.
    public var mostStreams = 0
    /// Provider tokens whose signature was verified: each once.
    public var verifiedTokens = 0
}
