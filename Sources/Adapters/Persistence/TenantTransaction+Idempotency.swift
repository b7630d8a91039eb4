import Foundation
import Notifications
import PostgreSQL
import Tenancy

extension TenantTransaction {
    func deleteExpired(_ key: IdempotencyKey) async throws {
        try await execute(
            """
            DELETE FROM doorstep.idempotency_keys
            WHERE tenant_id = \(tenant.uuid) AND key = \(key.name) AND created_at <= now() - interval '24 hours'
            """)
    }

    /// Takes a key for a notification.
    /// - Returns: False if another transaction has taken the key and has committed.
    func take(_ key: IdempotencyKey, for id: NotificationID) async throws -> Bool {
        try await deleteExpired(key)
        return try await execute(
            """
            INSERT INTO doorstep.idempotency_keys (tenant_id, key, request_digest, notification_id)
            VALUES (\(tenant.uuid), \(key.name), \(key.digest), \(id.uuid))
            ON CONFLICT DO NOTHING
            """
        ).affectedRows == 1
    }

    /// The result that was stored with a key, in its first state.
    func addition(with key: IdempotencyKey) async throws -> Addition? {
        let rows = try await execute(
            """
            SELECT notification_id, request_digest FROM doorstep.idempotency_keys
            WHERE tenant_id = \(tenant.uuid) AND key = \(key.name) AND created_at > now() - interval '24 hours'
            """)
        guard let row = rows.first else { return nil }
        // The key of another endpoint's request has no notification.
        let (id, digest) = try row.decode(UUID?.self, [UInt8].self)
        guard let id, digest == key.digest else { return .refused(.idempotencyKeyReused) }
        let limit = Addition.answeredDeliveries
        guard let trace = try await trace(NotificationID(id), after: nil, limit: limit) else {
            throw PersistenceError.unreadable("idempotency_keys")
        }
        return .repeated(trace.asAnswered)
    }
}

extension NotificationTrace {
    /// The notification in its first state: all deliveries that were not skipped are queued.
    fileprivate var asAnswered: NotificationTrace {
        let skipped = counts.filter { $0.state == .skipped }
        let queued = counts.lazy.filter { $0.state != .skipped }.reduce(0) { $0 + $1.count }
        return NotificationTrace(
            notification: notification,
            counts: (queued > 0 ? [DeliveryCount(state: .queued, reason: nil, count: queued)] : []) + skipped,
            deliveries: deliveries.map { delivery in
                guard delivery.state != .skipped else { return delivery }
                return RecordedDelivery(
                    id: delivery.id, instance: delivery.instance, receiver: delivery.receiver,
                    environment: delivery.environment, target: delivery.target, state: .queued,
                    expiresAt: delivery.expiresAt, warnings: delivery.warnings)
            }, hasMore: hasMore, isComplete: isComplete)
    }
}
