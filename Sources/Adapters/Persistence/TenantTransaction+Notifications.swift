import APNsPayload
import Formats
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

/// A notification with the stored data of its audience, without deliveries.
struct StoredNotification: Sendable {
    let notification: RecordedNotification
    /// The skipped instances without a delivery, as counts.
    let skipped: [DeliveryCount]
    /// Whether the whole audience has deliveries or was skipped.
    let isComplete: Bool
}

extension TenantTransaction {
    func insert(
        _ notification: RecordedNotification, skipped: [DeliveryCount]
    ) async throws {
        try await execute(
            """
            INSERT INTO doorstep.notifications
                (tenant_id, created_at, notification_id, bundle_id, url, experience_url, experience_kind,
                location_identifier, audience, push_type, priority, collapse_id, expiration, payload, warnings, skipped)
            VALUES (\(tenant.uuid), \(notification.createdAt), \(notification.id.uuid), \(notification.clip.text),
                \(notification.url), \(notification.experienceURL), \(notification.experienceKind.rawValue),
                \(notification.location?.text), \(JSONValue.object(notification.audience.json).text)::jsonb,
                \(notification.headers.pushType.rawValue), \(Int16(notification.headers.priority.rawValue)),
                \(notification.headers.collapseID), \(notification.headers.expiration?.epochSeconds),
                \(notification.payload), \(notification.warnings.json.text)::jsonb, \(skipped.stored.text)::jsonb)
            """)
    }

    /// Adds to the number of skipped instances without a delivery.
    func addSkipped(_ skipped: [DeliveryCount], to notification: RecordedNotification) async throws {
        guard !skipped.isEmpty else { return }
        try await execute(
            """
            UPDATE doorstep.notifications
            SET skipped = (
                SELECT jsonb_object_agg(reason, count) FROM (
                    SELECT reason, sum(count) AS count FROM (
                        SELECT key AS reason, value::bigint AS count FROM jsonb_each_text(skipped)
                        UNION ALL
                        SELECT key, value::bigint FROM jsonb_each_text(\(skipped.stored.text)::jsonb)
                    ) AS each GROUP BY reason) AS sums)
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(notification.createdAt)
                AND notification_id = \(notification.id.uuid)
            """)
    }

    func notification(_ id: NotificationID, _ createdAt: Date) async throws -> StoredNotification? {
        let rows = try await execute(
            """
            SELECT url, experience_url, experience_kind, bundle_id, location_identifier, audience::text AS audience,
                push_type, priority, collapse_id, expiration, payload, warnings::text AS warnings,
                skipped::text AS skipped, cancelled_at,
                NOT EXISTS (
                    SELECT FROM doorstep.audience_cursors
                    WHERE tenant_id = \(tenant.uuid) AND notification_id = \(id.uuid)) AS is_complete
            FROM doorstep.notifications
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id.uuid)
            """)
        return try rows.first.map { row in
            StoredNotification(
                notification: try RecordedNotification(row: row, id: id, createdAt: createdAt),
                skipped: try DeliveryCount.skipped(stored: row.decode("skipped")),
                isComplete: try row.decode("is_complete"))
        }
    }
}

extension RecordedNotification {
    init(row: Row, id: NotificationID, createdAt: Date) throws {
        let audience: String = try row.decode("audience")
        let warnings: String = try row.decode("warnings")
        let clip: String = try row.decode("bundle_id")
        let experienceKind: String = try row.decode("experience_kind")
        self = try PersistenceError.reading("notifications") {
            guard let audience = try JSONValue(parsing: audience.utf8).objectValue,
                let warnings = try JSONValue(parsing: warnings.utf8).arrayValue,
                let kind = ExperienceKind(rawValue: experienceKind)
            else { throw PersistenceError.unreadable("notifications") }
            let location: String? = try row.decode("location_identifier")
            return RecordedNotification(
                id: id, createdAt: createdAt, url: try row.decode("url"),
                experienceURL: try row.decode("experience_url"), experienceKind: kind,
                clip: try BundleID(clip),
                location: try location.map { text in try LocationIdentifier(text) },
                audience: try AudienceRequest(audience),
                headers: try NotificationHeaders(
                    storedPushType: row.decode("push_type"), bundleID: clip,
                    priority: row.decode("priority"), expiration: row.decode("expiration"),
                    collapseID: row.decode("collapse_id")),
                payload: try row.decode("payload"),
                warnings: warnings.map {
                    Warning(
                        code: $0.objectValue?["code"]?.stringValue ?? "",
                        detail: $0.objectValue?["detail"]?.stringValue ?? "")
                }, cancelledAt: try row.decode("cancelled_at"))
        }
    }
}

extension [RecordedNotification.Warning] {
    fileprivate var json: JSONValue {
        .array(map { ["code": .string($0.code), "detail": .string($0.detail)] })
    }
}

extension NotificationHeaders {
    /// Reads the headers in a row of `notifications`.
    init(
        storedPushType: String, bundleID: String, priority: Int16, expiration: Int?, collapseID: String?
    ) throws {
        guard let pushType = PushType(rawValue: storedPushType),
            let priority = Priority(rawValue: Int(priority))
        else { throw PersistenceError.unreadable("notifications") }
        try self.init(
            pushType: pushType, bundleID: bundleID, priority: priority,
            expiration: expiration.flatMap { Expiration(epochSeconds: $0) }, collapseID: collapseID)
    }
}

extension [DeliveryCount] {
    /// The column `skipped` of a notification: numbers by reason.
    fileprivate var stored: JSONValue {
        var object = JSONObject()
        for count in adding([]) { object[count.reason ?? ""] = JSONValue(count.count) }
        return .object(object)
    }
}

extension DeliveryCount {
    /// Reads the column `skipped`: numbers by reason.
    fileprivate static func skipped(stored: String) throws -> [DeliveryCount] {
        try PersistenceError.reading("notifications") {
            guard let counts = try JSONValue(parsing: stored.utf8).objectValue else {
                throw PersistenceError.unreadable("notifications")
            }
            return counts.map {
                DeliveryCount(state: .skipped, reason: $0.key, count: $0.value.numberValue?.int ?? 0)
            }
        }
    }
}
