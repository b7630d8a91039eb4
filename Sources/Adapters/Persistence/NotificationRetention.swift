public import Foundation
import Notifications
public import PostgreSQL
import Tenancy

/// Deletes expired data of notifications, and creates the partitions of future days.
///
/// Several servers can do this at once. `doorstep_router` finds the tenants with rows to delete; `doorstep_app` deletes them in
/// transactions of each tenant.
public struct NotificationRetention: Sendable {
    /// The possible numbers of days for which notifications, and instances without a launch, are kept. [ours]
    public static let retentions = 1...365

    /// The number of changes.
    public struct Work: Sendable, Hashable {
        public var instances: Int
        public var activities: Int
        public var idempotencyKeys: Int
        public var webhookMessages: Int
        /// Tenants whose events are no longer recorded.
        public var eventRecordings: Int
        public var addedDays: Int
        public var droppedDays: Int

        public init(
            instances: Int = 0, activities: Int = 0, idempotencyKeys: Int = 0,
            webhookMessages: Int = 0, eventRecordings: Int = 0, addedDays: Int = 0, droppedDays: Int = 0
        ) {
            self.instances = instances
            self.activities = activities
            self.idempotencyKeys = idempotencyKeys
            self.webhookMessages = webhookMessages
            self.eventRecordings = eventRecordings
            self.addedDays = addedDays
            self.droppedDays = droppedDays
        }
    }

    private let pool: ConnectionPool
    private let instanceRetention: Int
    private let notificationRetention: Int

    /// The maximum number of rows that one transaction deletes, so that other transactions wait only briefly.
    private static let batch = 1_000
    /// The time for which a repeated request gets its first response [ours].
    private static let idempotencyLifetime: TimeInterval = 24 * 60 * 60
    /// The time for which the log of webhooks stores a message [ours].
    private static let messageLifetime: TimeInterval = 7 * 86_400

    /// - Parameters:
    ///   - instanceRetention: The number of days without a launch after which an instance is deleted.
    ///   - notificationRetention: The number of days for which notifications are kept. A day is dropped when all of it is older.
    /// - Precondition: Both are in ``retentions``.
    public init(_ pool: ConnectionPool, instanceRetention: Int, notificationRetention: Int) {
        precondition(
            Self.retentions.contains(instanceRetention) && Self.retentions.contains(notificationRetention),
            "instances and notifications are kept for 1 to 365 days")
        self.pool = pool
        self.instanceRetention = instanceRetention
        self.notificationRetention = notificationRetention
    }

    /// - Throws: The first failure, after all steps were tried.
    public func maintain(at now: Date = Date()) async throws -> Work {
        var work = Work()
        var failure: (any Error)?
        for (step, count) in [
            ("SELECT doorstep.add_notification_days()", \.addedDays),
            ("SELECT doorstep.drop_notification_days(\(notificationRetention)::integer)", \.droppedDays),
        ] as [(Query, WritableKeyPath<Work, Int> & Sendable)] {
            do {
                work[keyPath: count] += try await pool.exhaust(step)
            } catch {
                failure = failure ?? error
            }
        }
        do {
            let limits = Limits(
                instances: now.addingTimeInterval(-86_400 * Double(instanceRetention)),
                activities: now.addingTimeInterval(-Instance.activityLifetime),
                idempotencyKeys: now.addingTimeInterval(-Self.idempotencyLifetime),
                webhookMessages: now.addingTimeInterval(-Self.messageLifetime),
                eventRecordings: now.addingTimeInterval(-(EventRecording.lifetime / .seconds(1))))
            for tenant in try await tenants(limits) { try await prune(tenant, limits, &work) }
        } catch {
            failure = failure ?? error
        }
        if let failure { throw failure }
        return work
    }

    /// The times before which data is expired.
    private struct Limits: Sendable {
        let instances: Date
        let activities: Date
        let idempotencyKeys: Date
        let webhookMessages: Date
        let eventRecordings: Date
    }

