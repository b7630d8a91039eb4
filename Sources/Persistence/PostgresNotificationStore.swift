import APNsPayload
import Foundation
import Invocation
import JSON
public import Notifications
public import PostgreSQL
public import Tenancy

/// Notifications and their deliveries in PostgreSQL, written and read as `doorstep_app`.
///
/// Notification, deliveries and idempotency key are of one transaction. Who repeats a request while it is being carried out
/// waits for the first one's key, and is then answered what that was.
public struct PostgresNotificationStore: NotificationStore {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func add(_ draft: NotificationDraft, of tenant: TenantID) async throws -> Addition {
        do {
            do {
                return try await addOnce(draft, of: tenant)
            } catch let error as PostgreSQLError where error.isOfAnotherPartition {
                // Nobody has made today's partitions.
                try await pool.withTransaction(as: .router, .readWrite) { transaction in
                    _ = try await transaction.execute("SELECT doorstep.add_notification_days()")
                }
                return try await addOnce(draft, of: tenant)
            }
        } catch Unsuitable.audienceTooLarge {
            return .audienceTooLarge
        } catch Unsuitable.unknownChannel {
            return .unknownChannel
        } catch let error as PostgreSQLError where error.isNoAnswer || error.isForeignKeyViolation() {
            // Or the tenant was deleted meanwhile, and its keys with it: the next request is refused.
            throw NotificationStoreError.unavailable
        }
    }

    /// Thrown, so that nothing is kept, the key included.
    private enum Unsuitable: Error {
        case audienceTooLarge, unknownChannel
    }

    private func addOnce(_ draft: NotificationDraft, of tenant: TenantID) async throws -> Addition {
        let id = NotificationID(.timeOrdered(at: draft.createdAt))
        return try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            if let key = draft.idempotencyKey, try await !transaction.take(key, for: id) {
                // Whoever took it has committed by now.
                guard let earlier = try await transaction.addition(with: key) else {
                    throw PersistenceError.unreadable("idempotency_keys")
                }
                return earlier
            }
            let policy = try await transaction.collapsePolicy()
            let notification = RecordedNotification(draft, id: id, headers: draft.headers(under: policy))
            let deliveries = try await Self.deliveries(of: draft, in: transaction)
            try await transaction.insert(notification, to: draft.router.receiver, deliveries)
            let answered = deliveries.prefix(NotificationDraft.answeredDeliveries)
            return .added(
                NotificationTrace(
                    notification: notification, counts: DeliveryCount.counts(of: deliveries),
                    deliveries: Array(answered), hasMore: answered.count < deliveries.count))
        }
    }

    private static func deliveries(
        of draft: NotificationDraft, in transaction: TenantTransaction
    ) async throws -> [RecordedDelivery] {
        if case .channel(let channel) = draft.audience {
            let environment = draft.router.environment ?? .production
            guard try await transaction.hasChannel(channel, of: draft.clip, environment) else {
                throw Unsuitable.unknownChannel
            }
            return [
                RecordedDelivery(
                    id: DeliveryID(.timeOrdered(at: draft.createdAt)), instance: nil,
                    receiver: draft.router.receiver, environment: environment, state: .queued,
                    expiresAt: draft.broadcastExpiry)
            ]
        }
        let candidates = try await transaction.candidates(for: draft)
        guard candidates.count <= NotificationDraft.maximumAudience else { throw Unsuitable.audienceTooLarge }
        return zip(candidates, UUID.timeOrdered(candidates.count, at: draft.createdAt)).map {
            draft.delivery(to: $0, id: DeliveryID($1))
        }
    }

    public func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition? {
        try await read(tenant) { try await $0.addition(with: key) }
    }

    public func trace(
        _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace? {
        try await read(tenant) { try await $0.trace(id, after: last, limit: limit) }
    }

    private func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await pool.withTenantTransaction(tenant, as: .app, .snapshot, body)
        } catch let error as PostgreSQLError where error.isNoAnswer {
            throw NotificationStoreError.unavailable
        }
    }
}

// MARK: - Idempotency

extension TenantTransaction {
    /// Takes a key for a notification.
    /// - Returns: False when it is taken, once that is certain.
    fileprivate func take(_ key: IdempotencyKey, for id: NotificationID) async throws -> Bool {
        try await execute(
            """
            DELETE FROM doorstep.idempotency_keys
            WHERE tenant_id = \(tenant.uuid) AND key = \(key.text) AND created_at <= now() - interval '24 hours'
            """)
        return try await execute(
            """
            INSERT INTO doorstep.idempotency_keys (tenant_id, key, request_digest, notification_id)
            VALUES (\(tenant.uuid), \(key.text), \(key.digest), \(id.uuid))
            ON CONFLICT DO NOTHING
            """
        ).affectedRows == 1
    }

    /// What was stored with a key, as it was then.
    fileprivate func addition(with key: IdempotencyKey) async throws -> Addition? {
        let rows = try await execute(
            """
            SELECT notification_id, request_digest FROM doorstep.idempotency_keys
            WHERE tenant_id = \(tenant.uuid) AND key = \(key.text) AND created_at > now() - interval '24 hours'
            """)
        guard let row = rows.first else { return nil }
        let (id, digest) = try row.decode(UUID.self, [UInt8].self)
        guard digest == key.digest else { return .keyReused }
        let limit = NotificationDraft.answeredDeliveries
        guard let trace = try await trace(NotificationID(id), after: nil, limit: limit) else {
            throw PersistenceError.unreadable("idempotency_keys")
        }
        return .repeated(trace.asAnswered)
    }
}

