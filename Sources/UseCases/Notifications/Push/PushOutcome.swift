/// The result of one request to APNs.
public enum PushOutcome: Sendable, Hashable {
    /// APNs responded.
    case answered(APNsResponse)
    /// APNs certainly did not accept it: it was never sent, or the connection refused it before processing.
    case notSent(PushFailure)
    /// It was sent and got no response: APNs may have accepted it.
    case unanswered(PushFailure)
}
