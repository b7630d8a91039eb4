import Formats
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

extension TenantTransaction {
    /// Writes the results of attempts, retires dead tokens and creates the webhook messages.
    /// - Returns: The number of deliveries whose lease still belonged to the attempt.
    func record(_ completions: [Completion]) async throws -> Int {
        let (completed, hasWebhook) = try await complete(completions)
        let dead = completions.compactMap(DeadToken.init)
        if !dead.isEmpty { try await retire(dead) }
        let retried = completions.filter { $0.verdict.next.wait != nil }
        if !retried.isEmpty { try await endCancelled(retried) }
        if hasWebhook {
            try await tell(
                completions.filter { completed.contains($0.delivery.id.uuid) }.compactMap(OutcomeEvent.init),
                from: completions.map(\.delivery.notification.createdAt).bounds)
        }
        return completed.count
    }

    /// - Returns: The deliveries whose lease still belonged to the attempt, and whether a webhook receives them.
    fileprivate func complete(
        _ completions: [Completion]
    ) async throws -> (completed: Set<UUID>, hasWebhook: Bool) {
        let (first, last) = completions.map(\.delivery.notification.createdAt).bounds
        let ids = completions.map(\.delivery.id.uuid)
        let rows = try await execute(
            """
            UPDATE doorstep.deliveries d
            SET state = c.state, reason = nullif(c.reason, ''),
                -- An attempt that is late does not know those that were lost after it.
                lost_replies = greatest(d.lost_replies, least(c.lost_replies, d.attempt)),
                due_at = CASE c.state WHEN 'queued' THEN now() + make_interval(secs => c.wait) END,
                finished_at = CASE WHEN c.state <> 'queued' THEN now() END,
                answers = CASE WHEN c.answer = '' THEN d.answers ELSE
                    CASE WHEN jsonb_array_length(d.answers) < \(Self.maximumResponses)::integer THEN d.answers
                        ELSE d.answers - 1 END || c.answer::jsonb END
            FROM unnest(\(ids), \(completions.map { Int16(clamping: $0.delivery.attempt) }),
                \(completions.map(\.verdict.next.state.rawValue)), \(completions.map { $0.verdict.reason ?? "" }),
                \(completions.map { $0.verdict.next.wait ?? 0 }),
                \(completions.map { Int16(clamping: $0.verdict.lostReplies) }),
                \(completions.map { $0.response?.stored.text ?? "" }))
                AS c (delivery_id, attempt, state, reason, wait, lost_replies, answer)
            WHERE d.tenant_id = \(tenant.uuid) AND d.delivery_id = ANY(\(ids))
                AND d.created_at >= \(first) AND d.created_at <= \(last) AND d.delivery_id = c.delivery_id
                AND CASE WHEN d.state = 'sending' AND d.attempt = c.attempt THEN true
                    -- What APNs has taken it has taken, however late that is known here.
                    ELSE c.state = 'delivered' AND d.state IN ('queued', 'sending', 'uncertain') END
            RETURNING d.delivery_id, \(wanted: .deliveryFinished, of: tenant)
            """)
        let returned = try rows.map { try $0.decode(UUID.self, Bool.self) }
        return (Set(returned.map(\.0)), returned.first?.1 ?? false)
    }

    /// If a delivery has very many attempts, only the first response and the last ones are kept.
    private static var maximumResponses: Int { 64 }

    /// Retires dead tokens, unless they have been registered again or replaced meanwhile.
    fileprivate func retire(_ tokens: [DeadToken]) async throws {
        // One statement for each key, because the planner may use an array as a filter instead of an index condition. The order is
        // the one in which all transactions lock several tokens.
        let ordered = tokens.sorted {
            ($0.instance.description, $0.place.kind, $0.place.name)
                < ($1.instance.description, $1.place.kind, $1.place.name)
        }
        for token in ordered {
            let since = token.since ?? .distantFuture
            try await execute(
                """
                UPDATE doorstep.push_tokens
                SET retired_at = CASE \(since)::timestamptz WHEN 'infinity' THEN now() ELSE \(since) END
                WHERE tenant_id = \(tenant.uuid) AND instance_id = \(token.instance.uuid)
                    AND kind = \(token.place.kind) AND name = \(token.place.name) AND digest = \(token.digest)
                    AND retired_at IS NULL AND registered_at <= \(since)
                """)
        }
    }

