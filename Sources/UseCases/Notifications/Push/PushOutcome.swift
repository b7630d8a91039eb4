/// What became of one request to APNs.
public enum PushOutcome: Sendable, Hashable {
    /// APNs said what it did.
    case answered(APNsResponse)
    /// APNs has certainly not taken it: it was never sent, or refused by the connection before it was looked at.
    case notSent(PushFailure)
    /// It was sent and no answer came: APNs may have taken it.
    case unanswered(PushFailure)
}
