public import Foundation

/// A selection of a tenant's deliveries; nil or empty members do not restrict it.
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

/// The result of a retry of selected deliveries.
public struct RetryCounts: Sendable, Hashable {
    public let queued: Int
    /// They expired, or are older than ``DeliveryVerdict/lifetime``.
    public let tooLate: Int
    /// Their token is dead: see ``DeliveryVerdict/deadTokenReasons``.
    public let tokenDead: Int
    /// Whether the limit of one retry was reached, so that the same retry can queue more.
    public let hasMore: Bool

    public init(queued: Int, tooLate: Int, tokenDead: Int = 0, hasMore: Bool = false) {
        self.queued = queued
        self.tooLate = tooLate
        self.tokenDead = tokenDead
        self.hasMore = hasMore
    }
}

extension DeliveryState {
    /// The states of dead letters.
    public static let retriable: [DeliveryState] = [.refused, .uncertain, .expired]
}

extension RecordedDelivery {
    /// Whether a retry can help: the delivery is a dead letter, its token is not dead, and its notification was not cancelled.
    public var isRetriable: Bool {
        DeliveryState.retriable.contains(state)
            && reason.map(DeliveryVerdict.deadTokenReasons.contains) != true
            && reason != DeliveryVerdict.cancelled
    }
}
