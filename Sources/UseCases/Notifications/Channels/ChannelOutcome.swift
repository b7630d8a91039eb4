/// What became of a request about channels.
public enum ChannelOutcome<Value: Sendable & Hashable>: Sendable, Hashable {
    case done(Value)
    /// APNs refused it, or answered what cannot be understood.
    case refused(APNsResponse)
    /// APNs has certainly not done it.
    case notSent(PushFailure)
    /// APNs may have done it.
    case unanswered(PushFailure)
}

/// A channel is no more.
public struct ChannelDeleted: Sendable, Hashable {
    public init() {}
}
