import Formats
import Foundation
public import Notifications
public import PostgreSQL
import Tenancy

/// Stores the messages for webhooks in PostgreSQL. The role is `doorstep_app`. Webhooks with due messages are found with the role
/// `doorstep_router`.
public struct PostgresWebhookStore: WebhookStore {
    private let pool: ConnectionPool
    private let keys: SealingKeys

    public init(_ pool: ConnectionPool, keys: SealingKeys) {
        self.pool = pool
        self.keys = keys
    }

    public func webhooksWithDueMessages(
        limit: Int, excluding: [WebhookReference]
    ) async throws -> [WebhookReference] {
        try await pool.withTransaction(as: .router) { transaction in
            // Skips from webhook to webhook in the index, so that the number of messages does not matter.
            try await transaction.execute(
                """
                WITH RECURSIVE w (tenant_id, webhook_id) AS (
                    (SELECT tenant_id, webhook_id FROM doorstep.webhook_messages
                        WHERE due_at IS NOT NULL ORDER BY tenant_id, webhook_id LIMIT 1)
                    UNION ALL
                    SELECT n.tenant_id, n.webhook_id
                    FROM w CROSS JOIN LATERAL (
                        SELECT m.tenant_id, m.webhook_id FROM doorstep.webhook_messages m
                        WHERE m.due_at IS NOT NULL AND (m.tenant_id, m.webhook_id) > (w.tenant_id, w.webhook_id)
                        ORDER BY m.tenant_id, m.webhook_id LIMIT 1) AS n
                )
                SELECT tenant_id, webhook_id FROM w
                WHERE webhook_id <> ALL (\(excluding.map(\.id.uuid))) AND EXISTS (
                    SELECT FROM doorstep.webhook_messages m
                    WHERE m.tenant_id = w.tenant_id AND m.webhook_id = w.webhook_id AND m.due_at <= now())
                ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY random()), random() LIMIT \(limit)
                """
            ).map { row in
                let (tenant, id) = try row.decode(UUID.self, UUID.self)
                return WebhookReference(WebhookID(id), of: TenantID(tenant))
            }
        }
    }

    public func claim(
        of webhook: WebhookReference, limit: Int, lease: Duration, maximumAge: Duration
    ) async throws -> WebhookClaim? {
        try await pool.withTenantTransaction(webhook.tenant, as: .app) { transaction in
            let row = try await transaction.execute(
                """
                SELECT \(unsafeSQL: Webhook.columns), disabled_at IS NOT NULL FROM doorstep.webhooks
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                """
            ).first
            guard let row else { return nil }
            let (url, sealed, previous, isDisabled) = try row.decode(
                String.self, [UInt8].self, [UInt8]?.self, Bool.self)
            if isDisabled {
                let count = try await transaction.giveUpMessages(of: webhook.id)
                return WebhookClaim(webhook: nil, messages: [], outdatedCount: count)
            }
            let receiver = try Webhook(url, sealed, previous, openedBy: keys.of(webhook.tenant))
            let rows = try await transaction.execute(
                """
                WITH due AS (
                    SELECT message_id,
                        queued_at < now() - make_interval(secs => \(maximumAge / .seconds(1))) AS is_over
                    FROM doorstep.webhook_messages
                    WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                        AND due_at <= now()
                    ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
                ), given_up AS (
                    UPDATE doorstep.webhook_messages m SET state = 'given_up', due_at = NULL
                    FROM due
                    WHERE m.tenant_id = \(webhook.tenant.uuid) AND m.webhook_id = \(webhook.id.uuid)
                        AND m.message_id = due.message_id AND due.is_over
                ), lent AS (
                    UPDATE doorstep.webhook_messages m
                    SET due_at = now() + make_interval(secs => \(lease / .seconds(1))), attempt = attempt + 1
                    FROM due
                    WHERE m.tenant_id = \(webhook.tenant.uuid) AND m.webhook_id = \(webhook.id.uuid)
                        AND m.message_id = due.message_id AND NOT due.is_over
                    RETURNING m.message_id, m.body, m.attempt, m.trace_context
                )
                SELECT due.message_id, lent.body, lent.attempt, lent.trace_context FROM due LEFT JOIN lent USING (message_id)
                WHERE due.is_over OR lent.message_id IS NOT NULL
                """)
            let messages = try rows.compactMap { row in
                let (id, body, attempt, trace) = try row.decode(
                    UUID.self, [UInt8]?.self, Int16?.self, String?.self)
                return body.flatMap { body in
                    attempt.map {
                        WebhookMessage(
                            id: id, body: body, attempt: Int($0),
                            trace: trace.flatMap(TraceContext.init(stored:)))
                    }
                }
            }
            return WebhookClaim(
                webhook: receiver, messages: messages, outdatedCount: rows.count - messages.count)
        }
    }