    /// Finishes deliveries that must not be sent, because their notification was cancelled or their clip was deleted.
    ///
    /// A leased delivery of a cancelled notification loses the attempt that the lease has counted.
    /// - Parameters:
    ///   - notifications: The notifications of the deliveries.
    ///   - times: The times of the first and the last notification.
    func end(
        _ deliveries: [UUID], of notifications: Set<UUID>, from times: (first: Date, last: Date)
    ) async throws {
        let ended = try await execute(
            """
            UPDATE doorstep.deliveries d
            SET state = CASE WHEN d.lost_replies > 0 THEN 'uncertain'
                    WHEN n.cancelled_at IS NULL THEN 'refused' ELSE 'expired' END,
                reason = CASE WHEN n.cancelled_at IS NULL THEN 'unknown_clip' ELSE \(DeliveryVerdict.cancelled) END,
                attempt = d.attempt - CASE WHEN n.cancelled_at IS NOT NULL AND d.state = 'sending' THEN 1 ELSE 0 END,
                due_at = NULL, finished_at = now()
            FROM doorstep.notifications n
            WHERE d.tenant_id = \(tenant.uuid) AND d.delivery_id = ANY(\(deliveries))
                AND d.created_at >= \(times.first) AND d.created_at <= \(times.last)
                AND n.tenant_id = \(tenant.uuid) AND n.notification_id = ANY(\(Array(notifications)))
                AND n.created_at = d.created_at AND n.notification_id = d.notification_id
                AND n.created_at >= \(times.first) AND n.created_at <= \(times.last)
            RETURNING d.delivery_id, d.notification_id, d.instance_id, d.state, d.reason, d.attempt,
                \(wanted: .deliveryFinished, of: tenant)
            """
        ).map { row in
            let (delivery, notification, instance, state, reason, attempt, isWanted) = try row.decode(
                UUID.self, UUID.self, UUID?.self, String.self, String.self, Int16.self, Bool.self)
            return (
                OutcomeEvent(
                    delivery: delivery, notification: notification, instance: instance.map(InstanceID.init),
                    state: state, reason: reason, attempts: Int(attempt)), isWanted
            )
        }
        if ended.first?.1 == true { try await tell(ended.map(\.0), from: times) }
    }

    /// Ends deliveries that were sent without success and would be tried again, if their notification was cancelled meanwhile.
    fileprivate func endCancelled(_ completions: [Completion]) async throws {
        let times = completions.map(\.delivery.notification.createdAt).bounds
        let notifications = Set(completions.map(\.delivery.notification.id.uuid))
        // The lock makes a running cancellation wait for this transaction, or this transaction for the cancellation.
        let cancelled = try await execute(
            """
            SELECT n.notification_id, n.cancelled_at IS NOT NULL FROM doorstep.notifications n
            WHERE n.tenant_id = \(tenant.uuid) AND n.notification_id = ANY(\(Array(notifications)))
                AND n.created_at >= \(times.0) AND n.created_at <= \(times.1)
            FOR SHARE
            """
        ).map { try $0.decode(UUID.self, Bool.self) }.filter(\.1).map(\.0)
        guard !cancelled.isEmpty else { return }
        let queued = try await execute(
            """
            SELECT d.delivery_id FROM doorstep.deliveries d
            WHERE d.tenant_id = \(tenant.uuid) AND d.delivery_id = ANY(\(completions.map(\.delivery.id.uuid)))
                AND d.created_at >= \(times.0) AND d.created_at <= \(times.1) AND d.state = 'queued'
                AND d.notification_id = ANY(\(cancelled))
            """
        ).map { try $0.decode(at: 0, as: UUID.self) }
        if !queued.isEmpty { try await end(queued, of: Set(cancelled), from: times) }
    }

    /// Creates the webhook messages about finished deliveries. They belong to a trace if all their notifications do.
    /// - Parameter times: The times of the first and the last notification.
    fileprivate func tell(_ outcomes: [OutcomeEvent], from times: (first: Date, last: Date)) async throws {
        try await limitLockWaits()
        try await execute(
            """
            SELECT set_config('doorstep.trace_context', coalesce(min(trace_context), ''), true)
            FROM doorstep.notifications
            WHERE tenant_id = \(tenant.uuid) AND notification_id = ANY(\(Array(Set(outcomes.map(\.notification)))))
                AND created_at >= \(times.first) AND created_at <= \(times.last)
            HAVING count(trace_context) = count(*) AND min(trace_context) = max(trace_context)
            """)
        try await tell(
            .deliveryFinished,
            WebhookMessage.messages(.deliveryFinished, "deliveries", outcomes.map(\.json), at: Date()))
    }
}

extension [Date] {
    /// The first and the last date. For an empty sequence, two dates that contain nothing between them.
    var bounds: (Date, Date) { (self.min() ?? .distantFuture, self.max() ?? .distantPast) }
}

extension OutcomeEvent {
    /// Nil if the delivery is tried again.
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

/// A token that APNs reported as dead.
private struct DeadToken {
    let instance: InstanceID
    let place: TokenKind
    let digest: [UInt8]
    let since: Date?

    /// Nil if the token of a completion is not dead.
    init?(_ completion: Completion) {
        guard case .dead(let since) = completion.verdict.token,
            case .device(_, _, let instance, let place, let digest) = completion.delivery.destination
        else { return nil }
        self.instance = instance
        self.place = place
        self.since = since
        self.digest = digest
    }
}

extension DeliveryVerdict.Next {
    fileprivate var wait: Double? {
        if case .retry(let wait) = self { wait } else { nil }
    }
}
