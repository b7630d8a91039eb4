import APNsPayload
import Administration
import Formats
import Foundation
import Notifications
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@testable import Persistence

@Suite struct CancellationTests {
    private static let minute = Duration.seconds(60)

    private static func size(reachable: Int) -> AudiencePartSize {
        var size = AudiencePartSize()
        size.reachable = reachable
        return size
    }

    private static func cancel(
        _ trace: NotificationTrace, _ restaurants: Restaurants
    ) async throws -> Cancellation {
        try await restaurants.notifications.cancel(
            trace.notification.id, of: restaurants.tenant, by: "key:test")
    }

    @Test func queuedDeliveriesExpireAndSentOnesStay() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(3)
            let (outbox, tenant) = (restaurants.outbox, restaurants.tenant)
            let registry = PostgresWebhookRegistry(restaurants.stores.adminPool, keys: Restaurants.keys)
            _ = try await registry.create(
                Webhook(url: try WebhookURL("https://example.com/hooks"), secret: .generate()), named: nil,
                events: [.deliveryFinished], of: tenant, by: "operator:alice")
            let trace = try await restaurants.send()
            let other = try await restaurants.send()
            let first = try #require(try await outbox.claim(1, of: tenant, for: Self.minute).first)
            #expect(first.notification.id == trace.notification.id)
            try await outbox.complete([.answered(first, APNsResponse(status: 200))], of: tenant)

