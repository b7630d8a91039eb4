public import APNsPayload
public import Foundation

/// What became of one request to APNs.
public enum PushOutcome: Sendable, Hashable {
    /// APNs said what it did.
    case answered(APNsAnswer)
    /// APNs has certainly not taken it: it was never sent, or refused by the connection before it was looked at.
    case notSent(PushFailure)
    /// It was sent and no answer came: APNs may have taken it.
    case unanswered(PushFailure)
}

/// An answer of APNs. Source: Apple, "Handling notification responses from APNs".
public struct APNsAnswer: Sendable, Hashable {
    public let status: Int
    /// Nil for what was taken, and for an answer that gave none.
    public let reason: APNsReason?
    /// `apns-unique-id`, which the sandbox adds.
    public let uniqueID: String?
    /// Of a 410: since when the token is known to be invalid.
    public let invalidSince: Date?

    public init(status: Int, reason: APNsReason? = nil, uniqueID: String? = nil, invalidSince: Date? = nil) {
        self.status = status
        self.reason = reason
        self.uniqueID = uniqueID
        self.invalidSince = invalidSince
    }
}

/// Why there is no answer.
public enum PushFailure: String, Error, Sendable, Hashable, CaseIterable {
    /// No connection could be made.
    case notConnected = "not_connected"
    /// The connection was closed.
    case connectionClosed = "connection_closed"
    /// APNs reset the stream.
    case streamReset = "stream_reset"
    /// It took longer than it may.
    case timedOut = "timed_out"
    /// There is no key of the team for the environment.
    case noKey = "no_key"
    /// So many tokens were bad that nothing more is sent for a while.
    case circuitOpen = "circuit_open"
    /// As many requests as may wait for a connection do so already.
    case noRoom = "no_room"
    /// The sender is being shut down.
    case shuttingDown = "shutting_down"
}