    public func record(
        _ attempt: WebhookAttempt, at message: WebhookMessage, of webhook: WebhookReference,
        to url: WebhookURL, again pause: Duration?, patience: Duration
    ) async throws -> RecordedAttempt {
        try await pool.withTenantTransaction(webhook.tenant, as: .app) { transaction in
            try await transaction.limitLockWaits()
            let state: RecordedMessage.State =
                attempt.reply.isTaken ? .taken : pause == nil ? .givenUp : .waiting
            let stored = JSONValue.object(attempt.json).text
            // Locks the webhook before its messages, as do the transactions that disable or delete it. Otherwise two transactions
            // could wait for each other.
            let row = try await transaction.execute(
                """
                WITH w AS (
                    SELECT url = \(url.text) AS has_url, url = \(url.text) OR \(attempt.reply.isTaken) AS is_settled
                    FROM doorstep.webhooks
                    WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                    FOR NO KEY UPDATE)
                UPDATE doorstep.webhook_messages AS m
                SET state = CASE WHEN w.is_settled THEN \(state.rawValue) ELSE 'waiting' END,
                    due_at = CASE WHEN w.is_settled
                        THEN now() + make_interval(secs => \(pause.map { $0 / .seconds(1) })) ELSE now() END,
                    attempts = CASE WHEN jsonb_array_length(attempts) < \(Self.maximumAttempts)::integer
                        THEN attempts ELSE attempts - 0 END || \(stored)::jsonb
                FROM w
                WHERE m.tenant_id = \(webhook.tenant.uuid) AND m.webhook_id = \(webhook.id.uuid)
                    AND message_id = \(message.id) AND attempt = \(message.attempt) AND state = 'waiting'
                RETURNING w.has_url
                """
            ).first
            if row != nil { try await transaction.keep(attempt, at: message, of: webhook.id) }
            guard let row, try row.decode(at: 0, as: Bool.self) else { return .outdated }
            let isSwitchedOff = try await transaction.note(attempt, of: webhook.id, patience: patience)
            return isSwitchedOff ? .switchedOff : .current
        }
    }

    /// The number of last attempts that the log keeps for each message. [ours]
    private static let maximumAttempts = 32

    public func giveBack(_ message: WebhookMessage, of webhook: WebhookReference) async throws {
        try await pool.withTenantTransaction(webhook.tenant, as: .app) { transaction in
            _ = try await transaction.execute(
                """
                UPDATE doorstep.webhook_messages SET due_at = now(), attempt = attempt - 1
                WHERE tenant_id = \(webhook.tenant.uuid) AND webhook_id = \(webhook.id.uuid)
                    AND message_id = \(message.id) AND attempt = \(message.attempt) AND state = 'waiting'
                """)
        }
    }
}

extension Query.StringInterpolation {
    /// Whether a webhook or a listener of the tenant receives an event.
    mutating func appendInterpolation(wanted event: WebhookEvent, of tenant: TenantID) {
        appendLiteral("(EXISTS (SELECT FROM doorstep.event_recordings WHERE ends_at > now() AND tenant_id = ")
        appendInterpolation(tenant.uuid)
        appendLiteral(") OR EXISTS (SELECT FROM doorstep.webhooks WHERE tenant_id = ")
        appendInterpolation(tenant.uuid)
        appendLiteral(" AND disabled_at IS NULL AND ")
        appendInterpolation(event.rawValue)
        appendLiteral(" = ANY (events)))")
    }
}

