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

/// Idempotency keys of requests that create an item.
@Suite struct IdempotencyStoreTests {
    private struct Fixture {
        let stores: Stores
        let tenant: TenantID
        let store: PostgresIdempotencyStore

        func key(_ text: String = "a", _ content: JSONObject = ["url": "x"]) throws -> IdempotencyKey {
            try #require(IdempotencyKey(text, for: content, of: tenant))
        }

        /// Claims a key that no other attempt holds.
        func claim(_ text: String = "a") async throws -> IdempotencyClaim {
            let outcome = try await store.claim(try key(text), of: tenant)
            guard case .claimed(let claim) = outcome else {
                Issue.record("the key is taken: \(outcome)")
                throw StoreUnavailable()
            }
            return claim
        }

        /// Creates a channel, as a request with the claim does.
        func create(_ id: String, by claim: IdempotencyClaim) async throws {
            let channel = BroadcastChannel(
                id: try #require(ChannelID(id)), clip: try BundleID("com.example.MyApp.Clip"),
                environment: .production, storesLastMessage: false, createdAt: Date())
            try await IdempotencyClaim.$current.withValue(claim) {
                try await PostgresChannelStore(stores.appPool).add(channel, of: tenant)
            }
        }

        func channels() async throws -> [String] {
            try await PostgresChannelStore(stores.appPool).channels(of: tenant).map(\.id.text)
        }

        /// Ends the lease of a claim.
        func endLease() async throws {
            try await update("claimed_until = now()")
        }

