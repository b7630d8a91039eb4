import Foundation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// The retention job deletes old instances and notifications, and nothing else.
@Suite struct NotificationMaintenanceTests {
    private typealias Instances = RegisteredInstances

    private static let day: TimeInterval = 86_400

    /// Like the server, connects with a login that has both roles.
    private static func maintain(
        _ stores: Stores, instances: Int = 30, notifications: Int = 30, at now: Date = Date()
    ) async throws -> NotificationRetention.Work {
        try await stores.database.withPool(as: .serve) { pool in
            try await NotificationRetention(
                pool, instanceRetention: instances, notificationRetention: notifications
            ).maintain(at: now)
        }
    }

    @Test func expiredRowsOfEveryTenantAreDeleted() async throws {
        try await Instances.with { instances in
            let stores = instances.stores
            let other = try await stores.createTenant("other")
            try await stores.createClip(of: other)
            let now = Date()
            for tenant in [instances.tenant, other] {
                let registered = try Instances(stores, tenant)
                for (age, count) in [(0, 2), (29, 1), (31, 1_500), (400, 1)] {
                    try await registered.execute(
                        """
                        INSERT INTO doorstep.instances
                            (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                        SELECT \(tenant.uuid), gen_random_uuid(), \(Instances.clip), 'clip', 'production', 'denied',
                            \(now.addingTimeInterval(-Self.day * Double(age)))
                        FROM generate_series(1, \(count))
                        """)
                }
                let id = InstanceID(UUID())
                try await registered.register(Instances.registration(id, at: now))
                for (activity, hours) in [("new", 0.0), ("nearly", 11.9), ("over", 12.1)] {
                    _ = try await registered.store.setToken(
                        Instances.token(activity.count), ofActivity: activity, for: id, of: tenant,
                        at: now.addingTimeInterval(-3_600 * hours))
                }
                for (key, hours) in [("new", 0.0), ("nearly", 23.9), ("over", 24.1)] {
                    try await registered.execute(
                        """
                        INSERT INTO doorstep.idempotency_keys
                            (tenant_id, key, request_digest, notification_id, created_at)
                        VALUES (\(tenant.uuid), \(key), sha256(''), gen_random_uuid(),
                            \(now.addingTimeInterval(-3_600 * hours)))
                        """)
                }
            }
            try await Self.addMessages(stores, of: [instances.tenant, other], at: now)
            let expected = NotificationRetention.Work(
                instances: 3_002, activities: 2, idempotencyKeys: 2, webhookMessages: 2)
            #expect(try await Self.maintain(stores, at: now) == expected)
            #expect(try await Self.maintain(stores, at: now) == .init())
            #expect(try await stores.count("SELECT count(*) FROM doorstep.instances") == 2 * 4)
            #expect(
                try await stores.count("SELECT count(*) FROM doorstep.push_tokens WHERE name <> 'over'") == 4)
            #expect(
                try await stores.count("SELECT count(*) FROM doorstep.idempotency_keys WHERE key <> 'over'")
                    == 4)
            #expect(
                try await stores.count("SELECT count(*) FROM doorstep.webhook_messages WHERE type <> 'over'")
                    == 6)
            #expect(try await Self.maintain(stores, instances: 28, at: now).instances == 2)
        }
    }

    /// Adds two old messages for each tenant: one is finished, and one waits because it was replayed.
    private static func addMessages(_ stores: Stores, of tenants: [TenantID], at now: Date) async throws {
        for tenant in tenants {
            try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.webhooks (tenant_id, webhook_id, url, sealed_secret, events)
                    VALUES (\(tenant.uuid), gen_random_uuid(), 'https://example.com', sha512(''), '{key.revoked}')
                    """)
            }
            try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                for (type, state, days) in [
                    ("new", "taken", 0.0), ("nearly", "given_up", 6.9), ("waiting", "waiting", 7.1),
                    ("over", "taken", 7.1),
                ] {
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.webhook_messages
                            (tenant_id, webhook_id, message_id, type, body, state, due_at, created_at)
                        SELECT tenant_id, webhook_id, gen_random_uuid(), \(type), '', \(state),
                            CASE \(state) WHEN 'waiting' THEN now() END, \(now.addingTimeInterval(-day * days))
                        FROM doorstep.webhooks WHERE tenant_id = \(tenant.uuid)
                        """)
                }
            }
        }
    }

    private static let days: Query = """
        SELECT count(*) FROM pg_inherits
        WHERE inhparent IN ('doorstep.notifications'::regclass, 'doorstep.deliveries'::regclass)
        """

    @Test func missingDayPartitionsAreCreated() async throws {
        try await Instances.with { instances in
            let stores = instances.stores
            #expect(try await stores.count(Self.days) == 18)
            try await stores.database.withPool(as: .migrate) { pool in
                try await pool.withTransaction {
                    let tomorrow: String = try await $0.execute(
                        "SELECT to_char(now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYYMMDD')"
                    ).one().decode(at: 0)
                    try await $0.execute(
                        script:
                            "DROP TABLE doorstep.notifications_\(tomorrow), doorstep.deliveries_\(tomorrow)")
                }
            }
            #expect(try await Self.maintain(stores) == .init(addedDays: 2))
            #expect(try await Self.maintain(stores) == .init())
            #expect(try await stores.count(Self.days) == 18)
        }
    }

    /// A day is dropped with its deliveries unless one of them may still be sent. Deliveries past their expiration do not count,
    /// even if the expiration was not recorded, for example because the tenant is suspended.
    @Test func finishedDaysAreDroppedAfterRetention() async throws {
        try await Instances.with { instances in
            let stores = instances.stores
            try await Self.addDays(before: [3, 5, 6, 7, 8, 40], to: stores)
            let deliveries: [(age: Int, state: String, lifetime: Int?)] = [
                (3, "queued", 1), (5, "queued", 6), (6, "delivered", 7), (7, "queued", nil),
                (8, "sending", 1),
                (40, "queued", 30),
            ]
            for (age, state, lifetime) in deliveries {
                try await instances.execute(
                    """
                    INSERT INTO doorstep.deliveries (tenant_id, created_at, notification_id, delivery_id, instance_id,
                        token_kind, environment, state, due_at, attempt, expires_at, finished_at)
                    SELECT \(instances.tenant.uuid), day, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'device',
                        'production', \(state), CASE WHEN \(state) <> 'delivered' THEN now() END,
                        CASE WHEN \(state) <> 'queued' THEN 1 ELSE 0 END, day + \(lifetime)::integer * interval '1 day',
                        CASE \(state) WHEN 'delivered' THEN now() END
                    FROM date_trunc('day', now() - \(age)::integer * interval '1 day', 'UTC') AS day
                    """)
            }
            #expect(try await Self.maintain(stores, notifications: 4) == .init(droppedDays: 4))
            // The day that is too young, and the day with a delivery that may still be sent, remain.
            #expect(try await stores.count(Self.days) == 18 + 4)
            #expect(try await stores.count("SELECT count(*) FROM doorstep.deliveries") == 2)
            // The counts of the quota end with their days.
            #expect(
                try await stores.count(
                    "SELECT sum(row_count)::bigint FROM doorstep.row_counts WHERE kind = 'deliveries'") == 2)
            try await instances.execute(
                """
                UPDATE doorstep.deliveries SET state = 'expired', due_at = NULL, finished_at = now()
                WHERE state = 'queued'
                """)
            #expect(try await Self.maintain(stores, notifications: 4) == .init(droppedDays: 1))
            #expect(try await stores.count(Self.days) == 18 + 2)
        }
    }

    /// The planner may read the system catalogues in any order. Most names there do not end in a day.
    @Test(arguments: ["nestloop", "hashjoin", "mergejoin"])
    func expiredDaysAreFoundByAnyPlan(method: String) async throws {
        try await Instances.with { instances in
            let stores = instances.stores
            try await Self.addDays(before: [31, 30], to: stores)
            let dropped: Int = try await stores.routerPool.withTransaction { transaction in
                for other in ["nestloop", "hashjoin", "mergejoin"] where other != method {
                    try await transaction.execute(script: "SET LOCAL enable_\(other) TO off")
                }
                try await transaction.execute(
                    script: "SET LOCAL enable_indexscan TO off; SET LOCAL enable_bitmapscan TO off")
                return try await transaction.execute("SELECT doorstep.drop_notification_days(30)").one()
                    .decode(at: 0)
            }
            #expect(dropped == 1)
            #expect(try await stores.count(Self.days) == 18 + 2)
        }
    }

    /// Creates past days with the function that creates them in production.
    private static func addDays(before ages: [Int], to stores: Stores) async throws {
        let definition: String = try await stores.database.withSuperuser { pool in
            try await pool.withConnection {
                try await $0.execute(
                    "SELECT pg_get_functiondef('doorstep.add_notification_days()'::regprocedure)"
                ).one().decode(at: 0)
            }
        }
        try await stores.database.withPool(as: .migrate) { pool in
            for age in ages {
                let earlier = definition.replacing(
                    "current_date + n FROM generate_series(-1, 7) AS n",
                    with: "current_date + n FROM generate_series(-\(age), -\(age)) AS n"
                ).replacing("add_notification_days()", with: "add_earlier_day()")
                try #require(earlier.contains("generate_series(-\(age)"))
                try await pool.withTransaction { transaction in
                    try await transaction.execute(script: "SET LOCAL ROLE doorstep_owner")
                    try await transaction.execute(script: earlier)
                    let made: Int = try await transaction.execute("SELECT doorstep.add_earlier_day()").one()
                        .decode(at: 0)
                    #expect(made == 2)
                    try await transaction.execute(script: "DROP FUNCTION doorstep.add_earlier_day()")
                }
            }
        }
    }

    @Test(arguments: [0, -1, 366, nil])
    func invalidRetentionIsRejected(days: Int?) async throws {
        try await Stores.withStores { stores in
            let state = try await sqlState {
                try await stores.routerPool.withTransaction {
                    _ = try await $0.execute("SELECT doorstep.drop_notification_days(\(days)::integer)")
                }
            }
            #expect(state == "22023")
        }
    }
}