            #expect(try await Self.cancel(trace, restaurants) == .cancelled)
            let stored = try await restaurants.trace(trace)
            #expect(stored.notification.cancelledAt != nil && stored.isComplete)
            #expect(
                stored.counts == [
                    DeliveryCount(state: .delivered, reason: nil, count: 1),
                    DeliveryCount(state: .expired, reason: "cancelled", count: 2),
                ])
            #expect(
                stored.deliveries.allSatisfy {
                    $0.dueAt == nil && $0.finishedAt != nil && ($0.state == .delivered) == ($0.attempt == 1)
                })
            // Each is told once. The delivered one was told before.
            func told() async throws -> Int {
                try await restaurants.stores.count(
                    """
                    SELECT count(*) FROM doorstep.webhook_messages,
                        jsonb_array_elements(convert_from(body, 'UTF8')::jsonb -> 'data' -> 'deliveries') AS d
                    WHERE d ->> 'reason' = 'cancelled' AND d ->> 'state' = 'expired'
                    """)
            }
            #expect(try await told() == 2)
            let entry = try #require(
                try await restaurants.stores.administration.auditLog.page(
                    of: tenant, before: nil, limit: 1, where: ["relation": "deliveries"]
                ).entries.first)
            #expect(entry.actor == "key:test" && entry.after?["state"] == "cancelled")
            #expect(entry.before?["notification"]?.stringValue == trace.notification.id.description)
            // Nothing of it is left to send. The other notification is not affected.
            let left = try await outbox.claim(10, of: tenant, for: Self.minute)
            #expect(left.count == 3 && left.allSatisfy { $0.notification.id == other.notification.id })
            #expect(try await restaurants.trace(other).notification.cancelledAt == nil)

            // A repetition has the same result.
            #expect(try await Self.cancel(trace, restaurants) == .cancelled)
            #expect(try await restaurants.trace(trace).notification == stored.notification)
            #expect(try await told() == 2)
        }
    }

    @Test func finishedUnknownAndForeignNotificationsAreNotCancelled() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(1)
            let trace = try await restaurants.send()
            let tenant = restaurants.tenant
            let neighbour = try await restaurants.stores.createTenant("neighbour")
            let id = trace.notification.id
            #expect(try await restaurants.notifications.cancel(id, of: neighbour, by: "") == .unknown)
            for unknown in [UUID(), UUID.timeOrdered(at: Date())] {
                #expect(
                    try await restaurants.notifications.cancel(NotificationID(unknown), of: tenant, by: "")
                        == .unknown)
            }
            let claimed = try await restaurants.outbox.claim(1, of: tenant, for: Self.minute)
            try await restaurants.outbox.complete(
                [.answered(try #require(claimed.first), APNsResponse(status: 200))], of: tenant)
            #expect(try await Self.cancel(trace, restaurants) == .finished)
            #expect(try await restaurants.trace(trace).notification.cancelledAt == nil)
        }
    }

    /// What a server is sending is recorded as it ends, and is not tried again.
    @Test(arguments: [
        (200, DeliveryState.delivered, nil), (400, .refused, "BadTopic"), (503, .expired, "cancelled"),
    ])
    func deliveryInProgressIsNotTriedAgain(
        status: Int, state: DeliveryState, reason: String?
    ) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(1)
            let (outbox, tenant) = (restaurants.outbox, restaurants.tenant)
            let trace = try await restaurants.send()
            let claimed = try #require(try await outbox.claim(1, of: tenant, for: Self.minute).first)
            #expect(try await Self.cancel(trace, restaurants) == .cancelled)
            #expect(try await restaurants.trace(trace).counts.map(\.state) == [.sending])
            let response = APNsResponse(status: status, reason: status == 400 ? .badTopic : nil)
            try await outbox.complete([.answered(claimed, response)], of: tenant)
            let stored = try #require(try await restaurants.trace(trace).deliveries.first)
            #expect(stored.state == state && stored.reason == reason && stored.dueAt == nil)
            #expect(stored.attempt == 1)
            try await restaurants.passTime()
            #expect(try await outbox.claim(1, of: tenant, for: Self.minute).isEmpty)
        }
    }

    /// The server that was sending has died: APNs may have the delivery.
    @Test func lostDeliveryBecomesUncertain() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(1)
            let (outbox, tenant) = (restaurants.outbox, restaurants.tenant)
            let trace = try await restaurants.send()
            _ = try await outbox.claim(1, of: tenant, for: Self.minute)
            #expect(try await Self.cancel(trace, restaurants) == .cancelled)
            try await restaurants.passTime()
            #expect(try await outbox.claim(1, of: tenant, for: Self.minute).isEmpty)
            let stored = try #require(try await restaurants.trace(trace).deliveries.first)
            #expect(stored.state == .uncertain && stored.reason == "cancelled" && stored.attempt == 1)
            #expect(try await outbox.tenantsWithDueDeliveries().isEmpty)
        }
    }

    @Test func restOfLargeAudienceIsNotAdded() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 10))
            try await restaurants.registerMany(25)
            let trace = try await restaurants.send()
            #expect(!trace.isComplete)
            #expect(try await Self.cancel(trace, restaurants) == .cancelled)
            #expect(try await restaurants.continueAudiences().isEmpty)
            let stored = try await restaurants.trace(trace)
            #expect(stored.isComplete && stored.deliveries.count == 10)
            #expect(stored.deliveries.allSatisfy { $0.state == .expired && $0.reason == "cancelled" })
        }
    }

    /// Whatever the order of locks: after the cancellation, nothing is leased, and each delivery was either leased before or ended.
    @Test(.timeLimit(.minutes(30))) func nothingIsLeasedAfterConcurrentCancellation() async throws {
        try await Restaurants.withRestaurants(connections: 8) { restaurants in
            try await restaurants.registerMany(400)
            let (outbox, tenant) = (restaurants.outbox, restaurants.tenant)
            for _ in 0..<5 {
                let trace = try await restaurants.takingIn(Self.size(reachable: 100)).send()
                let leased = try await withThrowingTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var ids: [DeliveryID] = []
                            for _ in 0..<6 {
                                ids += try await outbox.claim(7, of: tenant, for: Self.minute).map(\.id)
                            }
                            return ids
                        }
                    }
                    group.addTask {
                        _ = try await restaurants.takingIn(Self.size(reachable: 100)).notifications
                            .continueAudience(of: tenant)
                        return []
                    }
                    group.addTask {
                        #expect(try await Self.cancel(trace, restaurants) == .cancelled)
                        let sending = try await restaurants.trace(trace).counts
                        // Deliveries that are being sent are never more later.
                        #expect(sending.allSatisfy { $0.state == .sending || $0.state == .expired })
                        return []
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                #expect(try await outbox.claim(1_000, of: tenant, for: Self.minute).isEmpty)
                let stored = try await restaurants.trace(trace)
                let sending = stored.deliveries.filter { $0.state == .sending }.map(\.id)
                #expect(Set(sending) == Set(leased))
                #expect(
                    stored.deliveries.count { $0.state == .expired } == stored.deliveries.count - leased.count
                )
                try await restaurants.passTime()
                #expect(try await outbox.claim(1_000, of: tenant, for: Self.minute).isEmpty)
            }
        }
    }

    /// Results that arrive during a cancellation: no delivery stays queued until its next attempt.
    @Test(.timeLimit(.minutes(30))) func nothingStaysQueuedAfterConcurrentFailures() async throws {
        try await Restaurants.withRestaurants(connections: 8) { restaurants in
            try await restaurants.registerMany(60)
            let (outbox, tenant) = (restaurants.outbox, restaurants.tenant)
            for _ in 0..<10 {
                let trace = try await restaurants.send()
                let claimed = try await outbox.claim(60, of: tenant, for: Self.minute)
                #expect(claimed.count == 60)
                try await withThrowingTaskGroup { group in
                    for part in 0..<6 {
                        group.addTask {
                            let results = claimed[part * 10..<part * 10 + 10].map {
                                Completion.answered($0, APNsResponse(status: 503))
                            }
                            _ = try await outbox.complete(results, of: tenant)
                        }
                    }
                    group.addTask { _ = try await Self.cancel(trace, restaurants) }
                    try await group.waitForAll()
                }
                let stored = try await restaurants.trace(trace)
                #expect(
                    stored.counts == [DeliveryCount(state: .expired, reason: "cancelled", count: 60)],
                    "\(stored.counts)")
            }
        }
    }

    @Test func readOnlyStoreCancelsNothing() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(1)
            let trace = try await restaurants.send()
            let store = PostgresNotificationStore(restaurants.pool, isReadOnly: true)
            await #expect(throws: ReadOnlyAccess.self) {
                try await store.cancel(trace.notification.id, of: restaurants.tenant, by: "")
            }
            #expect(try await restaurants.trace(trace).notification.cancelledAt == nil)
        }
    }

    @Test func retryLeavesCancelledDeliveries() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(3)
            let trace = try await restaurants.send()
            // One may have been shown before the cancellation: its outcome stays.
            let first = try #require(
                try await restaurants.outbox.claim(1, of: restaurants.tenant, for: Self.minute).first)
            try await restaurants.stores.database.withSuperuser { pool in
                try await pool.withTransaction {
                    _ = try await $0.execute(
                        """
                        UPDATE doorstep.deliveries SET state = 'uncertain', reason = 'timed_out', due_at = NULL,
                            finished_at = now(), lost_replies = 1
                        WHERE delivery_id = \(first.id.uuid)
                        """)
                }
            }
            #expect(try await Self.cancel(trace, restaurants) == .cancelled)
            try await restaurants.stores.database.withPool(as: .manager) { pool in
                let ledger = PostgresDeliveryLedger(managing: pool)
                let selection = DeliverySelection(state: .expired)
                #expect(
                    try await ledger.retriable(
                        selection, of: restaurants.tenant, at: restaurants.now, upTo: 10)
                        == 0)
                let counts = try await ledger.retry(selection, of: restaurants.tenant, at: restaurants.now)
                #expect(counts == RetryCounts(queued: 0, tooLate: 2))
                let uncertain = try await ledger.retry(
                    DeliverySelection(state: .uncertain), of: restaurants.tenant, at: restaurants.now)
                #expect(uncertain == RetryCounts(queued: 0, tooLate: 1))
            }
            let deliveries = try await restaurants.trace(trace).deliveries
            #expect(deliveries.first { $0.id == first.id }?.state == .uncertain)
            #expect(deliveries.allSatisfy { $0.id == first.id || !$0.isRetriable })
        }
    }
}
