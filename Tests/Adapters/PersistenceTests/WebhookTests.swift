import Foundation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct WebhookTests {
    private struct Fixture {
        let stores: Stores
        let serverPool: ConnectionPool
        let tenant: TenantID
        let registry: PostgresWebhookRegistry
        let store: PostgresWebhookStore

        static let age = Duration.seconds(86_400)

        func addMessages(
            _ count: Int, of tenant: TenantID? = nil, due: String = "now()", made: String = "now()"
        ) async throws {
            let tenant = tenant ?? self.tenant
            try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.webhook_messages (tenant_id, message_id, body, due_at, created_at)
                    SELECT \(tenant.uuid), gen_random_uuid(), convert_to(n::text, 'UTF8'), \(unsafeSQL: due),
                        \(unsafeSQL: made)
                    FROM generate_series(1, \(count)) AS n
                    """)
            }
        }
    }

    private static func keys(_ secrets: String...) throws -> SealingKeys {
        try #require(SealingKeys(secrets: secrets.map { String(repeating: $0, count: 32) }))
    }

    private static func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .serve) { pool in
                let keys = try keys("a")
                try await body(
                    Fixture(
                        stores: stores, serverPool: pool, tenant: tenant,
                        registry: PostgresWebhookRegistry(
                            stores.adminPool, keys: keys, actor: "operator:alice"),
                        store: PostgresWebhookStore(pool, keys: keys)))
            }
        }
    }

    private static func secret() -> WebhookSecret {
        var generator = SystemRandomNumberGenerator()
        return WebhookSecret(using: &generator)
    }

    @Test func aWebhookIsRegisteredChangedAndRemoved() async throws {
        try await Self.withFixture { fixture in
            let url = try WebhookURL("https://example.com/hooks")
            let other = try WebhookURL("https://example.com/others")
            let (first, second) = (Self.secret(), Self.secret())
            let (registry, tenant) = (fixture.registry, fixture.tenant)
            #expect(try await registry.webhook(of: tenant) == nil)
            #expect(try await !registry.setWebhook(url, secret: nil, of: tenant))
            #expect(try await registry.webhook(of: tenant) == nil)
            #expect(try await registry.setWebhook(url, secret: first, of: tenant))
            #expect(try await registry.setWebhook(other, secret: nil, of: tenant))
            #expect(try await registry.webhook(of: tenant)?.webhook == Webhook(url: other, secret: first))
            #expect(try await registry.setWebhook(url, secret: second, of: tenant))
            try await fixture.addMessages(3)
            let registered = try #require(try await registry.webhook(of: tenant))
            #expect(registered.webhook == Webhook(url: url, secret: second) && registered.waitingCount == 3)
            let neighbour = try await fixture.stores.createTenant("neighbour")
            #expect(try await registry.webhook(of: neighbour) == nil)
            #expect(try await registry.removeWebhook(of: neighbour) == nil)
            #expect(try await registry.removeWebhook(of: tenant) == 3)
            #expect(try await registry.webhook(of: tenant) == nil)
            #expect(try await registry.removeWebhook(of: tenant) == nil)
        }
    }

    /// The audit log tells of changes, and neither it nor the table tells the secret.
    @Test func theSecretIsNowhereReadable() async throws {
        try await Self.withFixture { fixture in
            let secret = try #require(WebhookSecret(Array("canary-canary-canary-canary!".utf8)))
            let url = try WebhookURL("https://example.com/hooks")
            _ = try await fixture.registry.setWebhook(url, secret: secret, of: fixture.tenant)
            try await fixture.stores.database.withSuperuser { pool in
                let rows = try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT w::text || encode(w.sealed_secret, 'escape') FROM doorstep.webhooks w
                        UNION ALL SELECT a::text FROM doorstep.audit_log a
                        """
                    ).map { try $0.decode(at: 0, as: String.self) }
                }
                #expect(rows.contains { $0.contains("operator:alice") && $0.contains("webhooks") })
                #expect(!rows.contains { $0.contains("canary") || $0.contains("63616e617279") })
                #expect(!rows.contains { $0.contains("after") && $0.contains("sealed_secret") })
            }
            let strange = PostgresWebhookRegistry(
                fixture.stores.adminPool, keys: try Self.keys("b"), actor: "x")
            await #expect(throws: PersistenceError.sealed("webhooks")) {
                try await strange.webhook(of: fixture.tenant)
            }
            let rotated = PostgresWebhookRegistry(
                fixture.stores.adminPool, keys: try Self.keys("b", "a"), actor: "x")
            #expect(try await rotated.webhook(of: fixture.tenant)?.webhook.secret == secret)
        }
    }

    /// The log tells that a secret was replaced, and by whom; that it was sealed anew is no change.
    @Test func aSecretThatIsReplacedIsAnEntry() async throws {
        try await Self.withFixture { fixture in
            let (stores, tenant) = (fixture.stores, fixture.tenant)
            func entries() async throws -> [String] {
                try await stores.database.withSuperuser { pool in
                    try await pool.withConnection { connection in
                        try await connection.execute(
                            """
                            SELECT a::text FROM doorstep.audit_log a
                            WHERE relation = 'webhooks' AND action = 'update' AND actor = 'operator:alice'
                            ORDER BY entry_id
                            """
                        ).map { try $0.decode(at: 0, as: String.self) }
                    }
                }
            }
            let url = try WebhookURL("https://example.com/hooks")
            _ = try await fixture.registry.setWebhook(url, secret: Self.secret(), of: tenant)
            let canary = try #require(WebhookSecret(Array("canary-canary-canary-canary!".utf8)))
            #expect(try await fixture.registry.replaceSecret(by: canary, of: tenant) == url)
            let rotated = try await entries()
            #expect(rotated.count == 1 && rotated[0].contains("secret_changed_at"))
            #expect(!rotated[0].contains("sealed") && !rotated[0].contains("canary"))
            #expect(!rotated[0].contains("63616e617279"))

            // Set again with another secret, it is one more; with the same address and no secret, none.
            _ = try await fixture.registry.setWebhook(url, secret: Self.secret(), of: tenant)
            _ = try await fixture.registry.setWebhook(url, secret: nil, of: tenant)
            #expect(try await entries().count == 2)
            let newer = PostgresWebhookRegistry(
                stores.adminPool, keys: try Self.keys("b", "a"), actor: "operator:alice")
            #expect(try await newer.resealSecret(of: tenant).resealed == 1)
            #expect(try await entries().count == 2)
        }
    }

    @Test func messagesAreLentOnceAndComeBack() async throws {
        try await Self.withFixture { fixture in
            let (store, tenant) = (fixture.store, fixture.tenant)
            _ = try await fixture.registry.setWebhook(
                try WebhookURL("https://example.com"), secret: Self.secret(), of: tenant)
            #expect(try await store.tenantsWithDueMessages(limit: 10, excluding: []) == [])
            try await fixture.addMessages(2, due: "now() + interval '1 hour'")
            #expect(try await store.tenantsWithDueMessages(limit: 10, excluding: []) == [])
            try await fixture.addMessages(3)
            #expect(try await store.tenantsWithDueMessages(limit: 10, excluding: []) == [tenant])
            let first = try #require(
                try await store.claim(
                    of: tenant, limit: 2, lease: .seconds(60), maximumAge: Fixture.age))
            let second = try #require(
                try await store.claim(
                    of: tenant, limit: 2, lease: .zero, maximumAge: Fixture.age))
            #expect(first.messages.map(\.attempt) == [1, 1] && second.messages.map(\.attempt) == [1])
            #expect(Set((first.messages + second.messages).map(\.id)).count == 3)
            #expect(Set((first.messages + second.messages).map(\.body)) == [[0x31], [0x32], [0x33]])
            // The second's lease is over: who had it comes too late with what it found.
            let third = try #require(
                try await store.claim(
                    of: tenant, limit: 2, lease: .seconds(60), maximumAge: Fixture.age))
            #expect(third.messages.map(\.id) == second.messages.map(\.id))
            #expect(third.messages.map(\.attempt) == [2])
            try await store.remove(second.messages, of: tenant)
            try await store.retry(second.messages[0], of: tenant, after: .zero)
            #expect(try await store.tenantsWithDueMessages(limit: 10, excluding: []) == [])
            try await store.remove(first.messages, of: tenant)
            try await store.retry(third.messages[0], of: tenant, after: .zero)
            let fourth = try #require(
                try await store.claim(
                    of: tenant, limit: 9, lease: .seconds(60), maximumAge: Fixture.age))
            #expect(fourth.messages.map(\.attempt) == [3])
            try await store.remove(fourth.messages, of: tenant)
            #expect(try await fixture.registry.webhook(of: tenant)?.waitingCount == 2)
        }
    }

    @Test func tenantsAreFoundHoweverManyMessagesOneHas() async throws {
        try await Self.withFixture { fixture in
            let neighbour = try await fixture.stores.createTenant("neighbour")
            for tenant in [fixture.tenant, neighbour] {
                _ = try await fixture.registry.setWebhook(
                    try WebhookURL("https://example.com"), secret: Self.secret(), of: tenant)
            }
            try await fixture.addMessages(500)
            try await fixture.addMessages(1, of: neighbour)
            let found = try await fixture.store.tenantsWithDueMessages(limit: 10, excluding: [])
            #expect(Set(found) == [fixture.tenant, neighbour] && found.count == 2)
            #expect(try await fixture.store.tenantsWithDueMessages(limit: 1, excluding: []).count == 1)
            #expect(
                try await fixture.store.tenantsWithDueMessages(limit: 1, excluding: [fixture.tenant])
                    == [neighbour])
            #expect(
                try await fixture.store.tenantsWithDueMessages(
                    limit: 1, excluding: [fixture.tenant, neighbour]) == [])
            // Of the one, never the other's.
            let claimed = try #require(
                try await fixture.store.claim(
                    of: neighbour, limit: 1_000, lease: .seconds(60), maximumAge: Fixture.age))
            #expect(claimed.messages.count == 1)
        }
    }

    @Test func whatIsGivenBackIsAsIfItHadNotBeenLent() async throws {
        try await Self.withFixture { fixture in
            let (store, tenant) = (fixture.store, fixture.tenant)
            _ = try await fixture.registry.setWebhook(
                try WebhookURL("https://example.com"), secret: Self.secret(), of: tenant)
            try await fixture.addMessages(1)
            func claim() async throws -> [WebhookMessage] {
                try #require(
                    try await store.claim(of: tenant, limit: 2, lease: .seconds(60), maximumAge: Fixture.age)
                ).messages
            }
            let first = try await claim()
            #expect(first.map(\.attempt) == [1])
            #expect(try await claim() == [])
            try await store.giveBack(first[0], of: tenant)
            #expect(try await claim() == first)
            // Whose loan it is not any more gives nothing back.
            try await store.retry(first[0], of: tenant, after: .zero)
            let second = try await claim()
            #expect(second.map(\.attempt) == [2])
            try await store.giveBack(first[0], of: tenant)
            #expect(try await claim() == [])
        }
    }

    @Test func whatIsTooOldIsRemovedWhenItIsSeen() async throws {
        try await Self.withFixture { fixture in
            let (store, tenant) = (fixture.store, fixture.tenant)
            _ = try await fixture.registry.setWebhook(
                try WebhookURL("https://example.com"), secret: Self.secret(), of: tenant)
            let old = "now() - interval '25 hours'"
            try await fixture.addMessages(3, due: old, made: old)
            try await fixture.addMessages(2, made: "now() - interval '23 hours'")
            try await fixture.addMessages(1, due: "now() + interval '1 hour'", made: old)
            func claim(_ limit: Int) async throws -> WebhookClaim {
                try #require(
                    try await store.claim(
                        of: tenant, limit: limit, lease: .seconds(60), maximumAge: Fixture.age))
            }
            let first = try await claim(2)
            #expect(first.outdatedCount == 2 && first.messages.isEmpty)
            let second = try await claim(4)
            #expect(second.outdatedCount == 1 && second.messages.count == 2)
            #expect(try await claim(4).outdatedCount == 0)
            #expect(try await fixture.registry.webhook(of: tenant)?.waitingCount == 3)
        }
    }

    /// As tokens, when the servers' secret is replaced; and the audit log has nothing to tell.
    @Test func aSecretIsSealedAgain() async throws {
        try await Self.withFixture { fixture in
            let (tenant, stores) = (fixture.tenant, fixture.stores)
            func registry(_ secrets: String...) throws -> PostgresWebhookRegistry {
                let keys = SealingKeys(secrets: secrets.map { String(repeating: $0, count: 32) })
                return PostgresWebhookRegistry(stores.adminPool, keys: try #require(keys), actor: "x")
            }
            func changes() async throws -> Int {
                try await stores.database.withSuperuser { pool in
                    try await pool.withConnection { connection in
                        try await connection.execute(
                            "SELECT count(*) FROM doorstep.audit_log WHERE relation = 'webhooks'"
                        ).one().decode(at: 0)
                    }
                }
            }
            #expect(try await registry("b", "a").resealSecret(of: tenant) == .init())
            let webhook = Webhook(url: try WebhookURL("https://example.com"), secret: Self.secret())
            _ = try await fixture.registry.setWebhook(webhook.url, secret: webhook.secret, of: tenant)
            #expect(try await changes() == 1)
            #expect(try await registry("b").resealSecret(of: tenant) == .init(unreadable: 1))
            #expect(try await registry("b", "a").resealSecret(of: tenant) == .init(resealed: 1))
            #expect(try await registry("b", "a").resealSecret(of: tenant) == .init())
            #expect(try await registry("b").webhook(of: tenant)?.webhook == webhook)
            #expect(try await changes() == 1)
        }
    }

    @Test func aSecretThatNothingOpensIsReplaced() async throws {
        try await Self.withFixture { fixture in
            let strange = PostgresWebhookRegistry(
                fixture.stores.adminPool, keys: try Self.keys("b"), actor: "x")
            let url = try WebhookURL("https://example.com/hooks")
            let new = Self.secret()
            #expect(try await strange.replaceSecret(by: new, of: fixture.tenant) == nil)
            _ = try await fixture.registry.setWebhook(url, secret: Self.secret(), of: fixture.tenant)
            #expect(try await strange.replaceSecret(by: new, of: fixture.tenant) == url)
            #expect(
                try await strange.webhook(of: fixture.tenant)?.webhook == Webhook(url: url, secret: new))
        }
    }
}
