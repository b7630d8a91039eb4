import Encodings
import Foundation
public import Notifications
public import PostgreSQL
public import Tenancy

/// Keeps the messages for webhooks in PostgreSQL, as `doorstep_app`; which tenants have any that are due, it finds as
/// `doorstep_router`.
public struct PostgresWebhookStore: WebhookStore {
    private let pool: ConnectionPool
    private let keys: SealingKeys

    public init(_ pool: ConnectionPool, keys: SealingKeys) {
        self.pool = pool
        self.keys = keys
    }

    public func tenantsWithDueMessages(
        limit: Int, excluding: [TenantID]
    ) async throws -> [TenantID] {
        try await pool.withTransaction(as: .router) { transaction in
            // From tenant to tenant along the index, however many messages each has.
            try await transaction.execute(
                """
                WITH RECURSIVE t (tenant_id, number) AS (
                    (SELECT tenant_id, 1 FROM doorstep.webhook_messages ORDER BY tenant_id LIMIT 1)
                    UNION ALL
                    SELECT n.tenant_id, number + 1
                    FROM t CROSS JOIN LATERAL (
                        SELECT m.tenant_id FROM doorstep.webhook_messages m
                        WHERE m.tenant_id > t.tenant_id ORDER BY m.tenant_id LIMIT 1) AS n
                )
                SELECT tenant_id FROM t
                WHERE tenant_id <> ALL (\(excluding.map(\.uuid))) AND EXISTS (
                    SELECT FROM doorstep.webhook_messages m WHERE m.tenant_id = t.tenant_id AND m.due_at <= now())
                ORDER BY random() LIMIT \(limit)
                """
            ).map { TenantID(try $0.decode(at: 0)) }
        }
    }

    public func claim(
        of tenant: TenantID, limit: Int, lease: Duration, maximumAge: Duration
    ) async throws -> WebhookClaim? {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            guard let (webhook, _) = try await transaction.webhook(openedWith: keys) else { return nil }
            let rows = try await transaction.execute(
                """
                WITH due AS (
                    SELECT message_id,
                        created_at < now() - make_interval(secs => \(maximumAge / .seconds(1))) AS is_outdated
                    FROM doorstep.webhook_messages
                    WHERE tenant_id = \(tenant.uuid) AND due_at <= now()
                    ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
                ), removed AS (
                    DELETE FROM doorstep.webhook_messages m USING due
                    WHERE m.tenant_id = \(tenant.uuid) AND m.message_id = due.message_id AND due.is_outdated
                ), lent AS (
                    UPDATE doorstep.webhook_messages m
                    SET due_at = now() + make_interval(secs => \(lease / .seconds(1))), attempt = attempt + 1
                    FROM due
                    WHERE m.tenant_id = \(tenant.uuid) AND m.message_id = due.message_id AND NOT due.is_outdated
                    RETURNING m.message_id, m.body, m.attempt
                )
                SELECT due.message_id, lent.body, lent.attempt FROM due LEFT JOIN lent USING (message_id)
                WHERE due.is_outdated OR lent.message_id IS NOT NULL
                """)
            let messages = try rows.compactMap { row in
                let (id, body, attempt) = try row.decode(UUID.self, [UInt8]?.self, Int16?.self)
                return body.flatMap { body in
                    attempt.map { WebhookMessage(id: id, body: body, attempt: Int($0)) }
                }
            }
            return WebhookClaim(
                webhook: webhook, messages: messages, outdatedCount: rows.count - messages.count)
        }
    }

    public func remove(_ messages: [WebhookMessage], of tenant: TenantID) async throws {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            _ = try await transaction.execute(
                """
                DELETE FROM doorstep.webhook_messages m
                USING unnest(\(messages.map(\.id)), \(messages.map { Int32($0.attempt) })) AS r (id, attempt)
                WHERE m.tenant_id = \(tenant.uuid) AND m.message_id = r.id AND m.attempt = r.attempt
                """)
        }
    }

    public func retry(_ message: WebhookMessage, of tenant: TenantID, after pause: Duration) async throws {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            _ = try await transaction.execute(
                """
                UPDATE doorstep.webhook_messages
                SET due_at = now() + make_interval(secs => \(pause / .seconds(1)))
                WHERE tenant_id = \(tenant.uuid) AND message_id = \(message.id) AND attempt = \(message.attempt)
                """)
        }
    }

    public func giveBack(_ message: WebhookMessage, of tenant: TenantID) async throws {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            _ = try await transaction.execute(
                """
                UPDATE doorstep.webhook_messages SET due_at = now(), attempt = attempt - 1
                WHERE tenant_id = \(tenant.uuid) AND message_id = \(message.id) AND attempt = \(message.attempt)
                """)
        }
    }
}

/// The tenants' webhooks in PostgreSQL, as an operator registers them: as `doorstep_admin`.
public struct PostgresWebhookRegistry {
    private let pool: ConnectionPool
    private let keys: SealingKeys
    private let actor: String

    /// - Parameter actor: Who the audit log says made a change.
    public init(_ pool: ConnectionPool, keys: SealingKeys, actor: String) {
        self.pool = pool
        self.keys = keys
        self.actor = actor
    }

    /// Nil when there is none.
    public func webhook(of tenant: TenantID) async throws -> RegisteredWebhook? {
        try await pool.withTenantTransaction(tenant, as: .admin, .readOnly) { transaction in
            guard let (webhook, createdAt) = try await transaction.webhook(openedWith: keys) else {
                return nil
            }
            let count = try await transaction.execute(
                "SELECT count(*) FROM doorstep.webhook_messages WHERE tenant_id = \(tenant.uuid)"
            ).one().decode(at: 0, as: Int64.self)
            return RegisteredWebhook(webhook: webhook, createdAt: createdAt, waitingCount: Int(count))
        }
    }

