import APNsPayload
import Foundation
import JSON
public import Notifications
public import PostgreSQL
public import Tenancy

/// The deliveries that are still to be made, in PostgreSQL: lent and completed as `doorstep_app`, a tenant at a time; who has
/// something due is asked as `doorstep_router`, which sees nothing else of them.
///
/// All times of loans are the database's.
public struct PostgresOutbox: Outbox {
    private let pool: ConnectionPool
    private let keys: SealingKeys

    /// - Parameter keys: Open the tokens.
    public init(_ pool: ConnectionPool, keys: SealingKeys) {
        self.pool = pool
        self.keys = keys
    }

    /// One look into the index for each tenant that waits for anything, however much of it there is.
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
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            try await transaction.useIndexes()
            let rows = try await transaction.claim(limit, for: lease)
            guard !rows.isEmpty else { return [] }
            let notifications = try await transaction.notifications(of: rows)
            return try rows.compactMap { row in
                let notification = try row.decode("notification_id", as: UUID.self)
                return try notifications[notification].map {
                    try ClaimedDelivery(row: row, of: $0, opening: keys, tenant)
                }
            }
        }
    }

    @discardableResult
    public func complete(_ completions: [Completion], of tenant: TenantID) async throws -> Int {
        let dead = completions.compactMap(DeadToken.init)
        return try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                try await transaction.useIndexes()
                let (completed, hasWebhook) = try await transaction.complete(completions)
                if !dead.isEmpty { try await transaction.retire(dead) }
                if hasWebhook {
                    let events = completions.filter { completed.contains($0.delivery.id.uuid) }.compactMap(
                        OutcomeEvent.init)
                    try await transaction.tell(events, at: Date())
                }
                return completed.count
            }
        }
    }
}

// MARK: - Lending

extension TenantTransaction {
    /// The planner does not know that of all days one is looked at, and would rather read all deliveries of all of them.
    fileprivate func useIndexes() async throws {
        try await execute(
            """
            SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
                set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)
            """)
    }

    fileprivate func claim(_ limit: Int, for lease: Duration) async throws -> QueryResult {
        try await execute(
            """
            WITH due AS (
                SELECT d.created_at, d.notification_id, d.delivery_id FROM doorstep.deliveries d
                WHERE d.tenant_id = \(tenant.uuid) AND d.due_at <= now()
                ORDER BY d.due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE doorstep.deliveries d
                SET state = 'sending', attempt = d.attempt + 1, due_at = now() + make_interval(secs => \(lease.seconds)),
                    lost_replies = d.lost_replies + CASE d.state WHEN 'sending' THEN 1 ELSE 0 END
                FROM due
                WHERE d.tenant_id = \(tenant.uuid) AND d.created_at = due.created_at
                    AND d.notification_id = due.notification_id AND d.delivery_id = due.delivery_id
                RETURNING d.created_at, d.notification_id, d.delivery_id, d.instance_id, d.token_kind, d.token_name,
                    d.environment, d.attempt, d.lost_replies, d.expires_at,
                    CASE WHEN d.attempt = 1 THEN 0 ELSE (
                        SELECT count(*) FROM jsonb_array_elements(d.answers) AS a WHERE a ? 'status') END
                        AS postponements
            )
            SELECT c.created_at, c.notification_id, c.delivery_id, c.instance_id, c.token_kind, c.token_name,
                c.environment, c.attempt, c.lost_replies, c.expires_at, c.postponements, i.app, t.sealed, t.digest,
                t.retired_at IS NOT NULL AS is_retired
            FROM claimed c
            LEFT JOIN doorstep.instances i ON i.tenant_id = \(tenant.uuid) AND i.instance_id = c.instance_id
            LEFT JOIN doorstep.push_tokens t ON t.tenant_id = \(tenant.uuid) AND t.instance_id = c.instance_id
                AND t.kind = c.token_kind AND t.name = c.token_name
            """)
    }