        func update(_ assignments: String) async throws {
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction {
                    _ = try await $0.execute(
                        "UPDATE doorstep.idempotency_keys SET \(unsafeSQL: assignments)")
                }
            }
        }
    }

    private static func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await body(
                Fixture(stores: stores, tenant: tenant, store: PostgresIdempotencyStore(stores.appPool)))
        }
    }

    @Test func completedRequestIsRepeated() async throws {
        try await Self.withFixture { fixture in
            let claim = try await fixture.claim()
            let key = try fixture.key()
            #expect(try await fixture.store.claim(key, of: fixture.tenant) == .inUse)
            try await fixture.create("YQ==", by: claim)
            // The response is not stored yet.
            #expect(try await fixture.store.claim(key, of: fixture.tenant) == .inUse)
            try await fixture.store.complete(claim, with: [1, 2, 3])
            for _ in 0..<2 {
                #expect(
                    try await fixture.store.claim(key, of: fixture.tenant)
                        == .completed(claim, sealedResponse: [1, 2, 3]))
            }
            let other = try fixture.key("a", ["url": "y"])
            #expect(try await fixture.store.claim(other, of: fixture.tenant) == .reused)
            // Keys of another tenant are independent.
            let neighbour = try await fixture.stores.createTenant("neighbour")
            let theirs = try #require(IdempotencyKey("a", for: ["url": "x"], of: neighbour))
            guard case .claimed = try await fixture.store.claim(theirs, of: neighbour) else {
                Issue.record("the neighbour's key is taken")
                return
            }
        }
    }

    /// Each server has its own pool.
    @Test func oneOfManyConcurrentRequestsIsCarriedOut() async throws {
        try await Self.withFixture { fixture in
            try await fixture.stores.database.withPool(as: .serve) { pool in
                let stores = [fixture.store, PostgresIdempotencyStore(pool)]
                let outcomes = try await withThrowingTaskGroup(of: IdempotencyClaim.Outcome.self) { group in
                    for number in 0..<16 {
                        let key = try fixture.key()
                        group.addTask {
                            try await stores[number % 2].claim(key, of: fixture.tenant)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.count { $0 == .inUse } == 15)
            }
        }
    }

    @Test func failedRequestFreesItsKey() async throws {
        try await Self.withFixture { fixture in
            let first = try await fixture.claim()
            try await fixture.store.release(first)
            let second = try await fixture.claim()
            // The first attempt has ended, so its claim does not affect the second one.
            try await fixture.store.release(first)
            try await fixture.store.complete(first, with: [1])
            #expect(try await fixture.store.claim(try fixture.key(), of: fixture.tenant) == .inUse)
            await #expect(throws: StoreUnavailable.self) { try await fixture.create("YQ==", by: first) }
            #expect(try await fixture.channels().isEmpty)
            try await fixture.create("Yg==", by: second)
            #expect(try await fixture.channels() == ["Yg=="])
        }
    }

    /// The first server ended, or is only slow. If it writes later, its transaction is rolled back.
    @Test func abandonedAttemptIsReplaced() async throws {
        try await Self.withFixture { fixture in
            let first = try await fixture.claim()
            try await fixture.endLease()
            let second = try await fixture.claim()
            #expect(try await fixture.store.claim(try fixture.key(), of: fixture.tenant) == .inUse)
            await #expect(throws: StoreUnavailable.self) { try await fixture.create("YQ==", by: first) }
            try await fixture.create("Yg==", by: second)
            #expect(try await fixture.channels() == ["Yg=="])
        }
    }

    @Test(arguments: [true, false])
    func performedRequestIsNeverRepeated(isReleased: Bool) async throws {
        try await Self.withFixture { fixture in
            let claim = try await fixture.claim()
            try await fixture.create("YQ==", by: claim)
            if isReleased { try await fixture.store.release(claim) } else { try await fixture.endLease() }
            #expect(try await fixture.store.claim(try fixture.key(), of: fixture.tenant) == .responseLost)
            // The slow server stores its response later.
            try await fixture.store.complete(claim, with: [1])
            #expect(
                try await fixture.store.claim(try fixture.key(), of: fixture.tenant)
                    == .completed(claim, sealedResponse: [1]))
        }
    }

    /// The connection is lost during COMMIT. Other attempts wait until the outcome is certain.
    @Test(arguments: [true, false])
    func outcomeOfACommitIsAwaited(isReleased: Bool) async throws {
        try await Self.withFixture { fixture in
            let claim = try await fixture.claim()
            let store = fixture.store
            let key = try fixture.key()
            try await fixture.endLease()
            let task = try await fixture.stores.appPool.withTenantTransaction(fixture.tenant, as: .app) {
                transaction in
                try await transaction.recordPerformed(claim)
                let task = Task {
                    if isReleased { try await store.release(claim) }
                    return try await store.claim(key, of: claim.tenant)
                }
                try await fixture.stores.waitForWaiters()
                return task
            }
            let outcome = try await task.value
            // The second attempt learns the outcome when it repeats the request.
            #expect(outcome == (isReleased ? .responseLost : .inUse))
            #expect(try await store.claim(key, of: claim.tenant) == .responseLost)
        }
    }

    @Test func keysAndWebhooksAreCreatedOnce() async throws {
        try await Self.withFixture { fixture in
            let maker = try await fixture.stores.administration.createKey(
                KeyTests.key(number: 1), scopes: .all, expiresAt: nil, of: fixture.tenant)
            let expired = try await fixture.claim()
            try await fixture.endLease()
            let claim = try await fixture.claim()
            try await fixture.stores.database.withPool(as: .manager) { pool in
                let followed = FollowedTable(fixture.stores.routerPool)
                try await followed.running {
                    let keys = ManagedCatalogue(pool, followedBy: followed.feed).keys
                    func create(_ number: UInt32, by claim: IdempotencyClaim) async throws {
                        try await IdempotencyClaim.$current.withValue(claim) {
                            _ = try await keys.create(
                                KeyTests.key(number: number), named: nil, scopes: nil, locations: nil,
                                expiresAt: nil,
                                by: .key(maker.id), of: fixture.tenant)
                        }
                    }
                    await #expect(throws: StoreUnavailable.self) { try await create(2, by: expired) }
                    try await create(3, by: claim)
                    #expect(try await keys.keys(of: fixture.tenant, after: nil, limit: 9).count == 2)
                }
                let secrets = try #require(SealingKeys(secrets: [String(repeating: "a", count: 32)]))
                let registry = PostgresWebhookRegistry(managing: pool, keys: secrets)
                let webhook = Webhook(url: try WebhookURL("https://example.com"), secret: .generate())
                for claim in [expired, try await fixture.claim("b")] {
                    try? await IdempotencyClaim.$current.withValue(claim) {
                        _ = try await registry.create(
                            webhook, named: nil, events: [.keyRevoked], of: fixture.tenant, by: "key:1")
                    }
                }
                let webhooks = try await registry.webhooks(of: fixture.tenant, after: nil, limit: 9)
                #expect(webhooks.count == 1)
            }
            #expect(
                try await fixture.stores.count(
                    "SELECT count(*) FROM doorstep.idempotency_keys WHERE performed_at IS NOT NULL") == 2)
        }
    }

    @Test func keyIsFreeAfterADay() async throws {
        try await Self.withFixture { fixture in
            let claim = try await fixture.claim()
            try await fixture.store.complete(claim, with: [1])
            try await fixture.update("created_at = now() - interval '23 hours 59 minutes'")
            #expect(
                try await fixture.store.claim(try fixture.key(), of: fixture.tenant)
                    == .completed(claim, sealedResponse: [1]))
            try await fixture.update("created_at = now() - interval '24 hours'")
            #expect(try await fixture.claim().id != claim.id)
        }
    }

    @Test func notificationsShareTheKeys() async throws {
        try await Self.withFixture { fixture in
            let (key, other) = (try fixture.key(), try fixture.key("b"))
            _ = try await fixture.claim("b")
            let (isTaken, isOtherTaken, addition) = try await fixture.stores.appPool.withTenantTransaction(
                fixture.tenant, as: .app
            ) { transaction in
                (
                    try await transaction.take(key, for: NotificationID(UUID())),
                    try await transaction.take(other, for: NotificationID(UUID())),
                    try await transaction.addition(with: other)
                )
            }
            #expect(isTaken && !isOtherTaken && addition == .refused(.idempotencyKeyReused))
            #expect(try await fixture.store.claim(key, of: fixture.tenant) == .reused)
        }
    }

    @Test func tooManyKeysAreRefused() async throws {
        try await Self.withFixture { fixture in
            let tenant = fixture.tenant
            try await fixture.stores.appPool.withTenantTransaction(tenant, as: .app) { transaction in
                _ = try await transaction.execute(
                    """
                    INSERT INTO doorstep.idempotency_keys (tenant_id, key, request_digest, claim_id, claimed_until)
                    SELECT \(tenant.uuid), 'key ' || n, sha256(''), gen_random_uuid(), now()
                    FROM generate_series(2, \(IdempotencyClaim.maximumCount)) AS n
                    """)
            }
            _ = try await fixture.claim()
            #expect(try await fixture.store.claim(try fixture.key("b"), of: tenant) == .tooMany)
            // Existing keys are still known.
            #expect(try await fixture.store.claim(try fixture.key(), of: tenant) == .inUse)
        }
    }

    @Test func databaseThatIsAwayIsUnavailable() async throws {
        try await Self.withFixture { fixture in
            let claim = try await fixture.claim()
            await fixture.stores.appPool.close()
            await #expect(throws: StoreUnavailable.self) {
                try await fixture.store.claim(try fixture.key("b"), of: fixture.tenant)
            }
            await #expect(throws: StoreUnavailable.self) {
                try await fixture.store.complete(claim, with: [1])
            }
            await #expect(throws: StoreUnavailable.self) { try await fixture.store.release(claim) }
        }
    }
}