    /// The tenants with rows to delete. The first entry of an index finds each of them; `EXISTS` would read each table completely.
    ///
    /// The condition "not less than minus infinity" selects the indexes of rows where the column is not null. `IS NOT NULL`
    /// does not: from PostgreSQL 17 on, the planner removes it for columns that cannot be null before it chooses an index
    /// [commit b262ad44].
    private func tenants(_ limits: Limits) async throws -> [TenantID] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT t.tenant_id FROM doorstep.tenants AS t
                WHERE (SELECT min(launched_at) FROM doorstep.instances AS i
                        WHERE i.tenant_id = t.tenant_id AND launched_at >= '-infinity') < \(limits.instances)
                    OR (SELECT min(registered_at) FROM doorstep.push_tokens AS p
                        WHERE p.tenant_id = t.tenant_id AND p.kind = 'activity' AND registered_at >= '-infinity')
                        < \(limits.activities)
                    OR (SELECT min(created_at) FROM doorstep.idempotency_keys AS k
                        WHERE k.tenant_id = t.tenant_id) < \(limits.idempotencyKeys)
                    OR (SELECT min(created_at) FROM doorstep.webhook_messages AS m
                        WHERE m.tenant_id = t.tenant_id) < \(limits.webhookMessages)
                    OR (SELECT ends_at FROM doorstep.event_recordings AS r
                        WHERE r.tenant_id = t.tenant_id) < \(limits.eventRecordings)
                """
            ).map { TenantID(try $0.decode(at: 0)) }
        }
    }

    private func prune(_ tenant: TenantID, _ limits: Limits, _ work: inout Work) async throws {
        // Checks the condition again, because an instance may have been launched since the rows were chosen.
        for (step, count) in [
            (
                """
                DELETE FROM doorstep.instances
                WHERE tenant_id = \(tenant.uuid) AND launched_at < \(limits.instances) AND instance_id IN (
                    SELECT instance_id FROM doorstep.instances
                    WHERE tenant_id = \(tenant.uuid) AND launched_at < \(limits.instances)
                    ORDER BY launched_at LIMIT \(Self.batch))
                """, \.instances
            ),
            (
                """
                DELETE FROM doorstep.push_tokens
                WHERE tenant_id = \(tenant.uuid) AND kind = 'activity' AND registered_at < \(limits.activities)
                    AND (instance_id, name) IN (
                        SELECT instance_id, name FROM doorstep.push_tokens
                        WHERE tenant_id = \(tenant.uuid) AND kind = 'activity'
                            AND registered_at < \(limits.activities)
                        ORDER BY registered_at LIMIT \(Self.batch))
                """, \.activities
            ),
            (
                """
                DELETE FROM doorstep.idempotency_keys
                WHERE tenant_id = \(tenant.uuid) AND created_at < \(limits.idempotencyKeys) AND key IN (
                    SELECT key FROM doorstep.idempotency_keys
                    WHERE tenant_id = \(tenant.uuid) AND created_at < \(limits.idempotencyKeys)
                    ORDER BY created_at LIMIT \(Self.batch))
                """, \.idempotencyKeys
            ),
            (
                // Does not delete waiting messages, because a replay may have been requested.
                """
                DELETE FROM doorstep.webhook_messages
                WHERE tenant_id = \(tenant.uuid) AND due_at IS NULL AND (webhook_id, message_id) IN (
                    SELECT webhook_id, message_id FROM doorstep.webhook_messages
                    WHERE tenant_id = \(tenant.uuid) AND due_at IS NULL
                        AND created_at < \(limits.webhookMessages)
                    ORDER BY created_at LIMIT \(Self.batch))
                """, \.webhookMessages
            ),
            (
                // Deleted with the events.
                """
                DELETE FROM doorstep.event_recordings
                WHERE tenant_id = \(tenant.uuid) AND ends_at < \(limits.eventRecordings)
                """, \.eventRecordings
            ),
        ] as [(Query, WritableKeyPath<Work, Int> & Sendable)] {
            work[keyPath: count] += try await pool.prune(tenant, batch: Self.batch, step)
        }
    }
}