extension NotificationTrace {
    /// As it was when it was made: what was not skipped was queued.
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
                    environment: delivery.environment, state: .queued, expiresAt: delivery.expiresAt,
                    warnings: delivery.warnings)
            }, hasMore: hasMore)
    }
}

// MARK: - Writing

extension TenantTransaction {
    fileprivate func collapsePolicy() async throws -> CollapsePolicy {
        let rows = try await execute(
            "SELECT collapse_policy FROM doorstep.tenants WHERE tenant_id = \(tenant.uuid)")
        // Who is deleted meanwhile has a refusal to come.
        guard let row = rows.first else { return .none }
        guard let policy = CollapsePolicy(rawValue: try row.decode(at: 0)) else {
            throw PersistenceError.unreadable("tenants")
        }
        return policy
    }

    fileprivate func hasChannel(
        _ channel: String, of clip: BundleID, _ environment: APNsEnvironment
    ) async throws -> Bool {
        try await execute(
            """
            SELECT EXISTS (
                SELECT FROM doorstep.channels
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                    AND environment = \(environment.rawValue) AND channel_id = \(channel))
            """
        ).one().decode(at: 0)
    }

    /// Both in one statement, however many deliveries there are.
    fileprivate func insert(
        _ notification: RecordedNotification, to receiver: Receiver, _ deliveries: [RecordedDelivery]
    ) async throws {
        try await execute(
            """
            WITH notification AS (
                INSERT INTO doorstep.notifications
                    (tenant_id, created_at, notification_id, bundle_id, url, experience_url, location_identifier,
                    audience, push_type, priority, collapse_id, expiration, payload, warnings)
                VALUES (\(tenant.uuid), \(notification.createdAt), \(notification.id.uuid), \(notification.clip),
                    \(notification.url), \(notification.experienceURL), \(notification.location),
                    \(JSONValue.object(notification.audience).text)::jsonb,
                    \(notification.headers.pushType.rawValue), \(Int16(notification.headers.priority.rawValue)),
                    \(notification.headers.collapseID), \(notification.headers.expiration?.epochSeconds),
                    \(notification.payload), \(notification.warnings.json.text)::jsonb))
            INSERT INTO doorstep.deliveries
                (tenant_id, created_at, notification_id, delivery_id, instance_id, token_kind, token_name,
                environment, state, reason, due_at, expires_at, finished_at, warnings)
            SELECT \(tenant.uuid), \(notification.createdAt), \(notification.id.uuid), delivery_id,
                CASE WHEN \(receiver.kind == "channel") THEN NULL ELSE instance_id END,
                \(receiver.kind), \(receiver.name), environment, state, nullif(reason, ''),
                CASE state WHEN 'queued' THEN now() END, nullif(expires_at, 'infinity'),
                CASE state WHEN 'skipped' THEN now() END,
                CASE WHEN may_overwrite THEN '["may_overwrite"]'::jsonb ELSE '[]' END
            FROM unnest(\(deliveries.map(\.id.uuid)), \(deliveries.map { $0.instance?.uuid ?? $0.id.uuid }),
                \(deliveries.map(\.environment.rawValue)), \(deliveries.map(\.state.rawValue)),
                \(deliveries.map { $0.reason ?? "" }), \(deliveries.map { $0.expiresAt ?? .distantFuture }),
                \(deliveries.map { $0.warnings.contains(RecordedDelivery.mayOverwrite) }))
                AS d (delivery_id, instance_id, environment, state, reason, expires_at, may_overwrite)
            """)
    }
}

extension RecordedNotification {
    fileprivate init(_ draft: NotificationDraft, id: NotificationID, headers: NotificationHeaders) {
        self.init(
            id: id, createdAt: draft.createdAt, url: draft.url, experienceURL: draft.experienceURL,
            clip: draft.clip.text, location: draft.business.location?.text, audience: draft.asked,
            headers: headers, payload: draft.payload, warnings: draft.warnings)
    }
}

extension DeliveryCount {
    fileprivate static func counts(of deliveries: [RecordedDelivery]) -> [DeliveryCount] {
        struct Key: Hashable {
            let state: DeliveryState
            let reason: String?
        }
        var counts: [Key: Int] = [:]
        for delivery in deliveries {
            counts[Key(state: delivery.state, reason: delivery.reason), default: 0] += 1
        }
        return counts.map { DeliveryCount(state: $0.state, reason: $0.reason, count: $1) }.ordered
    }
}

extension [DeliveryCount] {
    /// Always the same order.
    var ordered: [DeliveryCount] {
        sorted { ($0.state.rawValue, $0.reason ?? "") < ($1.state.rawValue, $1.reason ?? "") }
    }
}

extension [RecordedNotification.Warning] {
    fileprivate var json: JSONValue {
        .array(map { ["code": .string($0.code), "detail": .string($0.detail)] })
    }
}

extension JSONValue {
    var text: String { String(decoding: serialized(), as: UTF8.self) }
}
