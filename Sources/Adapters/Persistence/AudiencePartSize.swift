/// The size of a part of an audience [ours].
///
/// Bounds what one transaction writes and reads, and what a server holds in memory.
public struct AudiencePartSize: Sendable {
    /// The instances that the notification is sent to, at most.
    public var reachable = 10_000
    /// The approximate maximum of launches that are read to find them.
    public var launches = 50_000
    /// The maximum number of skipped instances that get their own delivery with the reason. Only the first part has such
    /// deliveries; further skipped instances are counted by reason.
    public var skipped = 1_000

    public init() {}
}