    /// What the deliveries share: once a notification, and not with each row.
    fileprivate func notifications(of rows: QueryResult) async throws -> [UUID: ClaimedNotification] {
        var keys: [UUID: Date] = [:]
        for row in rows {
            keys[try row.decode("notification_id", as: UUID.self)] = try row.decode(
                "created_at", as: Date.self)
        }
        let found = try await execute(
            """
            SELECT n.notification_id, n.created_at, c.team_id, c.bundle_id, c.parent_bundle_id, n.push_type,
                n.priority, n.collapse_id, n.expiration, n.payload
            FROM unnest(\(keys.map(\.key)), \(keys.map(\.value))) AS k (notification_id, created_at)
            JOIN doorstep.notifications n ON n.tenant_id = \(tenant.uuid) AND n.created_at = k.created_at
                AND n.notification_id = k.notification_id
            JOIN doorstep.clips c ON c.tenant_id = n.tenant_id AND c.bundle_id = n.bundle_id
            """)
        return Dictionary(
            try found.map { try ClaimedNotification(row: $0) }.map { ($0.id.uuid, $0) },
            uniquingKeysWith: { $1 })
    }
}

extension ClaimedNotification {
    fileprivate init(row: Row) throws {
        let (
            id, createdAt, team, clip, parent, pushType, priority, collapseID, expiration, payload
        ) = try row.decode(
            UUID.self, Date.self, String.self, String.self, String.self, String.self, Int16.self,
            String?.self,
            Int?.self, [UInt8].self)
        self = try PersistenceError.reading("notifications") {
            let headers = try NotificationHeaders(
                storedPushType: pushType, bundleID: clip, priority: priority, expiration: expiration,
                collapseID: collapseID)
            return ClaimedNotification(
                id: NotificationID(id), createdAt: createdAt, team: try TeamID(team),
                clip: try BundleID(clip),
                fullApp: try BundleID(parent), pushType: headers.pushType, priority: headers.priority,
                collapseID: headers.collapseID, expiration: headers.expiration, payload: payload)
        }
    }
}

extension ClaimedDelivery {
    fileprivate init(
        row: Row, of notification: ClaimedNotification, opening keys: SealingKeys, _ tenant: TenantID
    ) throws {
        let (
            _, _, id, instance, kind, name, environment, attempt, lostReplies, expiresAt, postponements, app,
            sealed,
            digest, isRetired
        ) = try row.decode(
            Date.self, UUID.self, UUID.self, UUID?.self, String.self, String.self, String.self, Int16.self,
            Int16.self, Date?.self, Int.self, String?.self, [UInt8]?.self, [UInt8]?.self, Bool.self)
        self = try PersistenceError.reading("deliveries") {
            guard let receiver = Receiver(kind: kind, name: name),
                let environment = APNsEnvironment(rawValue: environment)
            else { throw PersistenceError.unreadable("deliveries") }
            let destination: Destination
            if case .channel(let channel) = receiver {
                destination = .channel(channel)
            } else if case .token(let place) = receiver, let instance = instance.map(InstanceID.init),
                let app = app.flatMap(InstalledApp.init), let sealed, let digest
            {
                if isRetired {
                    destination = .nowhere(NotificationRouter.SkipReason.tokenDead.rawValue)
                } else if let token = keys.openToken(sealed, of: tenant, for: instance, at: place) {
                    destination = .device(
                        token, app: app, instance: instance, place: place, digest: digest)
                } else {
                    destination = .nowhere("token_unreadable")
                }
            } else {
                destination = .nowhere(NotificationRouter.SkipReason.noToken.rawValue)
            }
            return ClaimedDelivery(
                id: DeliveryID(id), notification: notification, attempt: Int(attempt),
                lostReplies: Int(lostReplies), postponements: postponements, expiresAt: expiresAt,
                environment: environment, destination: destination)
        }
    }
}

// MARK: - Completing

