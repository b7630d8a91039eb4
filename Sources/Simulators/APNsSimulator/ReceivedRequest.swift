import NIOHPACK

/// A request that the simulator has judged, and its response.
public struct ReceivedRequest: Sendable {
    /// The number of the connection, from 1.
    public let connection: Int
    public let path: String
    /// The device token in the path, in lower case; nil for other paths.
    public let device: String?
    /// `apns-id`, or `apns-request-id` of a broadcast. The client sent it, or the simulator made it.
    public let id: String
    public let payload: [UInt8]
    /// The status of the response; nil without a response.
    public let status: Int?
    /// The reason of the refusal.
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

/// Counters since the start.
public struct SimulatorCounters: Sendable, Hashable {
    public var connections = 0
    /// Connections that a rule refused. The other counters do not include them.
    public var refusedConnections = 0
    /// Open connections.
    public var openConnections = 0
    /// Judged requests.
    public var requests = 0
    /// Requests that were accepted for delivery.
    public var accepted = 0
    /// Requests that were refused, by reason.
    public var refused: [String: Int] = [:]
    /// Requests that a rule left without a response.
    public var unanswered = 0
    /// Requests after a GOAWAY or a reset, which were not judged.
    public var turnedAway = 0
    /// Streams beyond the number that the client had acknowledged.
    public var streamOverruns = 0
    /// The maximum number of streams that were open on one connection.
    public var mostStreams = 0
    /// Provider tokens whose signature was verified, each once.
    public var verifiedTokens = 0
}
