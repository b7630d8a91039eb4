import Administration
import Formats
import Foundation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// The ledger as `doorstep_manager` uses it, the role of a tenant's keys.
@Suite struct DeliveryLedgerTests {
    private static func withLedger(
        _ body: (Restaurants, PostgresDeliveryLedger) async throws -> Void
    ) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.stores.database.withPool(as: .manager) { pool in
                try await body(restaurants, PostgresDeliveryLedger(managing: pool))
            }
        }
    }

    /// Sends a notification to one instance for each reason, and ends each delivery with its reason.
    private static func refuse(
        _ reasons: [String], _ restaurants: Restaurants
    ) async throws -> [String: DeliveryID] {
        for _ in reasons { try await restaurants.register(Restaurants.Instance()) }
        let ids = try await restaurants.send().deliveries.map(\.id)
        try await restaurants.stores.database.withSuperuser { pool in
            for (id, reason) in zip(ids, reasons) {
                try await pool.withTransaction {
                    try await $0.execute(
                        """
                        UPDATE doorstep.deliveries
                        SET state = 'refused', reason = \(reason), due_at = NULL, finished_at = now(), attempt = 1
                        WHERE delivery_id = \(id.uuid)
                        """)
                }
            }
        }
        return Dictionary(uniqueKeysWithValues: zip(reasons, ids))
    }

    private static func states(
        _ ledger: PostgresDeliveryLedger, of tenant: TenantID
    ) async throws -> [String: DeliveryState] {
        try await ledger.deliveries(DeliverySelection(), of: tenant, limit: 100).reduce(into: [:]) {
            $0[$1.delivery.reason ?? ""] = $1.delivery.state
        }
    }

    @Test func listedDeliveryNamesTheTargetOfItsPayload() async throws {
        try await Self.withLedger { restaurants, ledger in
            try await restaurants.register(Restaurants.Instance())
            let trace = try await restaurants.send()
            let aps = try JSONValue(parsing: trace.notification.payload).objectValue?["aps"]?.objectValue
            let target = try #require(aps?["target-content-id"]?.stringValue)
            let listed = try await ledger.deliveries(DeliverySelection(), of: restaurants.tenant, limit: 10)
            #expect(listed.map(\.delivery.target) == [target])
        }
    }

    @Test func retrySkipsDeliveriesThatAnotherRetryHoldsLocked() async throws {
        try await Self.withLedger { restaurants, ledger in
            let ids = try await Self.refuse(["TooManyRequests", "InternalServerError"], restaurants)
            let locked = try #require(ids["TooManyRequests"])
            try await restaurants.stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.execute(
                        "SELECT FROM doorstep.deliveries WHERE delivery_id = \(locked.uuid) FOR NO KEY UPDATE"
                    )
                    let counts = try await ledger.retry(
                        DeliverySelection(ids: Array(ids.values)), of: restaurants.tenant,
                        at: restaurants.now, expecting: nil, upTo: 10, by: nil)
                    #expect(counts == RetryCounts(queued: 1, tooLate: 0, hasMore: true))
                }
            }
        }
    }

    /// A retry of a delivery with a dead token would go to the same token, and `token_dead` would replace APNs' reason.
    @Test func retryLeavesDeliveriesWithDeadTokens() async throws {
        try await Self.withLedger { restaurants, ledger in
            let dead = [
                "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken", "Unregistered", "status_410",
                "token_dead",
            ]
            let ids = try await Self.refuse(dead + ["TooManyRequests"], restaurants)
            let selection = DeliverySelection(state: .refused)
            #expect(
                try await ledger.retriable(selection, of: restaurants.tenant, at: restaurants.now, upTo: 100)
                    == 1)
            for reason in dead {
                let one = try await ledger.retry(
                    DeliverySelection(ids: [try #require(ids[reason])]), of: restaurants.tenant,
                    at: restaurants.now)
                #expect(one == RetryCounts(queued: 0, tooLate: 0, tokenDead: 1), "\(reason)")
            }
            let all = try await ledger.retry(selection, of: restaurants.tenant, at: restaurants.now)
            #expect(all == RetryCounts(queued: 1, tooLate: 0, tokenDead: 6))
            let states = try await Self.states(ledger, of: restaurants.tenant)
            #expect(states["TooManyRequests"] == .queued)
            for reason in dead { #expect(states[reason] == .refused, "\(reason)") }
        }
    }

    @Test func retryQueuesUpToItsLimitAndReportsMore() async throws {
        try await Self.withLedger { restaurants, ledger in
            _ = try await Self.refuse(["BadTopic", "BadPath", "Unregistered"], restaurants)
            var results: [RetryCounts] = []
            for _ in 0..<3 {
                results.append(
                    try await ledger.retry(
                        DeliverySelection(state: .refused), of: restaurants.tenant, at: restaurants.now,
                        expecting: nil, upTo: 1, by: "key:test"))
            }
            #expect(
                results == [
                    RetryCounts(queued: 1, tooLate: 0, tokenDead: 1, hasMore: true),
                    RetryCounts(queued: 1, tooLate: 0, tokenDead: 1),
                    RetryCounts(queued: 0, tooLate: 0, tokenDead: 1),
                ])
            // The audit log has an entry of the key for each retry that queued deliveries.
            let entries = try await restaurants.stores.administration.auditLog.page(
                of: restaurants.tenant, before: nil, limit: 10, where: ["relation": "deliveries"]
            ).entries
            #expect(entries.map(\.actor) == ["key:test", "key:test"])
        }
    }

    @Test func retryOfAnotherTenantsDeliveryQueuesNothing() async throws {
        try await Self.withLedger { restaurants, ledger in
            let ids = try await Self.refuse(["BadTopic"], restaurants)
            let other = try await restaurants.stores.createTenant("other")
            let selection = DeliverySelection(ids: Array(ids.values))
            let counts = try await ledger.retry(selection, of: other, at: restaurants.now)
            #expect(counts == RetryCounts(queued: 0, tooLate: 0))
            #expect(try await ledger.deliveries(selection, of: other, limit: 10).isEmpty)
            #expect(try await Self.states(ledger, of: restaurants.tenant) == ["BadTopic": .refused])
        }
    }
}
