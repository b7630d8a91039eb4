import Administration
import Confirmations
import Formats
import Foundation
import Invocation
import Notifications
import Persistence
import PostgreSQL
import Receipts
import Synchronization
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
        static let actor = "operator:alice"

        /// Registers a webhook.
        func create(
            _ url: String = "https://example.com/hooks", events: Set<WebhookEvent> = WebhookEvent.usual,
            secret: WebhookSecret = .generate(), named name: DisplayName? = nil, of tenant: TenantID? = nil
        ) async throws -> WebhookReference {
            let tenant = tenant ?? self.tenant
            let registered = try await registry.create(
                Webhook(url: try WebhookURL(url), secret: secret), named: name, events: events, of: tenant,
                by: Self.actor)
            return WebhookReference(registered.id, of: tenant)
        }

        func addMessages(
            _ count: Int, of webhook: WebhookReference, due: String = "now()", made: String = "now()"
        ) async throws {
            try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(webhook.tenant.description)
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.webhook_messages
                        (tenant_id, webhook_id, message_id, type, body, due_at, created_at, queued_at)
                    SELECT \(webhook.tenant.uuid), \(webhook.id.uuid), gen_random_uuid(), 'delivery.finished',
                        convert_to(n::text, 'UTF8'), \(unsafeSQL: due), \(unsafeSQL: made), \(unsafeSQL: made)
                    FROM generate_series(1, \(count)) AS n
                    """)
            }
        }

        func claim(_ webhook: WebhookReference, _ limit: Int = 1_000) async throws -> [WebhookMessage] {
            try #require(
                try await store.claim(
                    of: webhook, limit: limit, lease: .seconds(60), maximumAge: Self.age)
            ).messages
        }

        /// Records the reply to a leased message.
        @discardableResult
        func record(
            _ reply: WebhookReply, at message: WebhookMessage, of webhook: WebhookReference,
            to url: String? = nil, again pause: Duration? = nil, patience: Duration = .seconds(3 * 86_400)
        ) async throws -> RecordedAttempt {
            let url = try url.map { try WebhookURL($0) }
            let current = try await registry.webhook(webhook)?.url
            return try await store.record(
                WebhookAttempt(at: Date(), duration: .milliseconds(12), reply: reply), at: message,
                of: webhook, to: try url ?? current ?? WebhookURL("https://example.com/hooks"), again: pause,
                patience: patience)
        }

        /// Queues messages again, up to the limit of one replay. Returns their number.
        func replay(_ selection: ReplaySelection, of webhook: WebhookReference) async throws -> Int {
            try await registry.replay(selection, of: webhook, by: "operator:test").count
        }

        func waiting(_ webhook: WebhookReference) async throws -> Int? {
            try await registry.webhook(webhook)?.waitingCount
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
                        registry: PostgresWebhookRegistry(stores.adminPool, keys: keys),
                        store: PostgresWebhookStore(pool, keys: keys)))
            }
        }
    }

    // MARK: Traces

    @Test func messageHasTraceOfTheRequestThatCausedIt() async throws {
        let trace = try #require(
            TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create(events: [.locationChanged])
            func addLocation(_ name: String) async throws {
                try await fixture.stores.administration.createLocation(.sample(name), of: fixture.tenant)
            }
            try await addLocation("untraced")
            try await TraceContext.$current.withValue(trace) { try await addLocation("traced") }
            try await addLocation("later")
            let messages = try await fixture.claim(webhook)
            #expect(messages.count == 3)
            for message in messages {
                let isTraced = String(decoding: message.body, as: UTF8.self).contains(#""traced""#)
                #expect(message.trace == (isTraced ? trace : nil))
            }
        }
    }

    // MARK: Managing

    @Test func webhooksAreRegisteredChangedAndDeleted() async throws {
        try await Self.withFixture { fixture in
            let (registry, tenant) = (fixture.registry, fixture.tenant)
            #expect(try await registry.webhooks(of: tenant, after: nil, limit: 10) == [])
            let (first, second) = (WebhookSecret.generate(), WebhookSecret.generate())
            let one = try await fixture.create(secret: first)
            let two = try await fixture.create(
                "https://example.com/others", events: [.keyRevoked, .locationChanged])
            let listed = try await registry.webhooks(of: tenant, after: nil, limit: 10)
            #expect(listed.map(\.id) == [one.id, two.id])
            #expect(listed.map(\.events) == [[.deliveryFinished], [.keyRevoked, .locationChanged]])
            #expect(try await registry.webhooks(of: tenant, after: one.id, limit: 10) == [listed[1]])
            #expect(
                try await registry.receiver(one)
                    == Webhook(url: try WebhookURL("https://example.com/hooks"), secret: first))

            let named = try await registry.change(
                one, WebhookChange(name: try DisplayName("Orders")), by: Fixture.actor)
            #expect(named.name?.text == "Orders" && named.url == listed[0].url)
            let moved = try await registry.change(
                one, WebhookChange(url: try WebhookURL("https://example.com/2")), by: Fixture.actor)
            #expect(moved.url.text == "https://example.com/2" && moved.events == [.deliveryFinished])
            #expect(moved.name == named.name)
            let unnamed = try await registry.change(
                one, WebhookChange(name: .some(nil)), by: Fixture.actor)
            #expect(unnamed.name == nil && unnamed.url == moved.url)
            let other = try await fixture.create(named: try DisplayName("Stock"))
            #expect(try await registry.webhook(other)?.name?.text == "Stock")
            _ = try await registry.delete(other, by: Fixture.actor)
            #expect(try await registry.receiver(one)?.secret == first)
            _ = try await registry.replaceSecret(of: one, by: second, actor: Fixture.actor)
            #expect(try await registry.receiver(one)?.secret == second)
            try await fixture.addMessages(3, of: one)
            #expect(try await fixture.waiting(one) == 3)
            #expect(try await fixture.waiting(two) == 0)

            let neighbour = try await fixture.stores.createTenant("neighbour")
            let foreign = WebhookReference(one.id, of: neighbour)
            #expect(try await registry.webhook(foreign) == nil)
            await #expect(throws: WebhookRefusal.unknownWebhook) {
                try await registry.delete(foreign, by: Fixture.actor)
            }
            #expect(try await registry.delete(one, by: Fixture.actor) == 3)
            #expect(try await registry.webhooks(of: tenant, after: nil, limit: 10) == [listed[1]])
            await #expect(throws: WebhookRefusal.unknownWebhook) {
                try await registry.change(one, WebhookChange(isEnabled: true), by: Fixture.actor)
            }
            #expect(try await fixture.stores.count("SELECT count(*) FROM doorstep.webhook_messages") == 0)
        }
    }

    /// The limit also holds for concurrent requests.
    @Test func webhooksPerTenantAreLimited() async throws {
        try await Self.withFixture { fixture in
            for _ in 1..<RegisteredWebhook.limit { _ = try await fixture.create() }
            let created = await withTaskGroup(of: Bool.self) { group in
                for _ in 1...4 {
                    group.addTask { (try? await fixture.create()) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(created == 1)
            await #expect(throws: WebhookRefusal.tooManyWebhooks) { try await fixture.create() }
            let neighbour = try await fixture.stores.createTenant("neighbour")
            _ = try await fixture.create(of: neighbour)
        }
    }

    @Test func sampleIsQueuedWithTheTypeOfItsEvent() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            let sample = WebhookMessage(sampleOf: .domainProved, at: Date())
            try await fixture.registry.add(sample, type: "domain.proved", to: webhook, by: Fixture.actor)
            let logged = try #require(try await fixture.registry.message(sample.id, of: webhook))
            #expect(logged.message.type == "domain.proved" && logged.body == sample.body)
            #expect(try await fixture.claim(webhook).map(\.body) == [sample.body])
        }
    }

    @Test func previousSecretEndsWithTheOverlap() async throws {
        try await Self.withFixture { fixture in
            let (registry, store) = (fixture.registry, fixture.store)
            let (first, second, third) = (
                WebhookSecret.generate(), WebhookSecret.generate(), WebhookSecret.generate()
            )
            let webhook = try await fixture.create(secret: first)
            func claimed() async throws -> Webhook? {
                let claim = try await store.claim(
                    of: webhook, limit: 1, lease: .zero, maximumAge: Fixture.age)
                return claim?.webhook
            }
            func rotate(to secret: WebhookSecret, hours: Int) async throws -> Date? {
                try await registry.replaceSecret(
                    of: webhook, by: secret, overlap: .seconds(hours * 3_600), actor: Fixture.actor
                ).previousSecretEndsAt
            }
            #expect(try await claimed()?.previousSecret == nil)
            let end = try #require(try await rotate(to: second, hours: 2))
            #expect((7_190...7_210).contains(end.timeIntervalSinceNow))
            #expect(try await registry.webhook(webhook)?.previousSecretEndsAt == end)
            for receiver in [try await claimed(), try await registry.receiver(webhook)] {
                #expect(receiver?.secret == second && receiver?.previousSecret == first)
            }
            // A second rotation ends the first secret.
            _ = try await rotate(to: third, hours: 1)
            #expect(try await claimed()?.secret == third)
            #expect(try await claimed()?.previousSecret == second)

            let sealedAgain = PostgresWebhookRegistry(fixture.stores.adminPool, keys: try Self.keys("b", "a"))
            #expect(try await sealedAgain.resealSecrets(of: fixture.tenant) == .init(resealed: 2))
            let newest = PostgresWebhookRegistry(fixture.stores.adminPool, keys: try Self.keys("b"))
            #expect(try await newest.receiver(webhook)?.previousSecret == second)
            let strange = PostgresWebhookRegistry(fixture.stores.adminPool, keys: try Self.keys("c"))
            #expect(try await strange.resealSecrets(of: fixture.tenant) == .init(unreadable: 2))

            func execute(_ query: Query) async throws {
                try await fixture.stores.adminPool.withTransaction { transaction in
                    try await transaction.setTenant(fixture.tenant.description)
                    try await transaction.execute(query)
                }
            }
            try await execute("UPDATE doorstep.webhooks SET previous_secret_ends_at = now()")
            #expect(try await newest.receiver(webhook)?.previousSecret == nil)
            #expect(try await newest.webhook(webhook)?.previousSecretEndsAt == nil)
            // The next resealing deletes a secret whose overlap has ended.
            #expect(try await sealedAgain.resealSecrets(of: fixture.tenant) == .init())
            #expect(
                try await fixture.stores.count(
                    "SELECT count(*) FROM doorstep.webhooks WHERE previous_sealed_secret IS NOT NULL") == 0)

            // A rotation without an overlap ends the previous secret at once.
            _ = try await rotate(to: first, hours: 1)
            #expect(try await rotate(to: second, hours: 0) == nil)
            #expect(
                try await fixture.stores.count(
                    "SELECT count(*) FROM doorstep.webhooks WHERE previous_sealed_secret IS NOT NULL") == 0)
        }
    }

    /// Requests use the role `doorstep_manager`.
    @Test func managerRoleManagesWebhooks() async throws {
        try await Self.withFixture { fixture in
            try await fixture.stores.database.withPool(as: .manager) { pool in
                let registry = PostgresWebhookRegistry(managing: pool, keys: try Self.keys("a"))
                let webhook = Webhook(url: try WebhookURL("https://example.com"), secret: .generate())
                let created = try await registry.create(
                    webhook, named: nil, events: [.keyRevoked], of: fixture.tenant, by: "key:1")
                let reference = WebhookReference(created.id, of: fixture.tenant)
                #expect(try await registry.webhook(reference) == created)
                _ = try await registry.replaceSecret(of: reference, by: .generate(), actor: "key:1")
                let test = WebhookMessage(WebhookEvent.test, [:], at: Date())
                try await registry.add(test, to: reference, by: "operator:test")
                #expect(try await fixture.claim(reference).map(\.body) == [test.body])
                let message = try #require(
                    try await registry.messages(of: reference, before: nil, limit: 2).first)
                #expect(message.id == test.id && message.type == "doorstep.test" && message.state == .waiting)
                let off = try await registry.change(
                    reference, WebhookChange(isEnabled: false), by: "key:1")
                #expect(off.switchOff?.reason == RegisteredWebhook.SwitchOff.asked && off.waitingCount == 0)
                await #expect(throws: WebhookRefusal.webhookDisabled) {
                    try await registry.add(test, to: reference, by: "operator:test")
                }
                await #expect(throws: WebhookRefusal.webhookDisabled) {
                    try await registry.replay(.message(test.id), of: reference, by: "operator:test")
                }
                let on = try await registry.change(reference, WebhookChange(isEnabled: true), by: "key:1")
                #expect(on == created)
                #expect(
                    try await registry.replay(.message(test.id), of: reference, by: "operator:test").count
                        == 1)
                #expect(try await registry.delete(reference, by: "key:1") == 1)
            }
            #expect(
                try await fixture.stores.count(
                    "SELECT count(*) FROM doorstep.audit_log WHERE relation = 'webhooks' AND actor = 'key:1'")
                    == 5)
        }
    }

    /// The audit log records changes. Neither the log nor the table contains the secret in plain text.
    @Test func webhookSecretIsNowhereReadable() async throws {
        try await Self.withFixture { fixture in
            let secret = try #require(WebhookSecret(Array("canary-canary-canary-canary!".utf8)))
            let webhook = try await fixture.create(secret: secret)
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
            let strange = PostgresWebhookRegistry(fixture.stores.adminPool, keys: try Self.keys("b"))
            await #expect(throws: PersistenceError.sealed("webhooks")) { try await strange.receiver(webhook) }
            // Values that need no secret can still be read.
            #expect(try await strange.webhook(webhook)?.id == webhook.id)
            let rotated = PostgresWebhookRegistry(fixture.stores.adminPool, keys: try Self.keys("b", "a"))
            #expect(try await rotated.receiver(webhook)?.secret == secret)
        }
    }

    /// The audit log records that a secret was replaced, and by whom. Resealing and failed deliveries are not recorded.
    @Test func secretReplacementIsAuditedButResealingIsNot() async throws {
        try await Self.withFixture { fixture in
            let (stores, tenant) = (fixture.stores, fixture.tenant)
            func entries() async throws -> [String] {
                try await stores.database.withSuperuser { pool in
                    try await pool.withConnection { connection in
                        try await connection.execute(
                            """
                            SELECT a::text FROM doorstep.audit_log a
                            WHERE relation = 'webhooks' AND action = 'update' ORDER BY entry_id
                            """
                        ).map { try $0.decode(at: 0, as: String.self) }
                    }
                }
            }
            let webhook = try await fixture.create()
            let other = try await fixture.create()
            let canary = try #require(WebhookSecret(Array("canary-canary-canary-canary!".utf8)))
            _ = try await fixture.registry.replaceSecret(of: webhook, by: canary, actor: Fixture.actor)
            let rotated = try await entries()
            #expect(rotated.count == 1 && rotated[0].contains("secret_changed_at"))
            #expect(!rotated[0].contains("previous_sealed_secret"))
            #expect(rotated[0].contains(Fixture.actor))
            #expect(!rotated[0].contains("sealed") && !rotated[0].contains("canary"))
            #expect(!rotated[0].contains("63616e617279"))

            _ = try await fixture.registry.change(
                webhook, WebhookChange(url: try WebhookURL("https://example.com/hooks")), by: Fixture.actor)
            try await fixture.addMessages(1, of: other)
            let message = try #require(try await fixture.claim(other).first)
            try await fixture.record(.status(500), at: message, of: other, again: .zero)
            #expect(try await fixture.registry.webhook(other)?.failingSince != nil)
            let newer = PostgresWebhookRegistry(stores.adminPool, keys: try Self.keys("b", "a"))
            #expect(try await newer.resealSecrets(of: tenant).resealed == 2)
            #expect(try await entries().count == 1)
        }
    }

    /// Webhook secrets are resealed like tokens when the servers' secret is replaced.
    @Test func webhookSecretsAreResealed() async throws {
        try await Self.withFixture { fixture in
            let (tenant, stores) = (fixture.tenant, fixture.stores)
            func registry(_ secrets: String...) throws -> PostgresWebhookRegistry {
                let keys = SealingKeys(secrets: secrets.map { String(repeating: $0, count: 32) })
                return PostgresWebhookRegistry(stores.adminPool, keys: try #require(keys))
            }
            #expect(try await registry("b", "a").resealSecrets(of: tenant) == .init())
            let secret = WebhookSecret.generate()
            let webhook = try await fixture.create(secret: secret)
            _ = try await fixture.create()
            #expect(try await registry("b").resealSecrets(of: tenant) == .init(unreadable: 2))
            #expect(try await registry("b", "a").resealSecrets(of: tenant) == .init(resealed: 2))
            #expect(try await registry("b", "a").resealSecrets(of: tenant) == .init())
            #expect(try await registry("b").receiver(webhook)?.secret == secret)
        }
    }

    @Test func unreadableSecretIsReplaced() async throws {
        try await Self.withFixture { fixture in
            let strange = PostgresWebhookRegistry(fixture.stores.adminPool, keys: try Self.keys("b"))
            let webhook = try await fixture.create()
            let new = WebhookSecret.generate()
            _ = try await strange.replaceSecret(of: webhook, by: new, actor: Fixture.actor)
            #expect(try await strange.receiver(webhook)?.secret == new)
        }
    }

    // MARK: Sending

    @Test func messagesAreLeasedOnceAndReturn() async throws {
        try await Self.withFixture { fixture in
            let store = fixture.store
            let webhook = try await fixture.create()
            #expect(try await store.webhooksWithDueMessages(limit: 10, excluding: []) == [])
            try await fixture.addMessages(2, of: webhook, due: "now() + interval '1 hour'")
            #expect(try await store.webhooksWithDueMessages(limit: 10, excluding: []) == [])
            try await fixture.addMessages(3, of: webhook)
            #expect(try await store.webhooksWithDueMessages(limit: 10, excluding: []) == [webhook])
            let first = try await fixture.claim(webhook, 2)
            let second = try #require(
                try await store.claim(of: webhook, limit: 2, lease: .zero, maximumAge: Fixture.age)
            ).messages
            #expect(first.map(\.attempt) == [1, 1] && second.map(\.attempt) == [1])
            #expect(Set((first + second).map(\.id)).count == 3)
            #expect(Set((first + second).map(\.body)) == [[0x31], [0x32], [0x33]])
            // The second lease has expired, so results of its holder are ignored.
            let third = try await fixture.claim(webhook, 2)
            #expect(third.map(\.id) == second.map(\.id) && third.map(\.attempt) == [2])
            try await fixture.record(.status(200), at: second[0], of: webhook)
            try await fixture.record(.status(500), at: second[0], of: webhook, again: .zero)
            #expect(try await store.webhooksWithDueMessages(limit: 10, excluding: []) == [])
            #expect(try await fixture.registry.webhook(webhook)?.failingSince == nil)
            for message in first { try await fixture.record(.status(200), at: message, of: webhook) }
            try await fixture.record(.status(500), at: third[0], of: webhook, again: .zero)
            let fourth = try await fixture.claim(webhook, 9)
            #expect(fourth.map(\.attempt) == [3])
            try await fixture.record(.status(200), at: fourth[0], of: webhook)
            #expect(try await fixture.waiting(webhook) == 2)
        }
    }

    @Test func dueWebhooksAreFoundFairly() async throws {
        try await Self.withFixture { fixture in
            let neighbour = try await fixture.stores.createTenant("neighbour")
            let (many, one) = (try await fixture.create(), try await fixture.create())
            let other = try await fixture.create(of: neighbour)
            try await fixture.addMessages(500, of: many)
            try await fixture.addMessages(1, of: one)
            try await fixture.addMessages(1, of: other)
            func found(_ limit: Int, excluding: [WebhookReference] = []) async throws -> [WebhookReference] {
                try await fixture.store.webhooksWithDueMessages(limit: limit, excluding: excluding)
            }
            let all = try await found(10)
            #expect(Set(all) == [many, one, other] && all.count == 3)
            #expect(try await found(1).count == 1)
            #expect(try await found(1, excluding: [many, one]) == [other])
            #expect(try await found(1, excluding: [many, one, other]) == [])
            // Each tenant gets one webhook before any tenant gets a second one.
            for _ in 1...10 { #expect(Set(try await found(2).map(\.tenant)).count == 2) }
            // A claim returns only messages of its own webhook.
            #expect(try await fixture.claim(one).count == 1)
            #expect(try await fixture.claim(other).count == 1)
        }
    }

    @Test func returnedMessageKeepsItsAttemptNumber() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(1, of: webhook)
            let first = try await fixture.claim(webhook)
            #expect(first.map(\.attempt) == [1])
            #expect(try await fixture.claim(webhook) == [])
            try await fixture.store.giveBack(first[0], of: webhook)
            #expect(try await fixture.claim(webhook) == first)
            // An expired lease cannot be given back.
            try await fixture.record(.status(500), at: first[0], of: webhook, again: .zero)
            let second = try await fixture.claim(webhook)
            #expect(second.map(\.attempt) == [2])
            try await fixture.store.giveBack(first[0], of: webhook)
            #expect(try await fixture.claim(webhook) == [])
        }
    }

    @Test func tooOldMessagesAreGivenUpWhenClaimed() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            let old = "now() - interval '25 hours'"
            try await fixture.addMessages(3, of: webhook, due: old, made: old)
            try await fixture.addMessages(2, of: webhook, made: "now() - interval '23 hours'")
            try await fixture.addMessages(1, of: webhook, due: "now() + interval '1 hour'", made: old)
            func claim(_ limit: Int) async throws -> WebhookClaim {
                try #require(
                    try await fixture.store.claim(
                        of: webhook, limit: limit, lease: .seconds(60), maximumAge: Fixture.age))
            }
            let first = try await claim(2)
            #expect(first.outdatedCount == 2 && first.messages.isEmpty)
            let second = try await claim(4)
            #expect(second.outdatedCount == 1 && second.messages.count == 2)
            #expect(try await claim(4).outdatedCount == 0)
            #expect(try await fixture.waiting(webhook) == 3)
            // A replayed message counts as new.
            #expect(
                try await fixture.replay(.since(.distantPast, state: .givenUp), of: webhook) == 3)
            #expect(try await fixture.claim(webhook).map(\.attempt) == [1, 1, 1])
        }
    }

    // MARK: The log

    @Test func messageListsEachAttempt() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(1, of: webhook)
            let replies: [WebhookReply] = [.noResponse("no response in time"), .status(503), .status(204)]
            for (index, reply) in replies.enumerated() {
                let message = try #require(try await fixture.claim(webhook).first)
                try await fixture.record(
                    reply, at: message, of: webhook, again: index < 2 ? .zero : nil)
                let logged = try await fixture.registry.messages(of: webhook, before: nil, limit: 10)
                #expect(logged.map(\.state) == [index < 2 ? .waiting : .taken])
                #expect(logged[0].attempts.map(\.reply) == Array(replies[...index]))
                #expect(logged[0].attempts.allSatisfy { $0.duration == .milliseconds(12) })
                #expect((logged[0].dueAt == nil) == (index == 2))
                #expect(
                    (try await fixture.registry.webhook(webhook)?.failingSince == nil) == (index == 2))
            }
            let message = try #require(
                try await fixture.registry.messages(of: webhook, before: nil, limit: 1).first)
            #expect(
                try await fixture.registry.messages(of: webhook, before: message.id, limit: 1) == [])
            await #expect(throws: WebhookRefusal.unknownWebhook) {
                try await fixture.registry.messages(
                    of: WebhookReference(WebhookID(UUID()), of: fixture.tenant), before: nil, limit: 1)
            }

            let registry = fixture.registry
            #expect(try await fixture.replay(.since(.distantPast, state: .givenUp), of: webhook) == 0)
            #expect(try await fixture.replay(.since(.distantFuture), of: webhook) == 0)
            #expect(try await fixture.replay(.since(.distantPast), of: webhook) == 1)
            await #expect(throws: WebhookRefusal.unknownMessage) {
                try await registry.replay(.message(UUID()), of: webhook, by: "operator:test")
            }
            let again = try #require(try await fixture.claim(webhook).first)
            #expect(again.id == message.id && again.attempt == 1)
            try await fixture.record(.status(200), at: again, of: webhook)
            #expect(
                try await registry.replay(.message(message.id), of: webhook, by: "operator:test").count == 1)
            #expect(
                try await registry.messages(of: webhook, before: nil, limit: 1).first?.attempts.count == 4)
        }
    }

    @Test func logKeepsBodiesAndResponses() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(1, of: webhook)
            var sent: [WebhookMessage] = []
            let long = (0..<5_000).map { UInt8($0 % 251) }
            for (index, response) in [long, [], [0x6F, 0x6B, 0]].enumerated() {
                let message = try #require(try await fixture.claim(webhook).first)
                sent.append(message)
                let attempt = WebhookAttempt(
                    at: Date(timeIntervalSinceNow: Double(index)),
                    duration: .milliseconds(12), reply: .status(500 - index), response: response)
                _ = try await fixture.store.record(
                    attempt, at: message, of: webhook, to: WebhookURL("https://example.com/hooks"),
                    again: .zero, patience: .seconds(86_400))
            }
            let id = sent[0].id
            try await fixture.stores.database.withPool(as: .manager) { pool in
                let registry = PostgresWebhookRegistry(managing: pool, keys: try Self.keys("a"))
                let logged = try #require(try await registry.message(id, of: webhook))
                #expect(logged.body == sent[0].body && logged.message.id == id)
                #expect(
                    logged.message.attempts.map(\.response) == [
                        Array(long.prefix(4_096)), [], [0x6F, 0x6B, 0],
                    ])
                #expect(logged.message.attempts.map(\.reply) == [.status(500), .status(499), .status(498)])
                let listed = try await registry.messages(of: webhook, before: nil, limit: 1)
                #expect(listed.first?.attempts.map(\.response) == [[], [], []])
                #expect(try await registry.message(UUID(), of: webhook) == nil)
                let neighbour = try await fixture.stores.createTenant("neighbour")
                await #expect(throws: WebhookRefusal.unknownWebhook) {
                    try await registry.message(id, of: WebhookReference(webhook.id, of: neighbour))
                }
            }
            #expect(try await fixture.stores.count("SELECT count(*) FROM doorstep.webhook_responses") == 2)
            _ = try await fixture.registry.delete(webhook, by: Fixture.actor)
            #expect(try await fixture.stores.count("SELECT count(*) FROM doorstep.webhook_responses") == 0)
        }
    }

    @Test func logKeepsTheLastThousandResponsesOfAWebhook() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(1, of: webhook)
            let message = try #require(try await fixture.claim(webhook).first)
            try await fixture.stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(webhook.tenant.description)
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.webhook_responses (tenant_id, webhook_id, number, message_id, at, body)
                    SELECT \(webhook.tenant.uuid), \(webhook.id.uuid), n, \(message.id),
                        '2026-03-01T12:30:00.000Z', 'old'
                    FROM generate_series(1, 1000) AS n
                    """)
            }
            let attempt = WebhookAttempt(
                at: Date(), duration: .zero, reply: .status(200), response: Array("new".utf8))
            _ = try await fixture.store.record(
                attempt, at: message, of: webhook, to: WebhookURL("https://example.com/hooks"), again: nil,
                patience: .seconds(86_400))
            let count = "SELECT count(*) FROM doorstep.webhook_responses"
            #expect(try await fixture.stores.count("\(unsafeSQL: count)") == 1_000)
            #expect(
                try await fixture.stores.count("\(unsafeSQL: count) WHERE number BETWEEN 2 AND 1001") == 1_000
            )
            let logged = try await fixture.registry.message(message.id, of: webhook)
            #expect(logged?.message.attempts.map(\.response) == [Array("new".utf8)])
        }
    }

    @Test func replayOfWaitingMessageKeepsItsAttempts() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(1, of: webhook)
            let first = try #require(try await fixture.claim(webhook).first)
            // A leased message must not be leased again.
            #expect(try await fixture.replay(.message(first.id), of: webhook) == 1)
            #expect(try await fixture.claim(webhook).isEmpty)
            try await fixture.record(.status(503), at: first, of: webhook, again: .seconds(3_600))
            #expect(try await fixture.claim(webhook).isEmpty)
            #expect(try await fixture.replay(.message(first.id), of: webhook) == 1)
            let second = try #require(try await fixture.claim(webhook).first)
            #expect(second.id == first.id && second.attempt == 2)
            try await fixture.record(.status(503), at: second, of: webhook, again: .seconds(3_600))
            #expect(try await fixture.replay(.since(.distantPast), of: webhook) == 1)
            #expect(try await fixture.claim(webhook).map(\.attempt) == [3])
        }
    }

    @Test func replaySinceSendsAllMessagesOfTheWindow() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(3, of: webhook)
            let messages = try await fixture.claim(webhook)
            try await fixture.record(.status(200), at: messages[0], of: webhook)
            try await fixture.record(.status(500), at: messages[1], of: webhook)
            try await fixture.record(.status(500), at: messages[2], of: webhook, again: .seconds(3_600))
            #expect(try await fixture.replay(.since(.distantPast), of: webhook) == 3)
            #expect(Set(try await fixture.claim(webhook).map(\.id)) == Set(messages.map(\.id)))
        }
    }

    @Test func replayOfAStateSendsOnlyThatState() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(2, of: webhook)
            let messages = try await fixture.claim(webhook)
            try await fixture.record(.status(200), at: messages[0], of: webhook)
            try await fixture.record(.status(500), at: messages[1], of: webhook)
            #expect(try await fixture.replay(.since(.distantPast, state: .givenUp), of: webhook) == 1)
            #expect(try await fixture.claim(webhook).map(\.id) == [messages[1].id])
        }
    }

    /// Messages that were sent again since then are not replayed again.
    @Test func manyMessagesAreReplayedInParts() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(ReplaySelection.limit + 1, of: webhook)
            func take() async throws -> Int {
                try await fixture.stores.appPool.withTransaction { transaction in
                    try await transaction.setTenant(fixture.tenant.description)
                    return try await transaction.execute(
                        """
                        UPDATE doorstep.webhook_messages SET state = 'taken', due_at = NULL
                        WHERE webhook_id = \(webhook.id.uuid) AND due_at IS NOT NULL
                        """
                    ).affectedRows
                }
            }
            #expect(try await take() == ReplaySelection.limit + 1)
            let first = try await fixture.registry.replay(
                .since(.distantPast), of: webhook, by: "operator:ada")
            #expect(first.count == ReplaySelection.limit && first.last != nil)
            #expect(try await take() == ReplaySelection.limit)
            let second = try await fixture.registry.replay(
                .since(.distantPast, after: first.last), of: webhook,
                by: "operator:ada")
            #expect(second.count == 1 && second.last == nil)
            let entries = try await PostgresAdministrationStore(fixture.stores.adminPool, actor: "").auditLog
                .page(
                    of: fixture.tenant, before: nil, limit: 10, where: ["relation": "webhook_messages"]
                ).entries
            #expect(entries.map { $0.after?["count"] } == [1, 1_000])
            #expect(entries.allSatisfy { $0.actor == "operator:ada" && $0.action == .update })
            #expect(entries.first?.before?["after"] != nil && entries.last?.before?["after"] == nil)
        }
    }

    // MARK: Many messages

    private static let batch = 1_000

    /// Makes statements fail that give up or delete more than a thousand messages at once.
    private static func refuseMany(_ stores: Stores) async throws {
        try await stores.database.withSuperuser { pool in
            try await pool.withTransaction {
                try await $0.execute(
                    script: """
                        CREATE FUNCTION public.refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN
                            IF (SELECT count(*) FROM old_rows) > \(batch) THEN RAISE 'too many'; END IF;
                            RETURN NULL;
                        END
                        $$;
                        CREATE TRIGGER refuse_many_updates AFTER UPDATE ON doorstep.webhook_messages
                            REFERENCING OLD TABLE AS old_rows
                            FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_many();
                        CREATE TRIGGER refuse_many_deletions AFTER DELETE ON doorstep.webhook_messages
                            REFERENCING OLD TABLE AS old_rows
                            FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_many()
                        """)
            }
        }
    }

    /// Messages that are not due are given up, too, and also if no secret opens the webhook's secret.
    @Test func messagesOfDisabledWebhookAreGivenUpInParts() async throws {
        try await Self.withFixture { fixture in
            try await Self.refuseMany(fixture.stores)
            let webhook = try await fixture.create()
            try await fixture.addMessages(
                Self.batch * 5 / 2, of: webhook, due: "now() + interval '10 hours'")
            let off = try await fixture.registry.change(
                webhook, WebhookChange(isEnabled: false), by: Fixture.actor)
            #expect(off.waitingCount == Self.batch * 3 / 2)
            let store = PostgresWebhookStore(fixture.serverPool, keys: try Self.keys("another"))
            var counts: [Int] = []
            while try await store.webhooksWithDueMessages(limit: 9, excluding: []) == [webhook] {
                let claim = try #require(
                    try await store.claim(
                        of: webhook, limit: 4, lease: .seconds(60), maximumAge: Fixture.age))
                #expect(claim.messages.isEmpty)
                counts.append(claim.outdatedCount)
            }
            #expect(counts == [Self.batch, Self.batch / 2])
            #expect(try await fixture.waiting(webhook) == 0)
        }
    }

    @Test func failingWebhookIsDisabledInParts() async throws {
        try await Self.withFixture { fixture in
            try await Self.refuseMany(fixture.stores)
            let webhook = try await fixture.create()
            try await fixture.addMessages(Self.batch * 3 / 2, of: webhook)
            let messages = try await fixture.claim(webhook, 2)
            try await fixture.record(.status(500), at: messages[0], of: webhook, again: .seconds(5))
            #expect(
                try await fixture.record(
                    .status(500), at: messages[1], of: webhook, again: .seconds(5), patience: .zero)
                    == .switchedOff)
            #expect(try await fixture.waiting(webhook) == Self.batch / 2)
        }
    }

    @Test func messagesOfDeletedWebhookAreDeletedInParts() async throws {
        try await Self.withFixture { fixture in
            try await Self.refuseMany(fixture.stores)
            let webhook = try await fixture.create()
            try await fixture.addMessages(Self.batch * 5 / 2, of: webhook)
            #expect(try await fixture.registry.delete(webhook, by: Fixture.actor) == Self.batch * 5 / 2)
            #expect(try await fixture.registry.webhook(webhook) == nil)
            #expect(try await fixture.stores.count("SELECT count(*) FROM doorstep.webhook_messages") == 0)
        }
    }

    /// Neither recording a reply nor a change may wait for the lock for long, because other requests need the connection.
    @Test(.timeLimit(.minutes(30))) func lockedWebhookTimesOut() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(1, of: webhook)
            let message = try #require(try await fixture.claim(webhook).first)
            try await fixture.stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(fixture.tenant.description)
                try await transaction.execute(
                    "SELECT FROM doorstep.webhooks WHERE webhook_id = \(webhook.id.uuid) FOR UPDATE")
                async let state = sqlState {
                    _ = try await fixture.record(.status(200), at: message, of: webhook)
                }
                let refusal = await #expect(throws: StoreUnavailable.self) {
                    try await fixture.registry.change(
                        webhook, WebhookChange(isEnabled: false), by: Fixture.actor)
                }
                #expect(refusal?.cause == "lock_timeout")
                #expect(try await state == "55P03")
            }
            #expect(try await fixture.record(.status(200), at: message, of: webhook) == .current)
            #expect(try await fixture.waiting(webhook) == 0)
        }
    }

    // MARK: Switching off

    /// The failures belong to the previous receiver.
    @Test(arguments: [true, false]) func changedURLOrSecretResetsFailures(isURL: Bool) async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(2, of: webhook)
            let messages = try await fixture.claim(webhook)
            try await fixture.record(.status(500), at: messages[0], of: webhook, again: .seconds(5))
            let same = try await fixture.registry.change(
                webhook, WebhookChange(url: try WebhookURL("https://example.com/hooks")), by: Fixture.actor)
            #expect(same.failingSince != nil)
            let changed =
                if isURL {
                    try await fixture.registry.change(
                        webhook, WebhookChange(url: try WebhookURL("https://example.com/2")),
                        by: Fixture.actor)
                } else {
                    try await fixture.registry.replaceSecret(
                        of: webhook, by: .generate(), actor: Fixture.actor)
                }
            #expect(changed.failingSince == nil)
            // One later failure does not disable the webhook.
            #expect(
                try await fixture.record(
                    .status(500), at: messages[1], of: webhook, again: .seconds(5), patience: .seconds(60))
                    == .current)
        }
    }

    @Test func longFailingWebhookIsDisabled() async throws {
        try await Self.withFixture { fixture in
            let broken = try await fixture.create()
            let other = try await fixture.create("https://example.com/other", events: [.webhookDisabled])
            try await fixture.addMessages(3, of: broken)
            let messages = try await fixture.claim(broken, 2)
            // The first failure starts the period of patience. A failure after its end disables the webhook.
            #expect(
                try await fixture.record(.status(500), at: messages[0], of: broken, again: .seconds(5))
                    == .current)
            let since = try #require(try await fixture.registry.webhook(broken)?.failingSince)
            #expect(
                try await fixture.record(
                    .status(503), at: messages[1], of: broken, again: .seconds(5), patience: .zero)
                    == .switchedOff)
            let off = try #require(try await fixture.registry.webhook(broken))
            #expect(
                off.switchOff?.reason
                    == "it has failed for 3 days; last failure: it responded with status 503")
            #expect(off.failingSince == since && off.waitingCount == 0)

            let told = try #require(try await fixture.claim(other).first)
            let message = try #require(try JSONValue(parsing: told.body).objectValue)
            #expect(message["id"] == .string(told.id.uuidString.lowercased()))
            #expect(message["type"] == "webhook.disabled")
            #expect(message["data"]?.objectValue?["webhook"] == .string(broken.id.description))
            #expect(message["data"]?.objectValue?["url"] == "https://example.com/hooks")

            // A message that was stored at the same moment is given up, too. Later events store no message for the webhook.
            try await fixture.addMessages(1, of: broken)
            let late = try #require(
                try await fixture.store.claim(
                    of: broken, limit: 9, lease: .seconds(60), maximumAge: Fixture.age))
            #expect(late.messages.isEmpty && late.outdatedCount == 1)

            let on = try await fixture.registry.change(
                broken, WebhookChange(isEnabled: true), by: Fixture.actor)
            #expect(on.switchOff == nil && on.failingSince == nil)
            #expect(
                try await fixture.replay(.since(.distantPast, state: .givenUp), of: broken) == 4)
            let again = try #require(try await fixture.claim(broken, 1).first)
            #expect(
                try await fixture.record(
                    .status(500), at: again, of: broken, again: .zero, patience: .seconds(60)) == .current)
        }
    }

    @Test(arguments: [WebhookReply.status(410), .status(500), .status(200)])
    func attemptAtEarlierURLDoesNotCountForTheWebhook(reply: WebhookReply) async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create()
            try await fixture.addMessages(1, of: webhook)
            let message = try #require(try await fixture.claim(webhook, 1).first)
            let change = WebhookChange(url: try WebhookURL("https://example.com/2"))
            _ = try await fixture.registry.change(webhook, change, by: Fixture.actor)
            let recorded = try await fixture.record(
                reply, at: message, of: webhook, to: "https://example.com/hooks", patience: .zero)
            #expect(recorded == .outdated)
            let state = try #require(try await fixture.registry.webhook(webhook))
            #expect(state.switchOff == nil && state.failingSince == nil)
            let again = try await fixture.claim(webhook, 1)
            #expect(again.map(\.id) == (reply.isTaken ? [] : [message.id]))
        }
    }

    @Test func webhookAnswering410IsDisabledAtOnce() async throws {
        try await Self.withFixture { fixture in
            let gone = try await fixture.create()
            let other = try await fixture.create("https://example.com/other", events: [.webhookDisabled])
            try await fixture.addMessages(3, of: gone)
            let messages = try await fixture.claim(gone, 2)
            #expect(try await fixture.record(.status(410), at: messages[0], of: gone) == .switchedOff)
            let off = try #require(try await fixture.registry.webhook(gone))
            #expect(off.switchOff?.reason == "it responded with status 410 Gone" && off.waitingCount == 0)
            let told = try #require(try await fixture.claim(other).first)
            let data = try JSONValue(parsing: told.body).objectValue?["data"]?.objectValue
            #expect(data?["reason"] == "it responded with status 410 Gone")
            // A second delivery was in progress.
            #expect(try await fixture.record(.status(410), at: messages[1], of: gone) == .outdated)
        }
    }

    @Test func nonPublicAddressIsRejectedUnlessAllowed() async throws {
        try await Self.withFixture { fixture in
            let inside = Webhook(url: try WebhookURL("https://10.0.0.1/x"), secret: .generate())
            let webhook = try await fixture.create()
            await #expect(throws: WebhookRefusal.addressNotPublic) {
                try await fixture.registry.create(
                    inside, named: nil, events: WebhookEvent.usual, of: fixture.tenant, by: Fixture.actor)
            }
            await #expect(throws: WebhookRefusal.addressNotPublic) {
                try await fixture.registry.change(
                    webhook, WebhookChange(url: inside.url), by: Fixture.actor)
            }
            let permitting = PostgresWebhookRegistry(
                fixture.stores.adminPool, keys: try Self.keys("a"),
                allowing: [try #require(AddressRange("10.0.0.0/8"))])
            #expect(
                try await permitting.change(webhook, WebhookChange(url: inside.url), by: Fixture.actor).url
                    == inside.url)
        }
    }

    // MARK: Events

    /// Leases the webhook's waiting messages and returns their contents in the order of the events.
    private static func told(_ fixture: Fixture, _ webhook: WebhookReference) async throws -> [JSONObject] {
        var told: [JSONObject] = []
        for message in try await fixture.claim(webhook).sorted(by: { $0.id.uuidString < $1.id.uuidString }) {
            let object = try #require(try JSONValue(parsing: message.body).objectValue)
            #expect(object["id"] == .string(message.id.uuidString.lowercased()))
            #expect(message.id.uuidString.dropFirst(14).first == "7")
            let time = try #require(object["timestamp"]?.stringValue)
            #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
            // The sample, and therefore the OpenAPI document, has the members of real messages.
            let event = try #require(object["type"]?.stringValue.flatMap(WebhookEvent.init))
            let data = try #require(object["data"]?.objectValue)
            #expect(Set(data.map(\.key)) == Set(event.sample.map(\.key)), "\(event)")
            told.append([
                "type": object["type"] ?? .null, "data": object["data"] ?? .null,
            ])
            try await fixture.record(.status(200), at: message, of: webhook)
        }
        return told
    }

    @Test func catalogueChangesAreSent() async throws {
        try await Self.withFixture { fixture in
            let (stores, tenant) = (fixture.stores, fixture.tenant)
            try await stores.createClip(of: tenant)
            let webhook = try await fixture.create(events: [.locationChanged, .experienceChanged])
            let deaf = try await fixture.create(events: [.keyRevoked])
            func execute(_ sql: String) async throws {
                try await stores.adminPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(script: sql.replacing("$tenant", with: tenant.description))
                }
            }
            try await execute(
                """
                INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius)
                SELECT '$tenant', 'l' || lpad(n::text, 3, '0'), 'L', 1, 2, 3 FROM generate_series(1, 250) AS n
                """)
            let names = JSONValue.array(
                (1...100).map { .string("l" + String(repeating: "0", count: 3 - "\($0)".count) + "\($0)") })
            #expect(
                try await Self.told(fixture, webhook) == [
                    [
                        "type": "location.changed",
                        "data": ["action": "insert", "count": 250, "locations": names],
                    ]
                ])
            // An update without a change makes no message, and neither does a deletion without rows.
            try await execute(
                """
                UPDATE doorstep.locations SET name = CASE identifier WHEN 'l007' THEN 'M' ELSE name END;
                UPDATE doorstep.locations SET name = name;
                DELETE FROM doorstep.locations WHERE identifier = 'nowhere';
                DELETE FROM doorstep.locations WHERE identifier = 'l250';
                INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id, location_identifier)
                VALUES ('$tenant', 'advanced', 'https://example.com/a', 'com.example.MyApp.Clip', 'l001')
                """)
            let told = try await Self.told(fixture, webhook)
            let expected: [JSONObject] = [
                [
                    "type": "location.changed",
                    "data": ["action": "update", "count": 1, "locations": ["l007"]],
                ],
                [
                    "type": "location.changed",
                    "data": ["action": "delete", "count": 1, "locations": ["l250"]],
                ],
                [
                    "type": "experience.changed",
                    "data": [
                        "action": "insert", "count": 1,
                        "experiences": [["kind": "advanced", "url": "https://example.com/a"]],
                    ],
                ],
            ]
            #expect(told.count == 3 && expected.allSatisfy(told.contains))
            #expect(try await Self.told(fixture, deaf) == [])
            // A disabled webhook gets no message, and neither does another tenant.
            let neighbour = try await stores.createTenant("neighbour")
            let foreign = try await fixture.create(events: [.locationChanged], of: neighbour)
            _ = try await fixture.registry.change(
                webhook, WebhookChange(isEnabled: false), by: Fixture.actor)
            try await execute("DELETE FROM doorstep.locations WHERE identifier = 'l249'")
            #expect(try await fixture.waiting(webhook) == 0)
            #expect(try await fixture.waiting(foreign) == 0)
        }
    }

    @Test func lapsedDomainsAndRevokedKeysAreSent() async throws {
        try await Self.withFixture { fixture in
            let (stores, tenant) = (fixture.stores, fixture.tenant)
            let webhook = try await fixture.create(events: [.domainLapsed, .keyRevoked])
            let store = stores.administration
            let record = try await store.createKey(
                APIKey.generate(.secret), scopes: nil, expiresAt: nil, of: tenant)
            for _ in 1...2 { _ = try await store.revokeKey(record.id, of: tenant) }
            try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    script: """
                        INSERT INTO doorstep.domains (tenant_id, host, challenge, proved_at, method)
                        VALUES ('\(tenant)', 'example.com', 'c', now(), 'dns');
                        UPDATE doorstep.domains SET lapsed_at = now();
                        UPDATE doorstep.domains SET lapsed_at = NULL
                        """)
            }
            let told = try await Self.told(fixture, webhook)
            #expect(
                told.contains([
                    "type": "key.revoked",
                    "data": ["action": "update", "count": 1, "keys": [.string(record.id.description)]],
                ]))
            #expect(
                told.contains([
                    "type": "domain.lapsed",
                    "data": ["action": "update", "count": 1, "domains": ["example.com"]],
                ]))
            #expect(told.count == 2)
        }
    }

    @Test func confirmationsAreSentInBatchesOfAHundred() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create(events: [.confirmationRecorded])
            let queue = ConfirmationQueue(fixture.serverPool)
            let record = ConfirmationRecord(
                location: try LocationIdentifier("a"), outcome: .inRegion, source: .nfc,
                minute: Date(timeIntervalSince1970: 1_772_368_200))
            for _ in 1...101 { queue.record(record, of: fixture.tenant) }
            try await queue.flush()
            let told = try await Self.told(fixture, webhook)
            let lists = told.compactMap {
                $0["data"]?.objectValue?["confirmations"]?.arrayValue
            }
            #expect(lists.map(\.count).sorted() == [1, 100])
            #expect(told.allSatisfy { $0["type"] == "confirmation.recorded" })
            let confirmation = try #require(lists.first?.first?.objectValue)
            #expect(confirmation["location"] == "a" && confirmation["minute"] == "2026-03-01T12:30:00Z")
            #expect(
                Set(confirmation.map(\.key)) == [
                    "attestation", "id", "minute", "location", "outcome", "source",
                ])
        }
    }

    /// A batch after a restart can have records that were written before it.
    @Test func recordsOfPartlyWrittenBatchAreToldOnce() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create(events: [.confirmationRecorded])
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
                .path
            let file = URL(fileURLWithPath: path + ".confirmations")
            let spool = ConfirmationSpool(besideTableFile: path)
            defer { try? FileManager.default.removeItem(at: file) }
            let lost = ConfirmationQueue(
                ConnectionPool(PoolConfiguration(conninfo: "host=127.0.0.1 port=1")), spool: spool)
            let record = ConfirmationRecord(
                location: try LocationIdentifier("a"), outcome: .inRegion, source: .nfc,
                minute: Date(timeIntervalSince1970: 1_772_368_200))
            for _ in 1...7 { lost.record(record, of: fixture.tenant) }
            #expect(try lost.save() == 7)
            let newline = UInt8(ascii: "\n")
            let saved = try Data(contentsOf: file).split(separator: newline)
            // The first run writes two of the records.
            for lines in [[saved[1], saved[4]], saved] {
                try Data(lines.joined(separator: [newline])).write(to: file)
                let queue = ConfirmationQueue(fixture.serverPool, spool: spool)
                #expect(try queue.restore() == lines.count)
                try await queue.flush()
            }
            let ids = try await Self.told(fixture, webhook).flatMap {
                $0["data"]?.objectValue?["confirmations"]?.arrayValue ?? []
            }.map { $0.objectValue?["id"] }
            #expect(ids.count == 7 && Set(ids).count == 7)
        }
    }

    /// While a batch is written, further confirmations are collected.
    @Test(.timeLimit(.minutes(30))) func confirmationsAreBatchedPerTenant() async throws {
        try await Self.withFixture { fixture in
            let webhook = try await fixture.create(events: [.confirmationRecorded])
            let neighbour = try await fixture.stores.createTenant("neighbour")
            let time = Mutex(ContinuousClock.now)
            let queue = ConfirmationQueue(fixture.serverPool, now: { time.withLock { $0 } })
            let record = ConfirmationRecord(
                location: try LocationIdentifier("a"), outcome: .inRegion, source: .nfc,
                minute: Date(timeIntervalSince1970: 1_772_368_200))
            let running = Task { await queue.run() }
            defer { running.cancel() }
            func wait(until count: Int) async throws {
                while queue.count != count {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            // The first confirmation is written at once.
            queue.record(record, of: fixture.tenant)
            try await wait(until: 0)
            for _ in 1...30 {
                queue.record(record, of: fixture.tenant)
                queue.record(record, of: neighbour)
            }
            // Confirmations of other tenants do not wait.
            try await wait(until: 30)
            #expect(try await fixture.waiting(webhook) == 1)
            time.withLock { $0 = $0.advanced(by: .seconds(2)) }
            try await wait(until: 0)
            #expect(try await fixture.waiting(webhook) == 2)
            // A hundred confirmations are written at once.
            for _ in 1...100 { queue.record(record, of: fixture.tenant) }
            try await wait(until: 0)
            let sizes = try await Self.told(fixture, webhook).map {
                $0["data"]?.objectValue?["confirmations"]?.arrayValue?.count
            }
            #expect(sizes == [1, 30, 100])
        }
    }

    @Test func confirmationsAreNotSentToFullWebhook() async throws {
        try await Self.withFixture { fixture in
            let limit = try #require(WebhookEvent.confirmationRecorded.waitingLimit)
            let full = try await fixture.create(events: [.confirmationRecorded, .deliveryFinished])
            let other = try await fixture.create(events: [.confirmationRecorded])
            try await fixture.addMessages(limit, of: full, due: "now() + interval '1 hour'")
            let queue = ConfirmationQueue(fixture.serverPool)
            queue.record(
                ConfirmationRecord(
                    location: nil, outcome: .doesNotMatch, source: .nfc,
                    minute: Date(timeIntervalSince1970: 1_772_368_200)), of: fixture.tenant)
            try await queue.flush()
            #expect(try await fixture.waiting(full) == limit)
            #expect(try await fixture.waiting(other) == 1)
        }
    }

    /// Events wait for the deletion of the webhook, and succeed.
    @Test func webhookBeingDeletedIsSkipped() async throws {
        try await Self.withFixture { fixture in
            let (stores, tenant) = (fixture.stores, fixture.tenant)
            let staying = try await fixture.create(events: [.confirmationRecorded, .locationChanged])
            let tellings: [@Sendable () async throws -> Void] = [
                {
                    let queue = ConfirmationQueue(fixture.serverPool)
                    queue.record(
                        ConfirmationRecord(
                            location: try LocationIdentifier("a"), outcome: .inRegion, source: .nfc,
                            minute: Date(timeIntervalSince1970: 1_772_368_200)), of: tenant)
                    try await queue.flush()
                    #expect(queue.droppedCount == 0)
                },
                {
                    try await stores.adminPool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        try await transaction.execute(
                            """
                            INSERT INTO doorstep.locations
                                (tenant_id, identifier, name, latitude, longitude, radius)
                            VALUES (\(tenant.uuid), 'a', 'A', 1, 2, 3)
                            """)
                    }
                },
            ]
            for tell in tellings {
                let going = try await fixture.create(events: [.confirmationRecorded, .locationChanged])
                let telling = try await stores.adminPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        """
                        DELETE FROM doorstep.webhooks
                        WHERE tenant_id = \(tenant.uuid) AND webhook_id = \(going.id.uuid)
                        """)
                    let telling = Task { try await tell() }
                    try await stores.waitForWaiters()
                    return telling
                }
                try await telling.value
            }
            let told = try await Self.told(fixture, staying)
            #expect(
                told.map { $0["type"] } == ["confirmation.recorded", "location.changed"])
        }
    }
}
