import Foundation
import Invocation
import Lookups
import Notifications
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Query plans of the outbox.
@Suite struct OutboxPlanTests {
    /// With many finished deliveries of many days and few due ones, and with statistics that say the table is empty.
    @Test(arguments: [true, false])
    func dueDeliveriesAreClaimedAndCompletedByIndex(hasHistory: Bool) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(200)
            if hasHistory { try await Self.addHistory(restaurants) }
            try await restaurants.send()
            let plans = try await Self.plans(restaurants) { pool in
                let outbox = PostgresOutbox(pool, keys: Restaurants.keys)
                #expect(try await outbox.tenantsWithDueDeliveries().map(\.tenant) == [restaurants.tenant])
                let claimed = try await outbox.claim(100, of: restaurants.tenant, for: .seconds(60))
                #expect(claimed.count == 100)
                let response = APNsResponse(status: 200)
                #expect(
                    try await outbox.complete(
                        claimed.map { .answered($0, response) }, of: restaurants.tenant) == 100)
            }
            Self.expectIndexes(plans.filter { $0.contains("deliveries") }, count: 4)
            let updates = plans.filter { $0.contains("UPDATE doorstep.deliveries") }
            #expect(updates.count == 2)
            for plan in updates { #expect(plan.contains("Index Cond: ((delivery_id = ANY"), "\(plan)") }
            let receivers = try #require(plans.first { $0.contains("doorstep.push_tokens") })
            for table in ["instances", "push_tokens"] {
                #expect(receivers.contains("Index Scan using \(table)_pkey on \(table)"), "\(receivers)")
            }
            let shared = try #require(plans.first { $0.contains("n.notification_id = ANY") })
            #expect(shared.contains("Index Cond: ((notification_id = ANY"), "\(shared)")
        }
    }

    @Test func audiencesAreFoundByIndex() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(5_000, location: "b")
            let id = try await restaurants.register(Restaurants.Instance())
            try await restaurants.stores.database.withSuperuser { pool in
                try await pool.withConnection { try await $0.execute(script: "ANALYZE") }
            }
            let prefix = try URLPrefix(Restaurants.a)
            let plans = try await Self.plans(restaurants) { pool in
                let intake = NotificationIntake(PostgresNotificationStore(pool))
                for audience in [Audience.business, .urlPrefix(prefix), .instance(id)] {
                    let outcome = try await intake.accept(
                        restaurants.submission(to: audience), in: restaurants.table.of(restaurants.tenant),
                        at: restaurants.now)
                    #expect(outcome.trace?.decisions == [id: "queued"])
                }
            }
            let searches = plans.filter { $0.contains("WITH scanned") }
            #expect(searches.count == 3)
            for plan in searches { #expect(!plan.contains("Seq Scan on launches"), "\(plan)") }
        }
    }

    /// The planner assumes that a new table is almost empty.
    @Test func unanalyzedTablesAreNotRescannedPerRow() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(2_000)
            let plans = try await Self.plans(restaurants) { pool in
                let outcome = try await NotificationIntake(PostgresNotificationStore(pool)).accept(
                    restaurants.submission(), in: restaurants.table.of(restaurants.tenant),
                    at: restaurants.now)
                #expect(outcome.trace?.decisions.count == 1_000)
            }
            let search = try #require(plans.first { $0.contains("WITH scanned") })
            #expect(search.contains("Index Scan using launches_pkey on launches"), "\(search)")
        }
    }

    private static func expectIndexes(_ plans: [String], count: Int) {
        #expect(plans.count == count)
        for plan in plans {
            #expect(!plan.contains("Seq Scan on deliveries"), "\(plan)")
            #expect(!plan.contains("Nested Loop") || plan.contains("RECURSIVE"), "\(plan)")
        }
    }

    /// Adds 40,000 finished deliveries on the existing days.
    private static func addHistory(_ restaurants: Restaurants) async throws {
        try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) { transaction in
            _ = try await transaction.execute(
                """
                INSERT INTO doorstep.deliveries
                    (tenant_id, created_at, notification_id, delivery_id, instance_id, token_kind, environment,
                    state, attempt, finished_at)
                SELECT \(restaurants.tenant.uuid), date_trunc('day', now(), 'UTC') + (n % 8) * interval '1 day',
                    gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'device', 'production', 'delivered', 1,
                    now()
                FROM generate_series(1, 40000) AS n
                """)
        }
        try await restaurants.stores.database.withSuperuser { pool in
            try await pool.withConnection { try await $0.execute(script: "ANALYZE") }
        }
    }

    /// The plans of the statements that the closure runs, each with the text of its statement.
    private static func plans(
        _ restaurants: Restaurants, _ body: (ConnectionPool) async throws -> Void
    ) async throws -> [String] {
        let plans = Mutex<[String]>([])
        try await restaurants.stores.database.explainEverything(planCacheMode: "auto")
        try await restaurants.stores.database.withPool(
            as: .serve, { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }, body)
        return plans.withLock { $0 }
    }
}
