import APNsPayload
import Administration
import Formats
import Foundation
import Lookups
import Notifications
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

@Suite struct OutboxTests {
    private static let minute = Duration.seconds(60)

    @Test func claimedDeliveryHasCompleteRequest() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let token = PushToken.random()
            let clip = try await restaurants.register(Restaurants.Instance(token: token))
            let full = try await restaurants.register(
                Restaurants.Instance(app: .full, environment: .sandbox, permission: .authorized))
            let trace = try await restaurants.send(headers: ["priority": 5, "collapseID": "c"])
            let sender = ScriptedSender()
            await Self.dispatch(2, restaurants, sender)
            let sent = sender.sent
            #expect(sent.count == 2)
            for request in sent {
                let isClip = request.environment == .production
                #expect(request.headers.topic == (isClip ? "com.example.MyApp.Clip" : "com.example.MyApp"))
                #expect(request.headers.priority == .powerAware)
                #expect(request.headers.collapseID == "c")
                let delivery = try #require(
                    trace.deliveries.first { $0.instance == (isClip ? clip : full) })
                #expect(request.headers.id == delivery.id.description)
                #expect(
                    request.headers.expiration?.epochSeconds
                        == delivery.expiresAt.map { Int($0.timeIntervalSince1970) })
                #expect(request.payload == trace.notification.payload)
                #expect(request.team.text == "ABCDE12345")
                if isClip { #expect(request.destination == .device(token)) }
            }
            let stored = try await restaurants.trace(trace).deliveries
            #expect(stored.allSatisfy { $0.state == .delivered && $0.attempt == 1 && $0.dueAt == nil })
            #expect(
                stored.allSatisfy {
                    $0.responses.map(\.result) == [.answered(status: 200, reason: nil, uniqueID: nil)]
                })
        }
    }

    /// Runs a dispatcher until it has completed this number of deliveries.
    private static func dispatch(
        _ count: Int, _ restaurants: Restaurants, _ sender: ScriptedSender
    ) async {
        let outbox = WatchedOutbox(restaurants.outbox)
        let dispatcher = Dispatcher(outbox, sender)
        async let run: Void = dispatcher.run()
        await outbox.completed.wait(for: count)
        dispatcher.shutDown()
        await run
    }

    @Test func deliveryIsLeasedOnceWhileTheLeaseLasts() async throws {
        try await Restaurants.withRestaurants(connections: 8) { restaurants in
            try await restaurants.registerMany(1_000)
            let trace = try await restaurants.send()
            let claims = try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        var ids: [DeliveryID] = []
                        while case let claimed = try await restaurants.outbox.claim(
                            37, of: restaurants.tenant, for: Self.minute), !claimed.isEmpty
                        {
                            ids += claimed.map(\.id)
                        }
                        return ids
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            // Concurrent claims skip rows that others have locked. A last claim leases these rows.
            let left = try await restaurants.outbox.claim(1_000, of: restaurants.tenant, for: Self.minute)
            let all = claims + left.map(\.id)
            #expect(all.count == 1_000)
            #expect(Set(all).count == 1_000)
            #expect(try await restaurants.trace(trace).counts.map(\.state) == [.sending])
            #expect(try await restaurants.outbox.tenantsWithDueDeliveries().isEmpty)
        }
    }

    /// Lost replies stay counted, because APNs received these requests.
    @Test func completionOfEarlierAttemptKeepsLostReplies() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance())
            try await restaurants.send()
            let outbox = restaurants.outbox
            let first = try await outbox.claim(1, of: restaurants.tenant, for: Self.minute)
            try await restaurants.passTime()
            let second = try await outbox.claim(1, of: restaurants.tenant, for: Self.minute)
            #expect(first.map(\.id) == second.map(\.id) && second.map(\.lostReplies) == [1])
            let taken = Completion.answered(first[0], APNsResponse(status: 200))
            #expect(try await outbox.complete([taken], of: restaurants.tenant) == 1)
            let lost = try await restaurants.stores.count("SELECT sum(lost_replies) FROM doorstep.deliveries")
            #expect(lost == 1)
        }
    }

    /// No token can reach the instances any more. Without an end, the deliveries would be leased again and again.
    @Test func deliveriesOfDeletedClipAreFinished() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(2)
            let trace = try await restaurants.send()
            let (outbox, tenant) = (restaurants.outbox, restaurants.tenant)
            #expect(try await outbox.claim(1, of: tenant, for: Self.minute).count == 1)
            try await restaurants.passTime()
            let registry = PostgresWebhookRegistry(restaurants.stores.adminPool, keys: Restaurants.keys)
            let webhook = Webhook(
                url: try WebhookURL("https://example.com/hooks"), secret: WebhookSecret.generate())
            _ = try await registry.create(
                webhook, named: nil, events: [.deliveryFinished], of: tenant, by: "operator:alice")
            _ = try await restaurants.stores.administration.deleteClip(
                BundleID(Restaurants.clip), of: tenant, cascade: true)

            // A claim finishes one batch.
            #expect(try await outbox.claim(1, of: tenant, for: Self.minute).isEmpty)
            let deliveries = try await restaurants.trace(trace).deliveries
            #expect(deliveries.count == 2)
            #expect(deliveries.allSatisfy { $0.dueAt == nil && $0.reason == "unknown_clip" })
            // One delivery may have been sent before.
            #expect(Set(deliveries.map(\.state)) == [.refused, .uncertain])
            #expect(try await outbox.tenantsWithDueDeliveries().isEmpty)
            let told = try await restaurants.stores.count(
                "SELECT count(*) FROM doorstep.webhook_messages WHERE type = 'delivery.finished'")
            #expect(told == 2)
        }
    }

    /// The webhook message about deliveries belongs to the trace of the request that sent them, if there is one such trace.
    @Test(
        arguments: [
            ([1, 1], 1), ([1, 2], nil), ([1, nil], nil), ([nil, nil], nil),
        ] as [([Int?], Int?)])
    func webhookMessageHasTraceOfNotifications(sent: [Int?], expected: Int?) async throws {
        func trace(_ number: Int?) -> TraceContext? {
            number.flatMap { TraceContext(stored: "\(String(repeating: "\($0)", count: 32))-01") }
        }
        try await Restaurants.withRestaurants { restaurants in
            let (outbox, tenant) = (restaurants.outbox, restaurants.tenant)
            let registry = PostgresWebhookRegistry(restaurants.stores.adminPool, keys: Restaurants.keys)
            let webhook = try await registry.create(
                Webhook(url: try WebhookURL("https://example.com/hooks"), secret: WebhookSecret.generate()),
                named: nil, events: [.deliveryFinished], of: tenant, by: "operator:alice")
            try await restaurants.register(Restaurants.Instance())
            for number in sent {
                _ = try await TraceContext.$current.withValue(trace(number)) { try await restaurants.send() }
            }
            let claimed = try await outbox.claim(10, of: tenant, for: Self.minute)
            #expect(claimed.count == sent.count)
            let completions = claimed.map { Completion.answered($0, APNsResponse(status: 200)) }
            #expect(try await outbox.complete(completions, of: tenant) == sent.count)
            let messages = try await PostgresWebhookStore(restaurants.pool, keys: Restaurants.keys).claim(
                of: WebhookReference(webhook.id, of: tenant), limit: 10, lease: Self.minute,
                maximumAge: Self.minute)?.messages
            #expect(messages?.map(\.trace) == [trace(expected)])
        }
    }

    @Test func lateCompletionChangesNothing() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance())
            let trace = try await restaurants.send()
            let outbox = restaurants.outbox
            let first = try await outbox.claim(1, of: restaurants.tenant, for: Self.minute)
            try await restaurants.passTime()
            let second = try await outbox.claim(1, of: restaurants.tenant, for: Self.minute)
            #expect(first.map(\.id) == second.map(\.id))
            #expect(second.map(\.attempt) == [2] && second.map(\.lostReplies) == [1])
            let late = Completion.answered(first[0], APNsResponse(status: 400, reason: .badDeviceToken))
            #expect(try await outbox.complete([late], of: restaurants.tenant) == 0)
            #expect(try await restaurants.trace(trace).deliveries.map(\.state) == [.sending])
            let right = Completion.answered(second[0], APNsResponse(status: 200))
            #expect(try await outbox.complete([right], of: restaurants.tenant) == 1)
            #expect(try await outbox.complete([right], of: restaurants.tenant) == 0)
            let stored = try await restaurants.trace(trace).deliveries
            #expect(stored.map(\.state) == [.delivered])
            #expect(stored.map(\.responses.count) == [1])
        }
    }

    /// APNs refuses a token. The token is retired unless it was registered again after the time that APNs gives.
    @Test(
        arguments: [
            (APNsReason.badDeviceToken, nil, true), (.unregistered, -30, true), (.unregistered, -90, false),
            (.expiredToken, nil, true), (.deviceTokenNotForTopic, nil, true), (.payloadTooLarge, nil, false),
            (.badTopic, nil, false),
        ] as [(APNsReason, TimeInterval?, Bool)])
    func tokensAreRetiredUnlessRegisteredSince(
        reason: APNsReason, invalidSince: TimeInterval?, isRetired: Bool
    ) async throws {
        try await Restaurants.withRestaurants { restaurants in
            // The token was registered 60 seconds ago.
            let id = try await restaurants.register(Restaurants.Instance())
            let trace = try await restaurants.send()
            let claimed = try await restaurants.outbox.claim(1, of: restaurants.tenant, for: Self.minute)
            let response = APNsResponse(
                status: reason.status ?? 0, reason: reason,
                invalidSince: invalidSince.map { restaurants.now.addingTimeInterval($0) })
            try await restaurants.outbox.complete([.answered(claimed[0], response)], of: restaurants.tenant)
            let stored = try await restaurants.trace(trace).deliveries
            #expect(stored.map(\.state) == [.refused] && stored.map(\.reason) == [reason.rawValue])
            #expect(
                try await restaurants.send(to: .instance(id)).decisions == [
                    id: isRetired ? "token_dead" : "queued"
                ])
        }
    }

    @Test func tokenReplacedMeanwhileIsNotRetired() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let id = try await restaurants.register(Restaurants.Instance())
            try await restaurants.send()
            let claimed = try await restaurants.outbox.claim(1, of: restaurants.tenant, for: Self.minute)
            let new = PushToken.random()
            try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) { transaction in
                _ = try await transaction.execute(
                    """
                    UPDATE doorstep.push_tokens
                    SET digest = \(Restaurants.keys.of(restaurants.tenant).digests(of: new)[0])
                    WHERE tenant_id = \(restaurants.tenant.uuid)
                    """)
            }
            let response = APNsResponse(status: 410, reason: .unregistered, invalidSince: Date())
            try await restaurants.outbox.complete([.answered(claimed[0], response)], of: restaurants.tenant)
            #expect(try await restaurants.send(to: .instance(id)).decisions == [id: "queued"])
        }
    }

    @Test func queuedDeliveryUsesTheInstancesCurrentState() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let gone = try await restaurants.register(Restaurants.Instance())
            let upgraded = try await restaurants.register(Restaurants.Instance())
            let trace = try await restaurants.send()
            try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) { transaction in
                try await transaction.execute(
                    "DELETE FROM doorstep.instances WHERE instance_id = \(gone.uuid)")
                try await transaction.execute(
                    """
                    UPDATE doorstep.instances SET app = 'full', permission = 'authorized'
                    WHERE instance_id = \(upgraded.uuid)
                    """)
            }
            let sender = ScriptedSender()
            await Self.dispatch(2, restaurants, sender)
            #expect(sender.sent.map(\.headers.topic) == ["com.example.MyApp"])
            let stored = try await restaurants.trace(trace).deliveries
            #expect(
                Set(stored.map { "\($0.state.rawValue) \($0.reason ?? "-")" })
                    == ["refused no_token", "delivered -"])
        }
    }

    @Test func retriesAreDelayedAndCounted() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance(permission: .authorized))
            let trace = try await restaurants.send()
            for attempt in 1...DeliveryVerdict.maximumPostponements + 1 {
                let claimed = try await restaurants.outbox.claim(1, of: restaurants.tenant, for: Self.minute)
                #expect(claimed.map(\.attempt) == [attempt] && claimed.map(\.postponements) == [attempt - 1])
                let response = APNsResponse(status: 503, reason: .serviceUnavailable)
                try await restaurants.outbox.complete(
                    [.answered(claimed[0], response)], of: restaurants.tenant)
                #expect(
                    try await restaurants.outbox.claim(1, of: restaurants.tenant, for: Self.minute).isEmpty)
                let stored = try #require(try await restaurants.trace(trace).deliveries.first)
                let isLast = attempt > DeliveryVerdict.maximumPostponements
                #expect(stored.state == (isLast ? .refused : .queued))
                #expect(stored.dueAt.map { $0.timeIntervalSinceNow > 800 } ?? isLast)
                try await restaurants.passTime()
            }
        }
    }

    @Test func dispatchIsFairBetweenTenants() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let small = try await restaurants.stores.createTenant("small")
            try await Restaurants.open(of: small, restaurants.stores)
            let table = try await restaurants.stores.loadTable()
            try await restaurants.registerMany(10_000)
            for _ in 0..<10 { try await restaurants.send() }
            try await restaurants.register(Restaurants.Instance(), of: small)
            let order = Mutex<[TenantID]>([])
            let served = Tally()
            let outbox = WatchedOutbox(restaurants.outbox) { tenant, count in
                order.withLock { $0 += [TenantID](repeating: tenant, count: count) }
                if tenant == small { served.add() }
            }
            _ = try await restaurants.intake.accept(
                restaurants.submission(), in: table.of(small), at: restaurants.now)
            #expect(
                try await restaurants.stores.count(
                    "SELECT count(*) FROM doorstep.deliveries WHERE state = 'queued'") == 100_001)
            var settings = Dispatcher.Settings()
            settings.maximumInFlight = 1_000
            settings.batch = 200
            let dispatcher = Dispatcher(outbox, ScriptedSender(), settings: settings)
            async let run: Void = dispatcher.run()
            await served.wait(for: 1)
            dispatcher.shutDown()
            await run
            // At most one batch of the large notification comes first.
            let position = try #require(order.withLock { $0.firstIndex(of: small) })
            #expect(position <= settings.batch)
        }
    }

    @Test func deliveriesOfSuspendedTenantWaitUntilItIsResumed() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance())
            try await restaurants.send()
            let administration = restaurants.stores.administration
            let slug = try #require(try await administration.tenants().first?.slug)
            _ = try await administration.setSuspended(true, slug)
            #expect(try await restaurants.outbox.tenantsWithDueDeliveries().isEmpty)
            _ = try await administration.setSuspended(false, slug)
            #expect(try await restaurants.outbox.tenantsWithDueDeliveries().count == 1)
        }
    }

    @Test func deliveriesOfDeadServerAreTakenOver() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(20)
            let trace = try await restaurants.send()
            let taken = Tally()
            let hung = ScriptedSender { _ in
                taken.add()
                // The sender hangs until its server dies.
                try? await Task.sleep(for: .seconds(600))
                return .unanswered(.connectionClosed)
            }
            let dead = Dispatcher(WatchedOutbox(restaurants.outbox, losesCompletions: true), hung)
            let process = Task { await dead.run() }
            await taken.wait(for: 20)
            process.cancel()
            await process.value
            #expect(try await restaurants.trace(trace).counts.map(\.state) == [.sending])
            try await restaurants.passTime()
            let sender = ScriptedSender()
            await Self.dispatch(20, restaurants, sender)
            #expect(try await restaurants.trace(trace).counts.map(\.state) == [.delivered])
            #expect(Set(sender.sent.map(\.headers.id)) == Set(hung.sent.map(\.headers.id)))
            #expect(sender.sent.count == 20)
            let stored = try await restaurants.trace(trace).deliveries
            #expect(stored.allSatisfy { $0.attempt == 2 && $0.responses.map(\.attempt) == [2] })
        }
    }

    /// In the end each delivery is delivered, and none is lost.
    @Test func killedConnectionsLoseNoDeliveries() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(2_000)
            let trace = try await restaurants.send()
            var settings = Dispatcher.Settings()
            settings.batch = 50
            settings.retryInterval = .milliseconds(5)
            settings.pollInterval = .milliseconds(20)
            settings.lease = .seconds(1)
            settings.lastTries = 1_000
            let sender = ScriptedSender()
            let dispatcher = Dispatcher(restaurants.outbox, sender, settings: settings)
            let run = Task { await dispatcher.run() }
            let killed = try await restaurants.killBackends(
                whileLeft: "SELECT count(*) FROM doorstep.deliveries WHERE due_at IS NOT NULL")
            dispatcher.shutDown()
            await run.value
            #expect(killed > 0)
            #expect(Set(sender.sent.map(\.headers.id)).count == 2_000)
            let counts = try #require(
                try await restaurants.notifications.trace(
                    trace.notification.id, of: restaurants.tenant, after: nil, limit: 1)
            ).counts
            #expect(counts == [DeliveryCount(state: .delivered, reason: nil, count: 2_000)])
        }
    }
}

