/// A part of an audience that was taken in after the first.
public struct AudiencePart: Sendable, Hashable {
    public let notification: NotificationID
    public let counts: [DeliveryCount]
    /// Whether it was the last.
    public let isLast: Bool

    public init(notification: NotificationID, counts: [DeliveryCount], isLast: Bool) {
        self.notification = notification
        self.counts = counts
        self.isLast = isLast
    }
}
