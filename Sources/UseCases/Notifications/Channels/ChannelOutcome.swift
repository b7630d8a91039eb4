/// The result of a request about channels.
public enum ChannelOutcome<Value: Sendable & Hashable>: Sendable, Hashable {
    case done(Value)
    /// APNs refused it, or sent an invalid response.
    case refused(APNsResponse)
    /// APNs has certainly not done it.
    case notSent(PushFailure)
    /// APNs may have done it.
    case unanswered(PushFailure)
}

/// The channel no longer exists.
public struct ChannelDeleted: Sendable, Hashable {
    public init() {}
}
