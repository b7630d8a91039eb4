import Administration
public import Formats
public import Foundation
public import Invocation
public import Notifications
public import PostgreSQL
public import Tenancy

/// The tenants' webhooks in PostgreSQL. The role is `doorstep_admin`, or `doorstep_manager` for keys.
public struct PostgresWebhookRegistry: WebhookRegistry {
    private let pool: ConnectionPool
    private let keys: SealingKeys
    private let role: DatabaseRole
    /// Whether the database refuses all changes. A change then throws `ReadOnlyAccess`.
    private let isReadOnly: Bool
    /// The allowed addresses among those that are not public.
    private let allowed: [AddressRange]

    /// - Parameter allowed: The allowed addresses among those that are not public.
    public init(
        _ pool: ConnectionPool, keys: SealingKeys, isReadOnly: Bool = false,
        allowing allowed: [AddressRange] = []
    ) {
        self.init(pool, keys, as: .admin, isReadOnly: isReadOnly, allowed)
    }

    /// Creates a registry for requests. The role is `doorstep_manager`.
    public init(managing pool: ConnectionPool, keys: SealingKeys, allowing allowed: [AddressRange] = []) {
        self.init(pool, keys, as: .manager, isReadOnly: false, allowed)
    }

    private init(
        _ pool: ConnectionPool, _ keys: SealingKeys, as role: DatabaseRole, isReadOnly: Bool,
        _ allowed: [AddressRange]
    ) {
        self.allowed = allowed
        self.pool = pool
        self.keys = keys
        self.role = role
        self.isReadOnly = isReadOnly
    }

    // MARK: Webhooks

