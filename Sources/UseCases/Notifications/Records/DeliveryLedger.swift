public import Foundation
public import Tenancy

/// All deliveries of a tenant, for who operates the server: to find dead letters, and have them tried again.
public protocol DeliveryLedger: Sendable {
    /// The newest first, before one, up to `limit`.
    func deliveries(
        _ selection: DeliverySelection, of tenant: TenantID, before last: DeliveryID?, limit: Int
    ) async throws -> [ListedDelivery]

    /// The numbers of the selected deliveries by state and reason, among the newest `limit`.
    func counts(
        _ selection: DeliverySelection, of tenant: TenantID, limit: Int
    ) async throws -> [DeliveryCount]

    /// The number of deliveries that a retry would queue, counted up to `limit`: without those that are too late, and
    /// without those whose token is dead.
    func retriable(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date, upTo limit: Int
    ) async throws -> Int

    /// Queues the selected dead letters again, under their own IDs. Deliveries that are too late, or whose token is dead,
    /// stay as they are.
    /// - Parameters:
    ///   - expected: The number of deliveries to queue, nil for any. If it differs, none is queued.
    ///   - limit: The largest number of deliveries to queue, nil for all.
    ///   - actor: The actor in the audit log; nil for the ledger's own.
    /// - Throws: ``OtherDeliveries``.
    func retry(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date, expecting expected: Int?,
        upTo limit: Int?, by actor: String?
    ) async throws -> RetryCounts

    /// The notification of a delivery; nil if the tenant has no such delivery.
    func notification(of delivery: DeliveryID, of tenant: TenantID) async throws -> NotificationID?

    /// Whether a notification or a delivery of the tenant has this ID.
    func hasNotificationOrDelivery(_ id: UUID, of tenant: TenantID) async throws -> Bool
}

extension DeliveryLedger {
    /// Queues all selected dead letters again, as the ledger's own actor.
    public func retry(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date, expecting expected: Int? = nil
    ) async throws -> RetryCounts {
        try await retry(selection, of: tenant, at: now, expecting: expected, upTo: nil, by: nil)
    }
}

/// A retry was refused because the number of deliveries had changed since the review; none was retried.
public struct OtherDeliveries: Error, Sendable, Hashable {
    public let counts: RetryCounts

    public init(_ counts: RetryCounts) {
        self.counts = counts
    }
}

/// All that is known of a notification, or of one delivery, by the ID of either.
public struct NotificationTracer: Sendable {
    private let ledger: any DeliveryLedger
    /// Also cancels notifications.
    public let store: any NotificationStore

    public init(_ ledger: any DeliveryLedger, _ store: any NotificationStore) {
        self.ledger = ledger
        self.store = store
    }

    /// Nil if the tenant has neither a notification nor a delivery with this ID.
    /// - Parameters:
    ///   - last: The delivery before the first one to return; with a delivery's own ID, only that one is returned.
    ///   - limit: The number of deliveries, in ``NotificationTrace/pageLengths``.
    public func trace(
        _ id: UUID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace? {
        let delivery = DeliveryID(id)
        if let owner = try await ledger.notification(of: delivery, of: tenant) {
            return try await store.trace(owner, of: tenant, after: delivery.predecessor, limit: 1)
        }
        return try await store.trace(NotificationID(id), of: tenant, after: last, limit: limit)
    }
}

extension DeliveryID {
    /// The ID right before this one.
    public var predecessor: DeliveryID {
        var bytes = withUnsafeBytes(of: uuid.uuid, Array.init)
        for index in bytes.indices.reversed() {
            bytes[index] &-= 1
            if bytes[index] != .max { break }
        }
        return DeliveryID(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }
}