/// An outbox that reports its use and can lose completions.
private final class WatchedOutbox: Outbox {
    private let outbox: PostgresOutbox
    private let losesCompletions: Bool
    private let onClaim: @Sendable (TenantID, Int) -> Void
    let completed = Tally()

    init(
        _ outbox: PostgresOutbox, losesCompletions: Bool = false,
        onClaim: @escaping @Sendable (TenantID, Int) -> Void = { _, _ in }
    ) {
        self.outbox = outbox
        self.losesCompletions = losesCompletions
        self.onClaim = onClaim
    }

    func tenantsWithDueDeliveries() async throws -> [DueTenant] {
        try await outbox.tenantsWithDueDeliveries()
    }

    func claim(_ limit: Int, of tenant: TenantID, for lease: Duration) async throws -> [ClaimedDelivery] {
        let claimed = try await outbox.claim(limit, of: tenant, for: lease)
        onClaim(tenant, claimed.count)
        return claimed
    }

    func complete(_ completions: [Completion], of tenant: TenantID) async throws -> Int {
        guard !losesCompletions else { throw StoreUnavailable() }
        let count = try await outbox.complete(completions, of: tenant)
        completed.add(count)
        return count
    }
}

/// A counter on which one task can wait.
private final class Tally: Sendable {
    private struct State {
        var count = 0
        var waiter: (number: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    func add(_ number: Int = 1) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.count += number
            guard let waiter = state.waiter, state.count >= waiter.number else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    func wait(for number: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count < number { state.waiter = (number, continuation) }
                return state.count >= number
            }
            if isThere { continuation.resume() }
        }
    }
}
