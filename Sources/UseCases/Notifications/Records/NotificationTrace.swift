/// A notification with some of its deliveries, in the order of their IDs.
public struct NotificationTrace: Sendable, Hashable {
    public let notification: RecordedNotification
    /// Counts all deliveries, and the instances that were skipped without one.
    public let counts: [DeliveryCount]
    public let deliveries: [RecordedDelivery]
    /// Whether there are more behind them.
    public let hasMore: Bool
    /// Whether the whole audience has been taken in; until then there are deliveries to come.
    public let isComplete: Bool

    public init(
        notification: RecordedNotification, counts: [DeliveryCount], deliveries: [RecordedDelivery],
        hasMore: Bool, isComplete: Bool = true
    ) {
        self.notification = notification
        self.counts = counts
        self.deliveries = deliveries
        self.hasMore = hasMore
        self.isComplete = isComplete
    }
}
