import Administration
import Formats
public import Foundation
public import Notifications
public import PostgreSQL
public import Tenancy

/// All deliveries of a tenant in PostgreSQL, to find dead letters and retry them.
///
/// The role is `doorstep_admin` for operators, and `doorstep_manager` for a tenant's keys. An ID begins with the time of its
/// notification, so that IDs sort by time. Deliveries therefore have an index by ID, and none by time.
public struct PostgresDeliveryLedger: DeliveryLedger {
    private let pool: ConnectionPool
    private let role: DatabaseRole
    /// The statement timeout; nil for the pool's timeout.
    private let statementTimeout: Duration?
    /// The actor in the audit log.
    private let actor: String
    /// Whether the database refuses all changes. A change then throws `ReadOnlyAccess`.
    private let isReadOnly: Bool

    /// - Parameter actor: The actor in the audit log; empty for the login.
    public init(_ pool: ConnectionPool, actor: String = "", isReadOnly: Bool = false) {
        self.pool = pool
        self.actor = actor
        self.isReadOnly = isReadOnly
        role = .admin
        statementTimeout = nil
    }

    /// Creates a ledger for a tenant's keys. A request waits at most 30 seconds.
    public init(managing pool: ConnectionPool) {
        self.pool = pool
        actor = ""
        isReadOnly = false
        role = .manager
        statementTimeout = .seconds(30)
    }

    /// For keys, an unreachable database causes `StoreUnavailable`. Operators get PostgreSQL's own error.
    private func answering<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        role == .manager ? try await reportingUnavailability(body) : try await body()
    }

    private func reading<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        let mode = TransactionMode(isReadOnly: true, statementTimeout: statementTimeout)
        return try await answering {
            try await pool.withTenantTransaction(tenant, as: role, mode) { try await body($0) }
        }
    }

    public func deliveries(
        _ selection: DeliverySelection, of tenant: TenantID, before last: DeliveryID? = nil, limit: Int
    ) async throws -> [ListedDelivery] {
        // An ID contains the time of its notification. An ID without a time belongs to no delivery.
        let createdAt = last.map { $0.uuid.time ?? .distantPast } ?? .distantFuture
        return try await reading(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT d.delivery_id, d.instance_id, d.token_kind, d.token_name, d.environment, d.target, d.state, d.reason,
                    (SELECT n.payload FROM doorstep.notifications n
                        WHERE n.tenant_id = d.tenant_id AND n.created_at = d.created_at
                            AND n.notification_id = d.notification_id) AS payload,
                    d.expires_at, d.attempt, d.due_at, d.finished_at, d.answers::text, d.warnings::text,
                    d.notification_id, d.created_at
                FROM doorstep.deliveries d
                WHERE d.tenant_id = \(tenant.uuid) AND d.created_at <= \(createdAt)
                    AND d.delivery_id < \(last?.uuid ?? .highest) AND \(selection)
                ORDER BY d.delivery_id DESC LIMIT \(limit)
                """
            ).map { row in
                var delivery = try RecordedDelivery(row: row)
                let payload: [UInt8]? = try row.decode("payload")
                delivery.setTarget(ofPayload: payload)
                return ListedDelivery(
                    notification: NotificationID(try row.decode("notification_id", as: UUID.self)),
                    createdAt: try row.decode("created_at", as: Date.self),
                    delivery: delivery)
            }
        }
    }

    public func counts(
        _ selection: DeliverySelection, of tenant: TenantID, limit: Int
    ) async throws -> [DeliveryCount] {
        let rows = try await reading(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT state, reason, count(*) FROM (
                    SELECT d.state, d.reason FROM doorstep.deliveries d
                    WHERE d.tenant_id = \(tenant.uuid) AND \(selection)
                    ORDER BY d.delivery_id DESC LIMIT \(limit)) AS newest
                GROUP BY state, reason ORDER BY count(*) DESC, state, reason
                """
            ).map { try $0.decode(String.self, String?.self, Int.self) }
        }
        return try rows.map { state, reason, count in
            guard let state = DeliveryState(rawValue: state) else {
                throw PersistenceError.unreadable("deliveries")
            }
            return DeliveryCount(state: state, reason: reason, count: count)
        }
    }

    public func retriable(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date, upTo limit: Int
    ) async throws -> Int {
        try await reading(tenant) {
            try await $0.execute(
                """
                SELECT count(*) FROM (
                    SELECT FROM doorstep.deliveries d
                    WHERE d.tenant_id = \(tenant.uuid) AND \(retriableAt: now) AND \(selection)
                    LIMIT \(limit)) AS counted
                """
            ).one().decode(at: 0)
        }
    }

    public func retry(
        _ selection: DeliverySelection, of tenant: TenantID, at now: Date, expecting expected: Int?,
        upTo limit: Int?, by actor: String?
    ) async throws -> RetryCounts {
        let mode = TransactionMode(isReadOnly: isReadOnly, statementTimeout: statementTimeout)
        do {
            return try await answering {
                try await pool.withTenantTransaction(tenant, as: role, actor: actor ?? self.actor, mode) {
                    transaction in
                    let counts = try await transaction.retry(selection, at: now, upTo: limit)
                    guard expected == nil || expected == counts.queued else { throw OtherDeliveries(counts) }
                    if counts.queued > 0 {
                        try await transaction.record(
                            .update, "deliveries", before: selection.json,
                            after: ["state": "queued", "count": JSONValue(counts.queued)])
                    }
                    return counts
                }
            }
        } catch let error as PostgreSQLError where isReadOnly && error.isReadOnlyTransaction {
            throw ReadOnlyAccess()
        }
    }

    public func notification(of delivery: DeliveryID, of tenant: TenantID) async throws -> NotificationID? {
        // Both IDs have the time of the notification.
        guard let createdAt = delivery.uuid.time else { return nil }
        return try await reading(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT notification_id FROM doorstep.deliveries
                WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt)
                    AND delivery_id = \(delivery.uuid)
                """
            ).first.map { NotificationID(try $0.decode(at: 0)) }
        }
    }

    public func hasNotificationOrDelivery(_ id: UUID, of tenant: TenantID) async throws -> Bool {
        guard let createdAt = id.time else { return false }
        return try await reading(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT EXISTS (
                    SELECT FROM doorstep.notifications
                    WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id)
                ) OR EXISTS (
                    SELECT FROM doorstep.deliveries
                    WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND delivery_id = \(id))
                """
            ).one().decode(at: 0)
        }
    }
}