    public func webhooks(
        of tenant: TenantID, after: WebhookID?, limit: Int
    ) async throws -> [RegisteredWebhook] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: RegisteredWebhook.columns) FROM doorstep.webhooks AS w
                WHERE tenant_id = \(tenant.uuid)
                    AND (\(after?.uuid)::uuid IS NULL OR webhook_id > \(after?.uuid))
                ORDER BY webhook_id LIMIT \(limit)
                """
            ).map { try RegisteredWebhook(row: $0) }
        }
    }

    public func webhook(_ webhook: WebhookReference) async throws -> RegisteredWebhook? {
        try await read(webhook.tenant) { try await $0.webhook(webhook.id) }
    }

    /// The URL and secret for a message; nil if the webhook does not exist.
    /// - Throws: ``PersistenceError/sealed(_:)`` for a secret that none of the keys opens.
    public func receiver(_ webhook: WebhookReference) async throws -> Webhook? {
        try await read(webhook.tenant) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: Webhook.columns) FROM doorstep.webhooks
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                """
            ).first.map { row in
                let (url, sealed, previous) = try row.decode(String.self, [UInt8].self, [UInt8]?.self)
                return try Webhook(url, sealed, previous, openedBy: keys.of(webhook.tenant))
            }
        }
    }

    public func create(
        _ webhook: Webhook, named name: DisplayName?, events: Set<WebhookEvent>, of tenant: TenantID,
        by actor: String
    ) async throws -> RegisteredWebhook {
        try webhook.url.check(allowing: allowed)
        let id = WebhookID(.timeOrdered(at: Date()))
        return try await write(tenant, by: actor) { transaction in
            // Another transaction that creates a webhook waits, so that both see the right count.
            try await transaction.execute(
                "SELECT FROM doorstep.tenants WHERE tenant_id = \(tenant.uuid) FOR NO KEY UPDATE")
            let count = try await transaction.execute(
                "SELECT count(*) FROM doorstep.webhooks WHERE tenant_id = \(tenant.uuid)"
            ).one().decode(at: 0, as: Int.self)
            guard count < RegisteredWebhook.limit else { throw WebhookRefusal.tooManyWebhooks }
            let sealed = try keys.of(tenant).seal(webhook.secret.bytes, at: Webhook.place)
            try await transaction.execute(
                """
                INSERT INTO doorstep.webhooks (tenant_id, webhook_id, name, url, sealed_secret, events)
                VALUES (\(tenant.uuid), \(id.uuid), \(name?.text), \(webhook.url.text), \(sealed), \(events.names))
                """)
            return try await transaction.known(id)
        }
    }

    public func change(
        _ webhook: WebhookReference, _ change: WebhookChange, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> RegisteredWebhook {
        if let url = change.url { try url.check(allowing: allowed) }
        return try await write(webhook.tenant, by: actor) { transaction in
            try check(try await transaction.locked(webhook.id, for: "NO KEY UPDATE"))
            try await transaction.execute(
                """
                UPDATE doorstep.webhooks
                SET name = CASE WHEN \(change.name != nil) THEN \((change.name ?? nil)?.text) ELSE name END,
                    url = coalesce(\(change.url?.text), url), events = coalesce(\(change.events?.names), events),
                    failing_since = CASE WHEN url = coalesce(\(change.url?.text), url) THEN failing_since END
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                """)
            switch change.isEnabled {
            case nil: break
            case true?:
                try await transaction.execute(
                    """
                    UPDATE doorstep.webhooks
                    SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
                    WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                        AND disabled_at IS NOT NULL
                    """)
            case false?:
                try await transaction.execute(
                    """
                    UPDATE doorstep.webhooks
                    SET disabled_at = now(), disabled_reason = \(RegisteredWebhook.SwitchOff.asked)
                    WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                        AND disabled_at IS NULL
                    """)
                try await transaction.giveUpMessages(of: webhook.id)
            }
            return try await transaction.known(webhook.id)
        }
    }

    public func replaceSecret(
        of webhook: WebhookReference, by secret: WebhookSecret, overlap: Duration, actor: String
    ) async throws -> RegisteredWebhook {
        let seconds = overlap > .zero ? overlap / .seconds(1) : nil
        return try await write(webhook.tenant, by: actor) { transaction in
            let sealed = try keys.of(webhook.tenant).seal(secret.bytes, at: Webhook.place)
            try await transaction.execute(
                """
                UPDATE doorstep.webhooks
                SET sealed_secret = \(sealed), secret_changed_at = now(), failing_since = NULL,
                    previous_sealed_secret =
                        CASE WHEN \(seconds)::double precision IS NOT NULL THEN sealed_secret END,
                    previous_secret_ends_at = now() + make_interval(secs => \(seconds))
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                """)
            return try await transaction.known(webhook.id)
        }
    }

    /// Encrypts the secrets of a tenant's webhooks again, if the newest secret did not encrypt them.
    ///
    /// The audit log gets no entry, because nothing visible changes.
    public func resealSecrets(of tenant: TenantID) async throws -> TokenResealing.Result {
        try await write(tenant, by: "") { transaction in
            // A replacement of the secret waits meanwhile, and uses the newest secret anyway.
            let rows = try await transaction.execute(
                """
                SELECT webhook_id, 'sealed_secret' AS name, sealed_secret FROM doorstep.webhooks
                WHERE tenant_id = \(tenant.uuid) ORDER BY webhook_id FOR UPDATE
                """
            ).map { try $0.decode(UUID.self, String.self, [UInt8].self) }
            try await transaction.execute(
                """
                UPDATE doorstep.webhooks SET previous_sealed_secret = NULL
                WHERE tenant_id = \(tenant.uuid) AND previous_secret_ends_at <= now()
                """)
            let previous = try await transaction.execute(
                """
                SELECT webhook_id, 'previous_sealed_secret', previous_sealed_secret FROM doorstep.webhooks
                WHERE tenant_id = \(tenant.uuid) AND previous_sealed_secret IS NOT NULL
                """
            ).map { try $0.decode(UUID.self, String.self, [UInt8].self) }
            var result = TokenResealing.Result()
            let sealing = keys.of(tenant)
            for (id, column, sealed) in rows + previous where !keys.isNewest(sealed) {
                guard let secret = sealing.open(sealed, at: Webhook.place) else {
                    result.unreadable += 1
                    continue
                }
                try await transaction.execute(
                    """
                    UPDATE doorstep.webhooks
                    SET \(unsafeSQL: column) = \(try sealing.seal(secret, at: Webhook.place))
                    WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(id)
                    """)
                result.resealed += 1
            }
            return result
        }
    }

    public func delete(
        _ webhook: WebhookReference, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> Int {
        // Counts before anything is locked, so that nothing waits.
        let waitingCount = try await read(webhook.tenant) { try await $0.known(webhook.id).waitingCount }
        var isThere = true
        while isThere {
            isThere = try await write(webhook.tenant, by: actor) { transaction in
                // Locks the webhook before its messages, like the transaction that records the results of messages.
                try check(try await transaction.locked(webhook.id, for: "UPDATE"))
                let count = try await transaction.execute(
                    """
                    DELETE FROM doorstep.webhook_messages
                    WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                        AND message_id = ANY (ARRAY(
                            SELECT message_id FROM doorstep.webhook_messages
                            WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                            LIMIT \(RegisteredWebhook.messagesAtOnce)))
                    """
                ).affectedRows
                guard count < RegisteredWebhook.messagesAtOnce else { return true }
                try await transaction.execute(
                    """
                    DELETE FROM doorstep.webhooks
                    WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                    """)
                return false
            }
        }
        return waitingCount
    }

    // MARK: Messages

    public func add(
        _ message: WebhookMessage, type: String, to webhook: WebhookReference, by actor: String
    ) async throws {
        try await write(webhook.tenant, by: actor) { transaction in
            try await transaction.requireEnabled(webhook.id)
            try await transaction.execute(
                """
                INSERT INTO doorstep.webhook_messages (tenant_id, webhook_id, message_id, type, body, due_at)
                VALUES (\(webhook.tenant.uuid), \(webhook.id.uuid), \(message.id), \(type),
                    \(message.body), now())
                """)
            try await transaction.record(
                .insert, "webhook_messages",
                after: [
                    "webhook_id": .string("\(webhook.id)"),
                    "message_id": .string(message.id.uuidString.lowercased()),
                    "type": .string(type),
                ])
        }
    }

    public func messages(
        of webhook: WebhookReference, before: UUID?, limit: Int
    ) async throws -> [RecordedMessage] {
        try await read(webhook.tenant) { transaction in
            _ = try await transaction.known(webhook.id)
            return try await transaction.execute(
                """
                SELECT message_id, type, state, created_at, due_at, attempts FROM doorstep.webhook_messages
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                    AND (\(before)::uuid IS NULL OR message_id < \(before))
                ORDER BY message_id DESC LIMIT \(limit)
                """
            ).map { try RecordedMessage(row: $0) }
        }
    }

    public func message(_ id: UUID, of webhook: WebhookReference) async throws -> LoggedMessage? {
        try await read(webhook.tenant) { transaction in
            _ = try await transaction.known(webhook.id)
            let row = try await transaction.execute(
                """
                SELECT message_id, type, state, created_at, due_at, attempts, body FROM doorstep.webhook_messages
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                    AND message_id = \(id)
                """
            ).first
            guard let row else { return nil }
            let responses = try await transaction.execute(
                """
                SELECT at, body FROM doorstep.webhook_responses
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                    AND message_id = \(id)
                """
            ).map { try $0.decode(String.self, [UInt8].self) }
            let message = try RecordedMessage(
                row: row, responses: Dictionary(responses, uniquingKeysWith: { $1 }))
            return LoggedMessage(message: message, body: try row.decode(at: 6))
        }
    }

    public func replay(
        _ selection: ReplaySelection, of webhook: WebhookReference, by actor: String
    ) async throws -> (count: Int, last: UUID?) {
        try await write(webhook.tenant, by: actor) { transaction in
            try await transaction.requireEnabled(webhook.id)
            let ids = try await transaction.execute(
                """
                UPDATE doorstep.webhook_messages
                SET state = 'waiting',
                    -- One that is lent is due when its lease ends: it must not be lent twice.
                    due_at = CASE WHEN state = 'waiting'
                            AND due_at <= now() + make_interval(secs => \(WebhookDispatcher.lease / .seconds(1)))
                        THEN due_at ELSE now() END,
                    queued_at = CASE WHEN state = 'waiting' THEN queued_at ELSE now() END,
                    attempt = CASE WHEN state = 'waiting' THEN attempt ELSE 0 END
                -- The selection again: a message that was taken since it was chosen is not sent again.
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid) AND \(selection)
                    AND message_id IN (
                        SELECT message_id FROM doorstep.webhook_messages
                        WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                            AND \(selection)
                        ORDER BY message_id LIMIT \(ReplaySelection.limit))
                RETURNING message_id
                """
            ).map { try $0.decode(at: 0, as: UUID.self) }
            if ids.isEmpty, case .message = selection { throw WebhookRefusal.unknownMessage }
            if !ids.isEmpty {
                try await transaction.record(
                    .update, "webhook_messages", before: selection.json,
                    after: [
                        "webhook_id": .string("\(webhook.id)"), "state": "waiting",
                        "count": JSONValue(ids.count),
                    ])
            }
            let isAll = ids.count < ReplaySelection.limit
            return (ids.count, isAll ? nil : ids.max { $0.uuidString < $1.uuidString })
        }
    }

    // MARK: Transactions

    /// Requests wait for the database for less time than commands.
    private static let timeout = Duration.seconds(30)

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        let mode = TransactionMode(isReadOnly: true, statementTimeout: Self.timeout)
        return try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: role, mode, body)
        }
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, by actor: String, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        let mode = TransactionMode(isReadOnly: isReadOnly, statementTimeout: Self.timeout)
        return try await reportingUnavailability {
            do {
                return try await pool.withTenantTransaction(tenant, as: role, actor: actor, mode) {
                    transaction in
                    try await transaction.limitLockWaits()
                    return try await body(transaction)
                }
            } catch let error as PostgreSQLError where isReadOnly && error.isReadOnlyTransaction {
                throw ReadOnlyAccess()
            }
        }
    }
}