    /// Registers a webhook, or replaces the URL and secret of the one that is there.
    /// - Parameter secret: Nil keeps the one that is there.
    /// - Returns: False when there is none whose secret could be kept: then nothing was changed.
    public func setWebhook(
        _ url: WebhookURL, secret: WebhookSecret?, of tenant: TenantID
    ) async throws -> Bool {
        try await pool.withTenantTransaction(tenant, as: .admin, actor: actor) { transaction in
            guard let secret else {
                return try await transaction.execute(
                    "UPDATE doorstep.webhooks SET url = \(url.text) WHERE tenant_id = \(tenant.uuid)"
                ).affectedRows == 1
            }
            let sealed = try keys.of(tenant).seal(secret.bytes, at: Self.place)
            try await transaction.execute(
                """
                INSERT INTO doorstep.webhooks (tenant_id, url, sealed_secret)
                VALUES (\(tenant.uuid), \(url.text), \(sealed))
                ON CONFLICT (tenant_id) DO UPDATE
                    SET url = excluded.url, sealed_secret = excluded.sealed_secret, secret_changed_at = now()
                """)
            return true
        }
    }

    /// Replaces the secret, even one that cannot be opened any more.
    /// - Returns: Where the webhook is; nil when there is none.
    public func replaceSecret(by secret: WebhookSecret, of tenant: TenantID) async throws -> WebhookURL? {
        try await pool.withTenantTransaction(tenant, as: .admin, actor: actor) { transaction in
            let sealed = try keys.of(tenant).seal(secret.bytes, at: Self.place)
            return try await transaction.execute(
                """
                UPDATE doorstep.webhooks SET sealed_secret = \(sealed), secret_changed_at = now()
                WHERE tenant_id = \(tenant.uuid)
                RETURNING url
                """
            ).first.map { row in
                let url = try row.decode(at: 0, as: String.self)
                return try PersistenceError.reading("webhooks") { try WebhookURL(url) }
            }
        }
    }

    /// Seals the secret of a tenant's webhook again, unless there is none, or the newest secret sealed it.
    ///
    /// The audit log does not tell of it: nothing changes that anybody sees.
    public func resealSecret(of tenant: TenantID) async throws -> TokenResealing.Result {
        try await pool.withTenantTransaction(tenant, as: .admin, actor: actor) { transaction in
            // Whoever replaces the secret meanwhile waits, and seals by the newest anyway.
            let row = try await transaction.execute(
                "SELECT sealed_secret FROM doorstep.webhooks WHERE tenant_id = \(tenant.uuid) FOR UPDATE"
            ).first
            guard let sealed = try row?.decode(at: 0, as: [UInt8].self), !keys.isNewest(sealed) else {
                return .init()
            }
            guard let secret = keys.of(tenant).open(sealed, at: Self.place) else {
                return .init(unreadable: 1)
            }
            try await transaction.execute(
                """
                UPDATE doorstep.webhooks SET sealed_secret = \(try keys.of(tenant).seal(secret, at: Self.place))
                WHERE tenant_id = \(tenant.uuid)
                """)
            return .init(resealed: 1)
        }
    }

    /// - Returns: How many messages that waited went with it; nil when there was none.
    public func removeWebhook(of tenant: TenantID) async throws -> Int? {
        try await pool.withTenantTransaction(tenant, as: .admin, actor: actor) { transaction in
            let waiting = try await transaction.execute(
                "DELETE FROM doorstep.webhook_messages WHERE tenant_id = \(tenant.uuid)"
            ).affectedRows
            let removed = try await transaction.execute(
                "DELETE FROM doorstep.webhooks WHERE tenant_id = \(tenant.uuid)"
            ).affectedRows
            return removed == 0 ? nil : waiting
        }
    }

    fileprivate static let place = ["webhooks"]
}

extension TenantTransaction {
    /// Has the tenant's webhook told of events, if there is one.
    func tell(_ events: [OutcomeEvent], at now: Date) async throws {
        guard !events.isEmpty else { return }
        let bodies = OutcomeEvent.messages(of: events, at: now).map { String(decoding: $0, as: UTF8.self) }
        let ids = bodies.map { _ in UUID.timeOrdered(at: now) }
        try await execute(
            """
            INSERT INTO doorstep.webhook_messages (tenant_id, message_id, body, due_at)
            SELECT w.tenant_id, m.id, convert_to(m.body, 'UTF8'), now()
            FROM doorstep.webhooks w, unnest(\(ids), \(bodies)) AS m (id, body)
            WHERE w.tenant_id = \(tenant.uuid)
            """)
    }

    /// The tenant's webhook; nil when there is none.
    fileprivate func webhook(
        openedWith keys: SealingKeys
    ) async throws -> (webhook: Webhook, createdAt: Date)? {
        try await execute(
            "SELECT url, sealed_secret, created_at FROM doorstep.webhooks WHERE tenant_id = \(tenant.uuid)"
        ).first.map { row in
            let (url, sealed, createdAt) = try row.decode(String.self, [UInt8].self, Date.self)
            guard let opened = keys.of(tenant).open(sealed, at: PostgresWebhookRegistry.place) else {
                throw PersistenceError.sealed("webhooks")
            }
            return try PersistenceError.reading("webhooks") {
                guard let secret = WebhookSecret(opened) else {
                    throw PersistenceError.unreadable("webhooks")
                }
                return (Webhook(url: try WebhookURL(url), secret: secret), createdAt)
            }
        }
    }
}