extension TenantTransaction {
    fileprivate func retry(
        _ selection: DeliverySelection, at now: Date, upTo limit: Int?
    ) async throws -> RetryCounts {
        let (ended, dead, retriable) = try await execute(
            """
            SELECT count(*), count(*) FILTER (WHERE d.reason = ANY(\(DeliveryVerdict.deadTokenReasons))),
                count(*) FILTER (WHERE \(retriableAt: now))
            FROM doorstep.deliveries d
            WHERE d.tenant_id = \(tenant.uuid) AND \(isDeadLetter: "d") AND \(selection)
            """
        ).one().decode(Int.self, Int.self, Int.self)
        // Skips locked rows, which belong to another retry. Waiting for them in any order could cause a deadlock.
        let queued = try await execute(
            """
            WITH chosen AS (
                SELECT d.created_at, d.delivery_id FROM doorstep.deliveries d
                WHERE d.tenant_id = \(tenant.uuid) AND \(retriableAt: now) AND \(selection)
                LIMIT \(limit) FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE doorstep.deliveries d
            SET state = 'queued', due_at = now(), finished_at = NULL, lost_replies = 0
            FROM chosen
            WHERE d.tenant_id = \(tenant.uuid) AND d.created_at = chosen.created_at
                AND d.delivery_id = chosen.delivery_id
            """
        ).affectedRows
        return RetryCounts(
            queued: queued, tooLate: ended - dead - retriable, tokenDead: dead, hasMore: retriable > queued)
    }
}

extension DeliverySelection {
    /// The selection in the audit log. Of many IDs, it contains only the first ones.
    fileprivate var json: JSONObject {
        var json: JSONObject = [:]
        if !ids.isEmpty { json["delivery_ids"] = .array(ids.prefix(100).map { .string($0.description) }) }
        if let state { json["state"] = .string(state.rawValue) }
        if let reason { json["reason"] = .string(reason) }
        if let since { json["since"] = JSONValue(since) }
        return json
    }
}

extension Query.StringInterpolation {
    /// The condition that a delivery is a dead letter. It consists of literals, so that every plan can use the index of dead letters.
    fileprivate mutating func appendInterpolation(isDeadLetter delivery: String) {
        let states = DeliveryState.retriable.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        appendLiteral("\(delivery).state IN (\(states))")
    }

    /// The condition that a delivery `d` is a dead letter that can still be sent: its token is not dead, its notification was not
    /// cancelled, and it has not expired.
    fileprivate mutating func appendInterpolation(retriableAt now: Date) {
        appendInterpolation(isDeadLetter: "d")
        appendLiteral(" AND (d.reason IS NULL OR d.reason <> ALL(")
        appendInterpolation(DeliveryVerdict.deadTokenReasons)
        appendLiteral(
            """
            )) AND NOT EXISTS (
                SELECT FROM doorstep.notifications n
                WHERE n.tenant_id = d.tenant_id AND n.created_at = d.created_at
                    AND n.notification_id = d.notification_id AND n.cancelled_at IS NOT NULL)
            """)
        appendLiteral(" AND CASE WHEN d.expires_at IS NULL THEN d.created_at > ")
        appendInterpolation(now.addingTimeInterval(-DeliveryVerdict.lifetime))
        appendLiteral(" ELSE d.expires_at > ")
        appendInterpolation(now)
        appendLiteral(" END")
    }

    /// The condition of a selection of deliveries `d`.
    fileprivate mutating func appendInterpolation(_ selection: DeliverySelection) {
        // This condition selects the tenant's index.
        appendLiteral("d.token_kind <> ''")
        if !selection.ids.isEmpty {
            appendLiteral(" AND (d.created_at, d.delivery_id) IN (SELECT * FROM unnest(")
            // An ID without a time belongs to no day.
            appendInterpolation(selection.ids.map { $0.uuid.time ?? .distantPast })
            appendLiteral(", ")
            appendInterpolation(selection.ids.map(\.uuid))
            appendLiteral("))")
        }
        if let state = selection.state {
            appendLiteral(" AND d.state = ")
            appendInterpolation(state.rawValue)
        }
        if let reason = selection.reason {
            appendLiteral(" AND d.reason = ")
            appendInterpolation(reason)
        }
        if let since = selection.since {
            appendLiteral(" AND d.created_at >= ")
            appendInterpolation(since)
        }
    }
}
