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

        func addMessages(_ count: Int, of tenant: TenantID? = nil, due: String = "now()") async throws {
            let tenant = tenant ?? self.tenant
            try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.webhook_messages (tenant_id, message_id, body, due_at)
                    SELECT \(tenant.uuid), gen_random_uuid(), convert_to(n::text, 'UTF8'), \(unsafeSQL: due)
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
            let secret = WebhookSecret(Array("canary-canary-canary-canary!".utf8))
            let url = try WebhookURL("https://example.com/hooks")
            _ = try await fixture.registry.setWebhook(url, secret: try #require(secret), of: fixture.tenant)
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

    @Test func messagesAreLentOnceAndComeBack() async throws {
        try await Self.withFixture { fixture in
            let (store, tenant) = (fixture.store, fixture.tenant)
            _ = try await fixture.registry.setWebhook(
                try WebhookURL("https://example.com"), secret: Self.secret(), of: tenant)
            #expect(try await store.tenantsWithDueMessages(limit: 10) == [])
            try await fixture.addMessages(2, due: "now() + interval '1 hour'")
            #expect(try await store.tenantsWithDueMessages(limit: 10) == [])
            try await fixture.addMessages(3)
            #expect(try await store.tenantsWithDueMessages(limit: 10) == [tenant])
            let first = try #require(try await store.claim(of: tenant, limit: 2, lease: .seconds(60)))
            let second = try #require(try await store.claim(of: tenant, limit: 2, lease: .zero))
            #expect(first.messages.map(\.attempt) == [1, 1] && second.messages.map(\.attempt) == [1])
            #expect(Set((first.messages + second.messages).map(\.id)).count == 3)
            #expect(Set((first.messages + second.messages).map(\.body)) == [[0x31], [0x32], [0x33]])
            // The second's lease is over: who had it comes too late with what it found.
            let third = try #require(try await store.claim(of: tenant, limit: 2, lease: .seconds(60)))
            #expect(third.messages.map(\.id) == second.messages.map(\.id))
            #expect(third.messages.map(\.attempt) == [2])
            try await store.remove(second.messages, of: tenant)
            try await store.retry(second.messages[0], of: tenant, after: .zero)
            #expect(try await store.tenantsWithDueMessages(limit: 10) == [])
            try await store.remove(first.messages, of: tenant)
            try await store.retry(third.messages[0], of: tenant, after: .zero)
            let fourth = try #require(try await store.claim(of: tenant, limit: 9, lease: .seconds(60)))
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
            let found = try await fixture.store.tenantsWithDueMessages(limit: 10)
            #expect(Set(found) == [fixture.tenant, neighbour] && found.count == 2)
            #expect(try await fixture.store.tenantsWithDueMessages(limit: 1).count == 1)
            // Of the one, never the other's.
            let claimed = try #require(
                try await fixture.store.claim(of: neighbour, limit: 1_000, lease: .seconds(60)))
            #expect(claimed.messages.count == 1)
        }
    }
}