extension TenantTransaction {
    fileprivate func webhook(_ id: WebhookID) async throws -> RegisteredWebhook? {
        try await execute(
            """
            SELECT \(unsafeSQL: RegisteredWebhook.columns) FROM doorstep.webhooks AS w
            WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(id.uuid)
            """
        ).first.map { try RegisteredWebhook(row: $0) }
    }

    /// - Throws: ``WebhookRefusal/unknownWebhook``.
    fileprivate func known(_ id: WebhookID) async throws -> RegisteredWebhook {
        guard let webhook = try await webhook(id) else { throw WebhookRefusal.unknownWebhook }
        return webhook
    }

    /// Locks a webhook, so that it does not change until the transaction ends.
    /// - Throws: ``WebhookRefusal/unknownWebhook``.
    fileprivate func locked(_ id: WebhookID, for strength: String) async throws -> RegisteredWebhook {
        try await execute(
            """
            SELECT FROM doorstep.webhooks
            WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(id.uuid) FOR \(unsafeSQL: strength)
            """)
        return try await known(id)
    }

    /// Requires an enabled webhook, and locks it, so that it stays enabled until the transaction ends.
    /// - Throws: ``WebhookRefusal/webhookDisabled``.
    fileprivate func requireEnabled(_ id: WebhookID) async throws {
        let row = try await execute(
            """
            SELECT disabled_at IS NULL FROM doorstep.webhooks
            WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(id.uuid) FOR NO KEY UPDATE
            """
        ).first
        guard let row else { throw WebhookRefusal.unknownWebhook }
        guard try row.decode(at: 0, as: Bool.self) else { throw WebhookRefusal.webhookDisabled }
    }
}

