import APNsPayload
import Encodings
import Foundation
import Invocation
import JSON
import Notifications
import PostgreSQL
import Tenancy

extension TenantTransaction {
    /// A notification with its deliveries behind the one named.
    func trace(
        _ id: NotificationID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace? {
        guard let createdAt = id.uuid.time, let stored = try await notification(id, createdAt) else {
            return nil
        }
        let (first, end) = UUID.timeOrderedRange(at: createdAt)
        let counts = try await execute(
            """
            SELECT state, reason, count(*) FROM doorstep.deliveries
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id.uuid)
                AND delivery_id >= \(first) AND delivery_id <= \(end)
            GROUP BY state, reason
            """
        ).map { try DeliveryCount(row: $0) }
        let deliveries = try await execute(
            """
            SELECT delivery_id, instance_id, token_kind, token_name, environment, target, state, reason,
                expires_at, attempt, due_at, finished_at, answers::text, warnings::text
            FROM doorstep.deliveries
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id.uuid)
                AND delivery_id > \(last?.uuid ?? first) AND delivery_id <= \(end)
            ORDER BY delivery_id LIMIT \(limit + 1)
            """
        ).map { try RecordedDelivery(row: $0) }
        return NotificationTrace(
            notification: stored.notification, counts: counts.adding(stored.skipped),
            deliveries: Array(deliveries.prefix(limit)), hasMore: deliveries.count > limit,
            isComplete: stored.isComplete)
    }

    func notification(_ id: NotificationID, _ createdAt: Date) async throws -> StoredNotification? {
        let rows = try await execute(
            """
            SELECT url, experience_url, experience_kind, bundle_id, location_identifier, audience::text AS audience,
                push_type, priority, collapse_id, expiration, payload, warnings::text AS warnings,
                skipped::text AS skipped,
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

/// A notification with what is stored of its audience beside deliveries.
struct StoredNotification: Sendable {
    let notification: RecordedNotification
    /// Those who were skipped and have no delivery.
    let skipped: [DeliveryCount]
    /// Whether the whole audience has been taken in.
    let isComplete: Bool
}

extension RecordedNotification {
    fileprivate init(row: Row, id: NotificationID, createdAt: Date) throws {
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
                })
        }
    }
}

extension NotificationHeaders {
    /// Headers as a row of `notifications` holds them.
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

extension DeliveryCount {
    /// Reads the column `skipped`: by the reason, how many.
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

    fileprivate init(row: Row) throws {
        let (state, reason, count) = try row.decode(String.self, String?.self, Int.self)
        guard let state = DeliveryState(rawValue: state) else {
            throw PersistenceError.unreadable("deliveries")
        }
        self.init(state: state, reason: reason, count: count)
    }
}

extension RecordedDelivery {
    /// Takes columns by their names.
    init(row: Row) throws {
        let id: UUID = try row.decode("delivery_id")
        let instance: UUID? = try row.decode("instance_id")
        let kind: String = try row.decode("token_kind")
        let name: String = try row.decode("token_name")
        let environment: String = try row.decode("environment")
        let target: String? = try row.decode("target")
        let state: String = try row.decode("state")
        let reason: String? = try row.decode("reason")
        let expiresAt: Date? = try row.decode("expires_at")
        let attempt: Int16 = try row.decode("attempt")
        let dueAt: Date? = try row.decode("due_at")
        let finishedAt: Date? = try row.decode("finished_at")
        let answers: String = try row.decode("answers")
        let warnings: String = try row.decode("warnings")
        self = try PersistenceError.reading("deliveries") {
            guard let receiver = Receiver(kind: kind, name: name),
                let environment = APNsEnvironment(rawValue: environment),
                let state = DeliveryState(rawValue: state),
                let answers = try JSONValue(parsing: answers.utf8).arrayValue,
                let warnings = try JSONValue(parsing: warnings.utf8).arrayValue
            else { throw PersistenceError.unreadable("deliveries") }
            return RecordedDelivery(
                id: DeliveryID(id), instance: instance.map(InstanceID.init),
                receiver: receiver, environment: environment, target: target, state: state, reason: reason,
                expiresAt: expiresAt, attempt: Int(attempt), dueAt: dueAt, finishedAt: finishedAt,
                answers: try answers.map { try DeliveryAnswer(stored: $0) },
                warnings: warnings.compactMap(\.stringValue))
        }
    }
}

extension DeliveryAnswer {
    /// As an element of the column `answers`; `at` is in milliseconds since 1970.
    var stored: JSONValue {
        var object: JSONObject = [
            "attempt": JSONValue(attempt),
            "at": JSONValue(Int((at.timeIntervalSince1970 * 1_000).rounded())),
        ]
        switch result {
        case .answered(let status, let reason, let uniqueID):
            object["status"] = JSONValue(status)
            object["reason"] = reason.map { .string($0) }
            object["uniqueID"] = uniqueID.map { .string($0) }
        case .failed(let failure):
            object["failure"] = .string(failure)
        }
        return .object(object)
    }

    fileprivate init(stored: JSONValue) throws {
        var reader = try JSONObjectReader(stored)
        let attempt = try reader.requiredInteger("attempt")
        let at = Date(timeIntervalSince1970: Double(try reader.requiredInteger("at")) / 1_000)
        if let failure = try reader.optionalString("failure") {
            self.init(attempt: attempt, at: at, result: .failed(failure))
        } else {
            self.init(
                attempt: attempt, at: at,
                result: .answered(
                    status: try reader.requiredInteger("status"), reason: try reader.optionalString("reason"),
                    uniqueID: try reader.optionalString("uniqueID")))
        }
    }
}
