import APNsPayload
import Encodings
import Foundation
import Invocation
import JSON
public import Notifications
public import PostgreSQL
import Synchronization
public import Tenancy

/// Notifications and their deliveries in PostgreSQL, written and read as `doorstep_app`; whose audiences are to be gone on with
/// is asked as `doorstep_router`.
///
/// Notification, idempotency key and the deliveries of the first part of the audience are of one transaction, each further
/// part is of one with how far it went. Who repeats a request while it is being carried out waits for the first one's key, and
/// is then answered what that was.
public struct PostgresNotificationStore: NotificationStore {
    private let pool: ConnectionPool
    private let partSize: AudiencePartSize

    /// How long a part that cannot be taken in is left alone, so that it holds up no other audience of the tenant.
    private static let pause = Duration.seconds(30)

    public init(_ pool: ConnectionPool, partSize: AudiencePartSize = AudiencePartSize()) {
        self.pool = pool
        self.partSize = partSize
    }

    public func add(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition {
        do {
            do {
                return try await addOnce(distribution, for: key, of: tenant)
            } catch let error as PostgreSQLError where error.isOfAnotherPartition {
                // Nobody has made today's partitions.
                try await pool.withTransaction(as: .router, .readWrite) { transaction in
                    _ = try await transaction.execute("SELECT doorstep.add_notification_days()")
                }
                return try await addOnce(distribution, for: key, of: tenant)
            }
        } catch Unsuitable.unknownChannel {
            return .unknownChannel
        } catch let error as PostgreSQLError where error.isNoAnswer || error.isForeignKeyViolation() {
            // Or the tenant was deleted meanwhile, and its keys with it: the next request is refused.
            throw NotificationStoreError.unavailable
        }
    }

    /// Thrown, so that nothing is kept, the key included.
    private enum Unsuitable: Error {
        case unknownChannel
    }

    private func addOnce(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            if let key, try await !transaction.take(key, for: distribution.notification.id) {
                // Whoever took it has committed by now.
                guard let earlier = try await transaction.addition(with: key) else {
                    throw PersistenceError.unreadable("idempotency_keys")
                }
                return earlier
            }
            let distribution = distribution.collapsing(under: try await transaction.collapsePolicy())
            let notification = distribution.notification
            let part = try await firstPart(of: distribution, in: transaction)
            try await transaction.insert(notification, skipped: part.skipped)
            try await transaction.insert(part.deliveries, of: notification)
            if part.hasMore, let place = part.place {
                try await transaction.keepPlace(place, of: notification, part.deliveries.count)
            }
            let answered = part.deliveries.prefix(Addition.answeredDeliveries)
            return .added(
                NotificationTrace(
                    notification: notification, counts: part.counts, deliveries: Array(answered),
                    hasMore: answered.count < part.deliveries.count, isComplete: !part.hasMore))
        }
    }

    private func firstPart(
        of distribution: Distribution, in transaction: TenantTransaction
    ) async throws -> DecidedPart {
        guard case .channel(let channel) = distribution.audience else {
            return try await transaction.decidePart(of: distribution, partSize)
        }
        let notification = distribution.notification
        let environment = notification.audience.environment ?? .production
        guard try await transaction.hasChannel(channel, of: notification.clip, environment) else {
            throw Unsuitable.unknownChannel
        }
        let delivery = RecordedDelivery(
            id: DeliveryID(.timeOrdered(at: notification.createdAt)), instance: nil,
            receiver: distribution.receiver, environment: environment, state: .queued,
            expiresAt: distribution.expiresAt)
        return DecidedPart(deliveries: [delivery])
    }

    // MARK: Further parts

    public func tenantsWithAudiencesToContinue() async throws -> [TenantID] {
        try await reportingUnavailability {
            try await pool.withTransaction(as: .router) { transaction in
                try await transaction.execute(
                    """
                    SELECT DISTINCT c.tenant_id FROM doorstep.audience_cursors c
                    JOIN doorstep.tenants t ON t.tenant_id = c.tenant_id
                    WHERE c.due_at <= now() AND t.suspended_at IS NULL
                    ORDER BY c.tenant_id
                    """
                ).map { TenantID(try $0.decode(at: 0)) }
            }
        }
    }