extension Query.StringInterpolation {
    /// The condition of the messages to send now.
    fileprivate mutating func appendInterpolation(_ selection: ReplaySelection) {
        switch selection {
        case .message(let id):
            appendLiteral("message_id = ")
            appendInterpolation(id)
        case .since(let start, let state, let last):
            appendLiteral("created_at >= ")
            appendInterpolation(start)
            if let state {
                appendLiteral(" AND state = ")
                appendInterpolation(state.rawValue)
            }
            if let last {
                appendLiteral(" AND message_id > ")
                appendInterpolation(last)
            }
        }
    }
}

extension RegisteredWebhook {
    /// The columns of a webhook `w`.
    fileprivate static let columns = """
        webhook_id, name, url, events, created_at, failing_since, disabled_at, disabled_reason,
        (SELECT count(*) FROM (
            SELECT FROM doorstep.webhook_messages AS m
            WHERE m.tenant_id = w.tenant_id AND m.webhook_id = w.webhook_id AND m.due_at IS NOT NULL
            LIMIT \(RegisteredWebhook.countLimit)) AS m),
        CASE WHEN previous_secret_ends_at > now() THEN previous_secret_ends_at END
        """

    /// Reads the columns in ``columns``.
    fileprivate init(row: Row) throws {
        let (id, name, url, events, createdAt, failingSince, disabledAt, reason, waitingCount, endsAt) =
            try row.decode(
                UUID.self, String?.self, String.self, [String].self, Date.self, Date?.self, Date?.self,
                String?.self, Int.self, Date?.self)
        self = try PersistenceError.reading("webhooks") {
            RegisteredWebhook(
                id: WebhookID(id), name: try name.map { text in try DisplayName(stored: text) },
                url: try WebhookURL(url),
                events: Set(events.compactMap(WebhookEvent.init(rawValue:))), createdAt: createdAt,
                failingSince: failingSince,
                switchOff: disabledAt.map { SwitchOff(at: $0, reason: reason ?? "") },
                waitingCount: waitingCount, previousSecretEndsAt: endsAt)
        }
    }
}

extension RecordedMessage {
    /// Reads the first six columns.
    /// - Parameter responses: The stored responses by the times of their attempts.
    fileprivate init(row: Row, responses: [String: [UInt8]] = [:]) throws {
        let (id, type, state): (UUID, String, String) = try (
            row.decode(at: 0), row.decode(at: 1), row.decode(at: 2)
        )
        let (createdAt, dueAt, attempts): (Date, Date?, JSONText) = try (
            row.decode(at: 3), row.decode(at: 4), row.decode(at: 5)
        )
        self = try PersistenceError.reading("webhook_messages") {
            guard let state = State(rawValue: state),
                let attempts = try JSONValue(parsing: attempts.text.utf8).arrayValue
            else { throw PersistenceError.unreadable("webhook_messages") }
            return RecordedMessage(
                id: id, type: type, state: state, createdAt: createdAt, dueAt: dueAt,
                attempts: try attempts.map { stored in
                    let time = stored.objectValue?["at"]?.stringValue ?? ""
                    return try WebhookAttempt(stored).with(response: responses[time] ?? [])
                })
        }
    }
}
