import APNsPayload
import Formats
import Foundation
public import Notifications
public import PostgreSQL
public import Tenancy

/// The unsent deliveries in PostgreSQL. The role `doorstep_app` leases and completes them, one tenant at a time. The role
/// `doorstep_router` finds tenants with due work, and cannot read other data of it.
///
/// Leases use the clock of the database.
public struct PostgresOutbox: Outbox {
    private let pool: ConnectionPool
    private let keys: SealingKeys

    /// - Parameter keys: The keys that decrypt tokens.
    public init(_ pool: ConnectionPool, keys: SealingKeys) {
        self.pool = pool
        self.keys = keys
    }

    /// Makes one index lookup for each tenant with waiting work, whatever the amount of work.
    public func tenantsWithDueDeliveries() async throws -> [DueTenant] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                WITH RECURSIVE first AS (
                    (SELECT d.tenant_id, d.due_at FROM doorstep.deliveries d WHERE d.due_at IS NOT NULL
                    ORDER BY d.tenant_id, d.due_at LIMIT 1)
                    UNION ALL
                    SELECT next.tenant_id, next.due_at FROM first, LATERAL (
                        SELECT d.tenant_id, d.due_at FROM doorstep.deliveries d
                        WHERE d.tenant_id > first.tenant_id AND d.due_at IS NOT NULL
                        ORDER BY d.tenant_id, d.due_at LIMIT 1) AS next
                )
                SELECT tenant_id, extract(epoch FROM now() - due_at)::double precision FROM first
                WHERE due_at <= now() AND NOT EXISTS (
                    SELECT FROM doorstep.tenants t
                    WHERE t.tenant_id = first.tenant_id AND t.suspended_at IS NOT NULL)
                ORDER BY tenant_id
                """
            ).map { row in
                let (tenant, seconds) = try row.decode(UUID.self, Double.self)
                return DueTenant(tenant: TenantID(tenant), overdue: .seconds(seconds))
            }
        }
    }

    public func claim(
        _ limit: Int, of tenant: TenantID, for lease: Duration
    ) async throws -> [ClaimedDelivery] {
        // Deliveries that are only ended do not delay others. The tenant's next turn ends the rest of very many.
        for _ in 0..<Self.endingRounds {
            let (claimed, endedCount) = try await claimOrEnd(limit, of: tenant, for: lease)
            if !claimed.isEmpty || endedCount == 0 { return claimed }
        }
        return []
    }

    /// The most batches without a delivery to send in one turn of a tenant. [ours]
    private static let endingRounds = 4

    private func claimOrEnd(
        _ limit: Int, of tenant: TenantID, for lease: Duration
    ) async throws -> (claimed: [ClaimedDelivery], endedCount: Int) {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            try await transaction.distrustStatistics()
            let due = try await transaction.lockDue(limit)
            guard !due.isEmpty else { return ([], 0) }
            let rows = try await transaction.lend(due, for: lease).map { try LeasedRow(row: $0) }
            let notifications = try await transaction.notifications(of: rows)
            let unsendable = rows.filter { notifications[$0.notification] == nil }
            if !unsendable.isEmpty {
                try await transaction.end(
                    unsendable.map(\.delivery), of: Set(unsendable.map(\.notification)),
                    from: unsendable.map(\.createdAt).bounds)
            }
            let receivers = try await transaction.receivers(
                of: rows.filter { notifications[$0.notification] != nil })
            let keys = keys.of(tenant)
            let claimed = try rows.compactMap { row in
                try notifications[row.notification].map { notification in
                    try ClaimedDelivery(
                        row, of: notification, to: receivers[row.delivery], openedBy: keys)
                }
            }
            return (claimed, unsendable.count)
        }
    }

    @discardableResult
    public func complete(_ completions: [Completion], of tenant: TenantID) async throws -> Int {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                try await transaction.distrustStatistics()
                return try await transaction.record(completions)
            }
        }
    }
}

// MARK: - Leasing

extension TenantTransaction {
    /// The planner expects few rows in a new day's partition, because it has no statistics. So each statement names its rows by
    /// keys and its days by bounds, and related rows are combined here. With the indexes for this (see the migration), a statement
    /// reads only these rows.
    func distrustStatistics() async throws {
        try await execute(
            """
            SELECT set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true),
                set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)
            """)
    }

    /// Locks the due deliveries that are not locked, the longest overdue first.
    fileprivate func lockDue(_ limit: Int) async throws -> [DeliveryKey] {
        try await execute(
            """
            SELECT d.created_at, d.delivery_id FROM doorstep.deliveries d
            WHERE d.tenant_id = \(tenant.uuid) AND d.due_at <= now()
            ORDER BY d.due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            """
        ).map { row in
            let (createdAt, id) = try row.decode(Date.self, UUID.self)
            return DeliveryKey(createdAt: createdAt, id: id)
        }
    }

    fileprivate func lend(_ due: [DeliveryKey], for lease: Duration) async throws -> QueryResult {
        let (first, last) = due.map(\.createdAt).bounds
        return try await execute(
            """
            UPDATE doorstep.deliveries d
            SET state = 'sending', attempt = d.attempt + 1, due_at = now() + make_interval(secs => \(lease.seconds)),
                lost_replies = d.lost_replies + CASE d.state WHEN 'sending' THEN 1 ELSE 0 END
            WHERE d.tenant_id = \(tenant.uuid) AND d.delivery_id = ANY(\(due.map(\.id)))
                AND d.created_at >= \(first) AND d.created_at <= \(last)
            RETURNING d.notification_id, d.created_at, d.delivery_id, d.instance_id, d.token_kind, d.token_name,
                d.environment, d.target, d.attempt, d.lost_replies, d.expires_at,
                CASE WHEN d.attempt = 1 THEN 0 ELSE (
                    SELECT count(*) FROM jsonb_array_elements(d.answers) AS a WHERE a ? 'status') END
            """)
    }

    /// The data that all deliveries of a notification share, without cancelled notifications. It is read once for each
    /// notification, not for each row.
    fileprivate func notifications(of rows: [LeasedRow]) async throws -> [UUID: ClaimedNotification] {
        let (first, last) = rows.map(\.createdAt).bounds
        let found = try await execute(
            """
            SELECT n.notification_id, n.created_at, c.team_id, c.bundle_id, c.parent_bundle_id, n.push_type,
                n.priority, n.collapse_id, n.expiration, n.payload, n.trace_context
            FROM doorstep.notifications n
            JOIN doorstep.clips c ON c.tenant_id = n.tenant_id AND c.bundle_id = n.bundle_id
            WHERE n.tenant_id = \(tenant.uuid) AND n.notification_id = ANY(\(Array(Set(rows.map(\.notification)))))
                AND n.created_at >= \(first) AND n.created_at <= \(last) AND n.cancelled_at IS NULL
            """)
        return Dictionary(
            try found.map { try ClaimedNotification.read($0) }.map { ($0.id.uuid, $0) },
            uniquingKeysWith: { $1 })
    }

    /// The current instances and tokens of deliveries, by the delivery.
    fileprivate func receivers(of rows: [LeasedRow]) async throws -> [UUID: StoredReceiver] {
        let rows = rows.filter { $0.instance != nil }
        guard !rows.isEmpty else { return [:] }
        // `OFFSET 0` keeps the searches separate, so that each has only the key as its condition.
        let found = try await execute(
            """
            SELECT d.delivery_id, i.app, i.environment, t.sealed, t.digest, t.is_retired
            FROM unnest(\(rows.map(\.delivery)), \(rows.compactMap(\.instance)), \(rows.map(\.kind)),
                \(rows.map(\.name))) AS d (delivery_id, instance_id, kind, name)
            CROSS JOIN LATERAL (
                SELECT app, environment FROM doorstep.instances
                WHERE tenant_id = \(tenant.uuid) AND instance_id = d.instance_id OFFSET 0) AS i
            CROSS JOIN LATERAL (
                SELECT sealed, digest, retired_at IS NOT NULL AS is_retired FROM doorstep.push_tokens
                WHERE tenant_id = \(tenant.uuid) AND instance_id = d.instance_id AND kind = d.kind
                    AND name = d.name OFFSET 0) AS t
            """)
        return Dictionary(
            try found.map { row in
                let (delivery, app, environment, sealed, digest, isRetired) = try row.decode(
                    UUID.self, String.self, String.self, [UInt8].self, [UInt8].self, Bool.self)
                return (
                    delivery,
                    StoredReceiver(
                        app: app, environment: environment, sealed: sealed, digest: digest,
                        isRetired: isRetired)
                )
            }, uniquingKeysWith: { $1 })
    }
}

/// The key of a delivery.
private struct DeliveryKey {
    let createdAt: Date
    let id: UUID
}

/// A leased delivery.
private struct LeasedRow {
    let notification: UUID
    let createdAt: Date
    let delivery: UUID
    let instance: UUID?
    let kind: String
    let name: String
    let environment: String
    let target: String?
    let attempt: Int16
    let lostReplies: Int16
    let expiresAt: Date?
    let postponements: Int

    init(row: Row) throws {
        (
            notification, createdAt, delivery, instance, kind, name, environment, target, attempt,
            lostReplies, expiresAt, postponements
        ) = try row.decode(
            UUID.self, Date.self, UUID.self, UUID?.self, String.self, String.self, String.self, String?.self,
            Int16.self, Int16.self, Date?.self, Int.self)
    }
}

private struct StoredReceiver {
    let app: String
    let environment: String
    let sealed: [UInt8]
    let digest: [UInt8]
    let isRetired: Bool
}

extension ClaimedNotification {
    fileprivate static func read(_ row: Row) throws -> ClaimedNotification {
        let (
            id, createdAt, team, clip, parent, pushType, priority, collapseID, expiration, payload, trace
        ) = try row.decode(
            UUID.self, Date.self, String.self, String.self, String.self, String.self, Int16.self,
            String?.self, Int?.self, [UInt8].self, String?.self)
        return try PersistenceError.reading("notifications") {
            ClaimedNotification(
                id: NotificationID(id), createdAt: createdAt, team: try TeamID(team),
                clip: try BundleID(clip), fullApp: try BundleID(parent),
                headers: try NotificationHeaders(
                    storedPushType: pushType, bundleID: clip, priority: priority, expiration: expiration,
                    collapseID: collapseID),
                payload: payload, trace: trace.flatMap(TraceContext.init(stored:)))
        }
    }
}

extension ClaimedDelivery {
    /// - Parameters:
    ///   - stored: Nil if the instance or its token no longer exists, and for a broadcast.
    fileprivate init(
        _ row: LeasedRow, of notification: ClaimedNotification, to stored: StoredReceiver?,
        openedBy keys: TenantSealingKeys
    ) throws {
        self = try PersistenceError.reading("deliveries") {
            guard let receiver = Receiver(kind: row.kind, name: row.name),
                let environment = APNsEnvironment(rawValue: row.environment)
            else { throw PersistenceError.unreadable("deliveries") }
            let destination: Destination
            if case .channel(let channel) = receiver {
                destination = .channel(channel)
            } else if case .token(let place) = receiver, let instance = row.instance.map(InstanceID.init),
                let stored, let app = InstalledApp(rawValue: stored.app)
            {
                if stored.isRetired {
                    destination = .nowhere(SkipReason.tokenDead.rawValue)
                } else if stored.environment != row.environment {
                    destination = .nowhere(SkipReason.wrongEnvironment.rawValue)
                } else if let opened = keys.openToken(stored.sealed, for: instance, at: place) {
                    destination = .device(
                        opened, app: app, instance: instance, place: place, digest: stored.digest)
                } else {
                    destination = .nowhere(DeliveryVerdict.tokenUnreadable)
                }
            } else {
                destination = .nowhere(SkipReason.noToken.rawValue)
            }
            return ClaimedDelivery(
                id: DeliveryID(row.delivery), notification: notification, attempt: Int(row.attempt),
                lostReplies: Int(row.lostReplies), postponements: row.postponements, expiresAt: row.expiresAt,
                environment: environment, target: row.target, destination: destination)
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
