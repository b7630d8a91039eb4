public import Foundation
public import Tenancy

/// All deliveries of a tenant, for who operates the server: to find dead letters, and have them tried again.
public protocol DeliveryLedger: Sendable {
    /// The newest first.
    func deliveries(
        _ selection: DeliverySelection, of tenant: TenantID, limit: Int
    ) async throws -> [ListedDelivery]

    /// Has those tried again, with the IDs they have, that are selected, ended without APNs having certainly taken them, and
    /// are not too late.
    func retry(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date
    ) async throws -> RetryCounts

    /// Whose delivery it is; nil when the tenant has none of this ID.
    func notification(of delivery: DeliveryID, of tenant: TenantID) async throws -> NotificationID?
}

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
