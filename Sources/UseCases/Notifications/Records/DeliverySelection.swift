public import Foundation

/// Some of a tenant's deliveries; what is nil or empty does not restrict them.
public struct DeliverySelection: Sendable, Hashable {
    public var ids: [DeliveryID]
    public var state: DeliveryState?
    public var reason: String?
    /// When their notification was made, at the earliest.
    public var since: Date?

    public init(
        ids: [DeliveryID] = [], state: DeliveryState? = nil, reason: String? = nil, since: Date? = nil
    ) {
        self.ids = ids
        self.state = state
        self.reason = reason
        self.since = since
    }
}

/// A delivery in a list.
public struct ListedDelivery: Sendable, Hashable {
    public let notification: NotificationID
    public let createdAt: Date
    public let delivery: RecordedDelivery

    public init(notification: NotificationID, createdAt: Date, delivery: RecordedDelivery) {
        self.notification = notification
        self.createdAt = createdAt
        self.delivery = delivery
    }
}

/// What became of deliveries that were to be tried again.
public struct RetryCounts: Sendable, Hashable {
    public let queued: Int
    /// There was no more point in sending them.
    public let tooLate: Int

    public init(queued: Int, tooLate: Int) {
        self.queued = queued
        self.tooLate = tooLate
    }
}

extension DeliveryState {
    /// Those of dead letters.
    public static let retriable: [DeliveryState] = [.refused, .uncertain, .expired]
}