    public func continueAudience(of tenant: TenantID) async throws -> AudiencePart? {
        let current = Mutex<NotificationID?>(nil)
        do {
            return try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                guard let cursor = try await transaction.lockCursor() else { return nil }
                current.withLock { $0 = cursor.notification }
                return try await transaction.takePart(at: cursor, partSize)
            }
        } catch let error as PostgreSQLError where error.isNoAnswer && !error.isSlowStatement {
            throw NotificationStoreError.unavailable
        } catch {
            // Else it would be the first again, and whatever is wrong with it hold up all others.
            if let notification = current.withLock({ $0 }) {
                try await pool.withTenantTransaction(tenant, as: .app) {
                    try await $0.postpone(notification, by: Self.pause)
                }
            }
            throw error
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
        let limit = Addition.answeredDeliveries
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
                    environment: delivery.environment, target: delivery.target, state: .queued,
                    expiresAt: delivery.expiresAt, warnings: delivery.warnings)
            }, hasMore: hasMore, isComplete: isComplete)
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

    fileprivate func insert(
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

    /// In one statement, however many there are; all have the notification's receiver.
    fileprivate func insert(
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
}

// MARK: - Parts of audiences

/// A part of an audience, decided on.
private struct DecidedPart {
    var deliveries: [RecordedDelivery] = []
    /// Those who are skipped and have no delivery.
    var skipped: [DeliveryCount] = []
    var place: AudiencePlace?
    var hasMore = false

    var counts: [DeliveryCount] {
        deliveries.map { DeliveryCount(state: $0.state, reason: $0.reason, count: 1) }.adding(skipped)
    }
}

/// How far an audience is taken in.
private struct AudienceCursor {
    let notification: NotificationID
    let createdAt: Date
    let askedAt: Date
    let place: AudiencePlace
    let deliveryCount: Int
}

extension TenantTransaction {
    /// Finds the next part of those a notification is for, and decides for each.
    ///
    /// As many launches are looked at as there is room for instances, so that there is room for all of them, and again
    /// where most could not be reached.
    fileprivate func decidePart(
        of distribution: Distribution, _ size: AudiencePartSize, at cursor: AudienceCursor? = nil
    ) async throws -> DecidedPart {
        try await followIndexes()
        var part = DecidedPart(place: cursor?.place, hasMore: true)
        var (room, launchesLeft) = (size.reachable, size.launches)
        var skippedLeft = cursor == nil ? size.skipped : 0
        var count = cursor?.deliveryCount ?? 0
        // Who is launched there again while an audience is gone through is met again: in this part, since each statement
        // sees what is committed by then, or behind the parts before it.
        var met: Set<UUID> = []
        while part.hasMore, launchesLeft > 0, room > size.reachable / 10 {
            let limit = min(room, launchesLeft)
            var found = try await candidates(
                for: distribution, behind: part.place, askedAt: cursor?.askedAt, limit: limit,
                skipped: skippedLeft)
            room -= found.reachable
            launchesLeft -= limit
            skippedLeft -= found.members.count - found.reachable
            part.place = found.last ?? part.place
            part.hasMore = found.hasMore
            found.members.removeAll { !met.insert($0.instance.uuid).inserted }
            if let cursor {
                let decided = try await instancesDecided(
                    among: found.members.map(\.instance.uuid), of: cursor.notification, cursor.createdAt)
                found.members.removeAll { decided.contains($0.instance.uuid) }
            }
            let overwriting = try await instancesOfOtherBusinesses(
                among: found.members.map(\.instance.uuid), distribution)
            for index in found.members.indices {
                found.members[index].hasOtherBusiness = overwriting.contains(
                    found.members[index].instance.uuid)
            }
            let ids = UUID.timeOrdered(
                found.members.count, at: distribution.notification.createdAt, from: count)
            count += ids.count
            part.deliveries += zip(found.members, ids).map {
                distribution.delivery(to: $0, id: DeliveryID($1))
            }
            part.skipped += try found.others.map { candidate, count in
                guard let reason = distribution.skipReason(of: candidate) else {
                    throw PersistenceError.unreadable("launches")
                }
                return DeliveryCount(state: .skipped, reason: reason.rawValue, count: count)
            }
        }
        return part
    }

    fileprivate func keepPlace(
        _ place: AudiencePlace, of notification: RecordedNotification, _ deliveryCount: Int
    ) async throws {
        try await execute(
            """
            INSERT INTO doorstep.audience_cursors
                (tenant_id, notification_id, created_at, launched_at, url, instance_id, delivery_count)
            VALUES (\(tenant.uuid), \(notification.id.uuid), \(notification.createdAt), \(place.launchedAt),
                \(place.url), \(place.instance), \(Int32(deliveryCount)))
            """)
    }

    /// The one that waits longest and nobody else is at.
    fileprivate func lockCursor() async throws -> AudienceCursor? {
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
                place: AudiencePlace(launchedAt: launchedAt, url: url, instance: instance),
                deliveryCount: Int(count))
        }
    }

    /// Takes in the part behind a place, and moves the place.
    fileprivate func takePart(
        at cursor: AudienceCursor, _ size: AudiencePartSize
    ) async throws -> AudiencePart {
        let id = cursor.notification
        // Days are dropped with their notifications, and a clip is deleted with its instances.
        guard let notification = try await notification(id, cursor.createdAt)?.notification,
            let isMultiBusiness = try await isMultiBusiness(notification.clip)
        else {
            try await dropCursor(of: id)
            return AudiencePart(notification: id, counts: [], isLast: true)
        }
        let distribution = try PersistenceError.reading("notifications") {
            try Distribution(notification, clipIsMultiBusiness: isMultiBusiness)
        }
        let part = try await decidePart(of: distribution, size, at: cursor)
        try await insert(part.deliveries, of: notification)
        try await addSkipped(part.skipped, to: cursor)
        if part.hasMore, let place = part.place {
            try await execute(
                """
                UPDATE doorstep.audience_cursors
                SET due_at = now(), launched_at = \(place.launchedAt), url = \(place.url),
                    instance_id = \(place.instance),
                    delivery_count = delivery_count + \(Int32(part.deliveries.count))
                WHERE tenant_id = \(tenant.uuid) AND notification_id = \(id.uuid)
                """)
        } else {
            try await dropCursor(of: id)
        }
        return AudiencePart(notification: id, counts: part.counts, isLast: !part.hasMore)
    }

    private func isMultiBusiness(_ clip: BundleID) async throws -> Bool? {
        try await execute(
            """
            SELECT multi_business FROM doorstep.clips
            WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
            """
        ).first.map { try $0.decode(at: 0) }
    }

    private func addSkipped(_ skipped: [DeliveryCount], to cursor: AudienceCursor) async throws {
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
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(cursor.createdAt)
                AND notification_id = \(cursor.notification.uuid)
            """)
    }

    private func dropCursor(of id: NotificationID) async throws {
        try await execute(
            """
            DELETE FROM doorstep.audience_cursors
            WHERE tenant_id = \(tenant.uuid) AND notification_id = \(id.uuid)
            """)
    }

    fileprivate func postpone(_ id: NotificationID, by pause: Duration) async throws {
        try await execute(
            """
            UPDATE doorstep.audience_cursors SET due_at = now() + make_interval(secs => \(pause / .seconds(1)))
            WHERE tenant_id = \(tenant.uuid) AND notification_id = \(id.uuid)
            """)
    }
}

/// What a count is of.
private struct Decision: Hashable {
    let state: DeliveryState
    let reason: String?
}

extension [DeliveryCount] {
    /// With others, one for each state and reason, always in the same order.
    func adding(_ others: [DeliveryCount]) -> [DeliveryCount] {
        let sums = Dictionary(
            (self + others).map { (Decision(state: $0.state, reason: $0.reason), $0.count) },
            uniquingKeysWith: +)
        return sums.map { DeliveryCount(state: $0.state, reason: $0.reason, count: $1) }.sorted {
            ($0.state.rawValue, $0.reason ?? "") < ($1.state.rawValue, $1.reason ?? "")
        }
    }

    /// As the column `skipped` of a notification: by the reason, how many.
    fileprivate var stored: JSONValue {
        var object = JSONObject()
        for count in adding([]) { object[count.reason ?? ""] = JSONValue(count.count) }
        return .object(object)
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