extension TenantTransaction {
    /// - Returns: How many were still lent by the attempt that completes them.
    /// - Returns: Those that were still lent by the attempt that completes them, and whether anybody wants to be told.
    fileprivate func complete(
        _ completions: [Completion]
    ) async throws -> (completed: Set<UUID>, hasWebhook: Bool) {
        let rows = try await execute(
            """
            UPDATE doorstep.deliveries d
            SET state = c.state, reason = nullif(c.reason, ''), lost_replies = c.lost_replies,
                due_at = CASE c.state WHEN 'queued' THEN now() + make_interval(secs => c.wait) END,
                finished_at = CASE WHEN c.state <> 'queued' THEN now() END,
                answers = CASE WHEN c.answer = '' THEN d.answers ELSE
                    CASE WHEN jsonb_array_length(d.answers) < \(Self.maximumAnswers)::integer THEN d.answers
                        ELSE d.answers - 1 END || c.answer::jsonb END
            FROM unnest(\(completions.map(\.delivery.notification.createdAt)),
                \(completions.map(\.delivery.notification.id.uuid)), \(completions.map(\.delivery.id.uuid)),
                \(completions.map { Int16(clamping: $0.delivery.attempt) }),
                \(completions.map(\.verdict.next.state.rawValue)), \(completions.map { $0.verdict.reason ?? "" }),
                \(completions.map { $0.verdict.next.wait ?? 0 }),
                \(completions.map { Int16(clamping: $0.verdict.lostReplies) }),
                \(completions.map { $0.answer?.stored.text ?? "" }))
                AS c (created_at, notification_id, delivery_id, attempt, state, reason, wait, lost_replies, answer)
            WHERE d.tenant_id = \(tenant.uuid) AND d.created_at = c.created_at
                AND d.notification_id = c.notification_id AND d.delivery_id = c.delivery_id
                AND d.attempt = c.attempt AND d.state = 'sending'
            RETURNING d.delivery_id, EXISTS (SELECT FROM doorstep.webhooks WHERE tenant_id = \(tenant.uuid))
            """)
        let returned = try rows.map { try $0.decode(UUID.self, Bool.self) }
        return (Set(returned.map(\.0)), returned.first?.1 ?? false)
    }

    /// Of a delivery that is tried for very long the first answer and the last ones are kept.
    private static var maximumAnswers: Int { 64 }

    /// Those that were registered again since, or replaced, stand.
    fileprivate func retire(_ tokens: [DeadToken]) async throws {
        try await execute(
            """
            UPDATE doorstep.push_tokens t
            SET retired_at = CASE r.since WHEN 'infinity' THEN now() ELSE r.since END
            FROM unnest(\(tokens.map(\.instance.uuid)), \(tokens.map(\.place.kind)),
                \(tokens.map(\.place.name)), \(tokens.map(\.digest)),
                \(tokens.map { $0.since ?? .distantFuture })) AS r (instance_id, kind, name, digest, since)
            WHERE t.tenant_id = \(tenant.uuid) AND t.instance_id = r.instance_id AND t.kind = r.kind
                AND t.name = r.name AND t.digest = decode(r.digest, 'hex') AND t.retired_at IS NULL
                AND t.registered_at <= r.since
            """)
    }
}

extension OutcomeEvent {
    /// Nil for a delivery that is tried again.
    fileprivate init?(_ completion: Completion) {
        let delivery = completion.delivery
        let state = completion.verdict.next.state
        guard state != .queued else { return nil }
        var instance: InstanceID?
        if case .device(_, _, let id, _, _) = delivery.destination { instance = id }
        self.init(
            delivery: delivery.id.uuid, notification: delivery.notification.id.uuid, instance: instance,
            state: state.rawValue, reason: completion.verdict.reason, attempts: delivery.attempt)
    }
}

/// A token that APNs says is of no use.
private struct DeadToken {
    let instance: InstanceID
    let place: TokenPlace
    /// In hexadecimal digits.
    let digest: String
    let since: Date?

    /// Nil when nothing is wrong with the token of a completion.
    init?(_ completion: Completion) {
        guard case .dead(let since) = completion.verdict.token,
            case .device(_, _, let instance, let place, let digest) = completion.delivery.destination
        else { return nil }
        self.instance = instance
        self.place = place
        self.since = since
        self.digest = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension DeliveryVerdict.Next {
    fileprivate var wait: Double? {
        if case .retry(let wait) = self { wait } else { nil }
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
