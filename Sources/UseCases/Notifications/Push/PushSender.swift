/// Sends requests to APNs.
public protocol PushSender: Sendable {
    /// Sends one request, at once or when the connection has room for it; whatever happens is an outcome.
    func send(_ request: PushRequest) async -> PushOutcome
}
