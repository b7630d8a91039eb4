/// The size of a part of an audience [ours].
///
/// It limits the rows that one transaction reads and writes, and the memory of a server.
public struct AudiencePartSize: Sendable {
    /// The maximum number of instances that get the notification.
    public var reachable = 10_000
    /// The approximate maximum number of launches that are read to find these instances.
    public var launches = 50_000
    /// The maximum number of skipped instances that get their own delivery with the reason. Only the first part has such
    /// deliveries. Further skipped instances are counted by reason.
    public var skipped = 1_000

    public init() {}
}
