/// How much of an audience is taken in at once [ours].
///
/// Bounds what one transaction writes, what it reads to find that, and what a server holds of it.
public struct AudiencePartSize: Sendable {
    /// The instances that the notification is sent to, at most.
    public var reachable = 10_000
    /// The launches that are looked at to find them, at most, or a little more.
    public var launches = 50_000
    /// How many of those who are skipped have a delivery of their own, at most, which tells why; of the first part alone,
    /// and the others are counted by the reason.
    public var skipped = 1_000

    public init() {}
}
