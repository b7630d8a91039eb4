import APNsPayload
import Formats
import Foundation
import Notifications
import PostgreSQL
import Tenancy

extension TenantTransaction {
    /// Adds all deliveries with one statement. All of them have the notification's receiver.
    func insert(
        _ deliveries: [RecordedDelivery], of notification: RecordedNotification
    ) async throws {
        guard let receiver = deliveries.first?.receiver else { return }
        try await execute(
            """
            INSERT INTO doorstep.deliveries
                (tenant_id, created_at, notification_id, delivery_id, instance_id, token_kind, token_name,
                environment, target, state, reason, due_at, expires_at, finished_at, warnings)
            SELECT \(tenant.uuid), \(notification.createdAt), \(notification.id.uuid), delivery_id,
                CASE WHEN \(receiver.kind == "channel") THEN NULL ELSE instance_id END,
                \(receiver.kind), \(receiver.name), environment, nullif(target, ''), state, nullif(reason, ''),
                CASE state WHEN 'queued' THEN now() END, nullif(expires_at, 'infinity'),
                CASE state WHEN 'skipped' THEN now() END,
                CASE WHEN may_overwrite THEN '["may_overwrite"]'::jsonb ELSE '[]' END
            FROM unnest(\(deliveries.map(\.id.uuid)), \(deliveries.map { $0.instance?.uuid ?? $0.id.uuid }),
                \(deliveries.map(\.environment.rawValue)), \(deliveries.map { $0.target ?? "" }),
                \(deliveries.map(\.state.rawValue)), \(deliveries.map { $0.reason ?? "" }),
                \(deliveries.map { $0.expiresAt ?? .distantFuture }),
                \(deliveries.map { $0.warnings.contains(RecordedDelivery.mayOverwrite) }))
                AS d (delivery_id, instance_id, environment, target, state, reason, expires_at, may_overwrite)
            """)
    }

    /// A notification with its deliveries after a given delivery.
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
}

extension DeliveryCount {
    fileprivate init(row: Row) throws {
        let (state, reason, count) = try row.decode(String.self, String?.self, Int.self)
        guard let state = DeliveryState(rawValue: state) else {
            throw PersistenceError.unreadable("deliveries")
        }
        self.init(state: state, reason: reason, count: count)
    }
}

extension [DeliveryCount] {
    /// The sums with other counts: one count for each state and reason, always in the same order.
    func adding(_ others: [DeliveryCount]) -> [DeliveryCount] {
        let sums = Dictionary(
            (self + others).map { (DeliveryCount(state: $0.state, reason: $0.reason, count: 0), $0.count) },
            uniquingKeysWith: +)
        return sums.map { DeliveryCount(state: $0.state, reason: $0.reason, count: $1) }.sorted {
            ($0.state.rawValue, $0.reason ?? "") < ($1.state.rawValue, $1.reason ?? "")
        }
    }
}

extension RecordedDelivery {
    /// Reads columns by their names.
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
        let responses: String = try row.decode("answers")
        let warnings: String = try row.decode("warnings")
        self = try PersistenceError.reading("deliveries") {
            guard let receiver = Receiver(kind: kind, name: name),
                let environment = APNsEnvironment(rawValue: environment),
                let state = DeliveryState(rawValue: state),
                let responses = try JSONValue(parsing: responses.utf8).arrayValue,
                let warnings = try JSONValue(parsing: warnings.utf8).arrayValue
            else { throw PersistenceError.unreadable("deliveries") }
            return RecordedDelivery(
                id: DeliveryID(id), instance: instance.map(InstanceID.init),
                receiver: receiver, environment: environment, target: target, state: state, reason: reason,
                expiresAt: expiresAt, attempt: Int(attempt), dueAt: dueAt, finishedAt: finishedAt,
                responses: try responses.map { try DeliveryResponse(stored: $0) },
                warnings: warnings.compactMap(\.stringValue))
        }
    }
}

extension DeliveryResponse {
    /// An element of the column `responses`. `at` is in milliseconds since 1970.
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