extension TenantTransaction {
    /// Creates messages for the tenant's webhooks that receive the event, unless too many messages wait
    /// (``WebhookEvent/waitingLimit``), and records them for listeners (``EventLog``).
    ///
    /// The transaction must have a short `lock_timeout`, because a webhook may be in use.
    func tell(_ event: WebhookEvent, _ messages: [WebhookMessage]) async throws {
        guard !messages.isEmpty else { return }
        try await execute(
            """
            WITH m (id, body) AS (
                SELECT id, convert_to(body, 'UTF8')
                FROM unnest(\(messages.map(\.id)), \(messages.map { String(decoding: $0.body, as: UTF8.self) }))
                    AS m (id, body)
            ), recorded AS (
                INSERT INTO doorstep.events (tenant_id, message_id, type, body)
                SELECT r.tenant_id, m.id, \(event.rawValue), m.body
                FROM (
                    SELECT tenant_id FROM doorstep.event_recordings
                    WHERE tenant_id = \(tenant.uuid) AND ends_at > now() FOR KEY SHARE) AS r, m
                WHERE \(EventRecording.limit)::bigint > (
                    SELECT count(*) FROM (
                        SELECT FROM doorstep.events WHERE tenant_id = \(tenant.uuid)
                        LIMIT \(EventRecording.limit)::bigint) AS e)
            )
            INSERT INTO doorstep.webhook_messages (tenant_id, webhook_id, message_id, type, body, due_at)
            SELECT w.tenant_id, w.webhook_id, m.id, \(event.rawValue), m.body, now()
            -- Locked, so that one that is being deleted is waited for and left out, in place of failing the rest.
            FROM (
                SELECT tenant_id, webhook_id FROM doorstep.webhooks AS w
                WHERE tenant_id = \(tenant.uuid) AND disabled_at IS NULL AND \(event.rawValue) = ANY (events)
                    AND (\(event.waitingLimit)::bigint IS NULL OR \(event.waitingLimit)::bigint > (
                        SELECT count(*) FROM (
                            SELECT FROM doorstep.webhook_messages AS m
                            WHERE m.tenant_id = w.tenant_id AND m.webhook_id = w.webhook_id
                                AND m.due_at IS NOT NULL
                            LIMIT \(event.waitingLimit)::bigint) AS m))
                FOR KEY SHARE) AS w, m
            """)
    }

    /// Stores the response of an attempt, and deletes the webhook's oldest responses beyond ``WebhookAttempt/maximumResponses``.
    /// The webhook must be locked.
    fileprivate func keep(
        _ attempt: WebhookAttempt, at message: WebhookMessage, of webhook: WebhookID
    ) async throws {
        guard !attempt.response.isEmpty, let at = attempt.json["at"]?.stringValue else { return }
        try await execute(
            """
            WITH added AS (
                INSERT INTO doorstep.webhook_responses (tenant_id, webhook_id, number, message_id, at, body)
                SELECT \(tenant.uuid), \(webhook.uuid), coalesce((
                        SELECT number FROM doorstep.webhook_responses
                        WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid)
                        ORDER BY number DESC LIMIT 1), 0) + 1, \(message.id), \(at), \(attempt.response)
                RETURNING number)
            DELETE FROM doorstep.webhook_responses AS r USING added
            WHERE r.tenant_id = \(tenant.uuid) AND r.webhook_id = \(webhook.uuid)
                AND r.number <= added.number - \(WebhookAttempt.maximumResponses)
            """)
    }

