/// The reason for the missing response.
public enum PushFailure: String, Error, Sendable, Hashable, CaseIterable {
    /// No connection could be made.
    case notConnected = "not_connected"
    /// The connection was closed.
    case connectionClosed = "connection_closed"
    /// APNs reset the stream.
    case streamReset = "stream_reset"
    /// It took longer than it may.
    case timedOut = "timed_out"
    /// The team has no key for the environment.
    case noKey = "no_key"
    /// Sending has paused, because too many tokens were bad.
    case circuitOpen = "circuit_open"
    /// As many requests as may wait for a connection do so already.
    case noRoom = "no_room"
    /// The sender is being shut down.
    case shuttingDown = "shutting_down"
}
