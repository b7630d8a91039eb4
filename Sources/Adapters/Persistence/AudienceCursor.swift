import Foundation
import Notifications
import PostgreSQL
import Tenancy

/// The progress of an audience.
struct AudienceCursor {
    let notification: NotificationID
    let createdAt: Date
    let askedAt: Date
    let place: AudiencePosition
    let deliveryCount: Int
}

/// The position of a launch in the order in which an audience is processed.
struct AudiencePosition: Sendable, Hashable {
    let launchedAt: Date
    let url: String
    let instance: UUID
}

extension TenantTransaction {
    /// Stores the launch after which an audience continues, if launches remain.
    func keepPlace(of part: DecidedPart, of notification: RecordedNotification) async throws {
        guard part.hasMore, let place = part.place else { return }
        try await execute(
            """
            INSERT INTO doorstep.audience_cursors AS c
                (tenant_id, notification_id, created_at, launched_at, url, instance_id, delivery_count)
            VALUES (\(tenant.uuid), \(notification.id.uuid), \(notification.createdAt), \(place.launchedAt),
                \(place.url), \(place.instance), \(Int32(part.deliveries.count)))
            ON CONFLICT (tenant_id, notification_id) DO UPDATE
                SET due_at = now(), launched_at = excluded.launched_at, url = excluded.url,
                    instance_id = excluded.instance_id, delivery_count = c.delivery_count + excluded.delivery_count
            """)
    }

    /// Locks the cursor that has waited longest among those that no other server processes.
    func lockCursor() async throws -> AudienceCursor? {
        try await execute(
            """
            SELECT notification_id, created_at, asked_at, launched_at, url, instance_id, delivery_count
            FROM doorstep.audience_cursors
            WHERE tenant_id = \(tenant.uuid) AND due_at <= now()
            ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first.map { row in
            let (id, createdAt, askedAt, launchedAt, url, instance, count) = try row.decode(
                UUID.self, Date.self, Date.self, Date.self, String.self, UUID.self, Int32.self)
            return AudienceCursor(
                notification: NotificationID(id), createdAt: createdAt, askedAt: askedAt,
                place: AudiencePosition(launchedAt: launchedAt, url: url, instance: instance),
                deliveryCount: Int(count))
        }
    }

    func dropCursor(of id: NotificationID) async throws {
        try await execute(
            """
            DELETE FROM doorstep.audience_cursors
            WHERE tenant_id = \(tenant.uuid) AND notification_id = \(id.uuid)
            """)
    }

    func postpone(_ id: NotificationID, by pause: Duration) async throws {
        try await execute(
            """
            UPDATE doorstep.audience_cursors SET due_at = now() + make_interval(secs => \(pause / .seconds(1)))
            WHERE tenant_id = \(tenant.uuid) AND notification_id = \(id.uuid)
            """)
    }
}