    /// Stores since when a webhook fails. Disables the webhook if it has failed for `patience`, or if its endpoint is gone (410).
    /// - Returns: Whether it was disabled.
    fileprivate func note(
        _ attempt: WebhookAttempt, of webhook: WebhookID, patience: Duration
    ) async throws -> Bool {
        guard !attempt.reply.isTaken else {
            try await execute(
                """
                UPDATE doorstep.webhooks SET failing_since = NULL
                WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid) AND failing_since IS NOT NULL
                """)
            return false
        }
        try await execute(
            """
            UPDATE doorstep.webhooks SET failing_since = \(attempt.at)
            WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid) AND failing_since IS NULL
            """)
        let row = try await execute(
            """
            UPDATE doorstep.webhooks SET disabled_at = now(), disabled_reason = \(attempt.reply.failure)
            WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid) AND disabled_at IS NULL
                AND (\(attempt.reply.isGone)
                    OR failing_since < now() - make_interval(secs => \(patience / .seconds(1))))
            RETURNING url, failing_since, disabled_at
            """
        ).first
        guard let row else { return false }
        let (url, failingSince, disabledAt) = try row.decode(String.self, Date.self, Date.self)
        try await giveUpMessages(of: webhook)
        try await tell(
            .webhookDisabled,
            [
                WebhookMessage(
                    WebhookEvent.webhookDisabled.rawValue,
                    [
                        "webhook": .string(webhook.description), "url": .string(url),
                        "failingSince": JSONValue(failingSince), "disabledAt": JSONValue(disabledAt),
                        "reason": .string(attempt.reply.failure),
                    ], at: disabledAt)
            ])
        return true
    }

    /// Limits the wait for each lock to two seconds [ours], because tenants share few connections.
    func limitLockWaits() async throws {
        try await execute("SELECT set_config('lock_timeout', '2s', true)")
    }

    /// Gives up waiting messages of a disabled webhook, at most ``RegisteredWebhook/messagesAtOnce``. If more messages wait, makes
    /// them due at once, so that a server finds the webhook and gives up the next messages.
    /// - Returns: The number of messages that were given up.
    @discardableResult
    func giveUpMessages(of webhook: WebhookID) async throws -> Int {
        let count = try await execute(
            """
            UPDATE doorstep.webhook_messages SET state = 'given_up', due_at = NULL
            WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid) AND message_id = ANY (ARRAY(
                SELECT message_id FROM doorstep.webhook_messages
                WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid) AND due_at IS NOT NULL
                ORDER BY due_at LIMIT \(RegisteredWebhook.messagesAtOnce) FOR UPDATE SKIP LOCKED))
            """
        ).affectedRows
        guard count == RegisteredWebhook.messagesAtOnce else { return count }
        try await execute(
            """
            UPDATE doorstep.webhook_messages SET due_at = now()
            WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid) AND message_id = ANY (ARRAY(
                SELECT message_id FROM doorstep.webhook_messages
                WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(webhook.uuid) AND due_at > now()
                ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED))
            """)
        return count
    }
}

extension RegisteredWebhook {
    /// The maximum number of messages that one transaction gives up or deletes, so that other transactions wait only briefly. [ours]
    static let messagesAtOnce = 1_000
}

extension WebhookReply {
    /// The reason why a webhook was disabled, in at most 200 characters.
    fileprivate var failure: String {
        isGone
            ? "it responded with status 410 Gone"
            : String(
                "it has failed for \(WebhookSchedule.patienceDays) days; last failure: \(self)".prefix(
                    200))
    }
}

extension Webhook {
    static let place = ["webhooks"]

    /// The URL, the sealed secret and, during an overlap, the sealed previous secret.
    static let columns = """
        url, sealed_secret, CASE WHEN previous_secret_ends_at > now() THEN previous_sealed_secret END
        """

    /// If none of the keys decrypts the previous secret, it is left out, because receivers must know the new secret anyway.
    /// - Throws: ``PersistenceError/sealed(_:)`` if none of the keys decrypts the new secret.
    init(_ url: String, _ sealed: [UInt8], _ previous: [UInt8]?, openedBy keys: TenantSealingKeys) throws {
        guard let opened = keys.open(sealed, at: Self.place) else {
            throw PersistenceError.sealed("webhooks")
        }
        self = try PersistenceError.reading("webhooks") {
            guard let secret = WebhookSecret(opened) else { throw PersistenceError.unreadable("webhooks") }
            return Webhook(
                url: try WebhookURL(url), secret: secret,
                previousSecret: previous.flatMap { keys.open($0, at: Self.place) }.flatMap {
                    WebhookSecret($0)
                })
        }
    }
}
