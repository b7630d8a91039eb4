import Administration
import Formats
import Foundation
import Invocation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct ConsoleSessionsTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// Runs the closure with the sessions and a sign-in link.
    private func withLink(
        _ access: ConsoleAccess, lasting length: Int = 3_600,
        _ body: (PostgresConsoleSessions, ConsoleSecret, Stores) async throws -> Void
    ) async throws {
        try await Stores.withStores { stores in
            let sessions = PostgresConsoleSessions(stores.adminPool)
            let link = try await sessions.makeSecret()
            try await sessions.add(link, for: access, lasting: length, at: start)
            try await body(sessions, link, stores)
        }
    }

    private func ada(tenant: TenantID? = nil, isReadOnly: Bool = false) throws -> ConsoleAccess {
        ConsoleAccess(name: try DisplayName("ada"), tenant: tenant, isReadOnly: isReadOnly)
    }

    @Test func linkSignsInOnceWithItsAccess() async throws {
        let access = try ada(tenant: TenantID(UUID()), isReadOnly: true)
        try await withLink(access) { sessions, link, _ in
            let cookie = try await sessions.makeSecret()
            let session = try #require(try await sessions.signIn(by: link, as: cookie, at: start))
            #expect(session.access == access && session.createdAt == start)
            #expect(session.expiresAt == start.addingTimeInterval(3_600))
            #expect(try await sessions.signIn(by: link, as: sessions.makeSecret(), at: start) == nil)
            #expect(try await sessions.session(cookie, at: start) == session)
            #expect(try await sessions.session(sessions.makeSecret(), at: start) == nil)
            #expect(try await sessions.session(link, at: start) == nil)
        }
    }

    @Test func accessOfLinkIsReadWithoutUsingIt() async throws {
        let access = try ada(tenant: TenantID(UUID()), isReadOnly: true)
        try await withLink(access) { sessions, link, _ in
            let end = start.addingTimeInterval(ConsoleSession.linkLifetime)
            let first = try await sessions.access(by: link, at: start)
            let second = try await sessions.access(by: link, at: start)
            #expect(first == access && second == access)
            #expect(try await sessions.access(by: link, at: end) == nil)
            #expect(try await sessions.access(by: sessions.makeSecret(), at: start) == nil)
            #expect(try await sessions.signIn(by: link, as: sessions.makeSecret(), at: start) != nil)
            #expect(try await sessions.access(by: link, at: start) == nil)
        }
    }

    @Test func concurrentUsesOfALinkSignInOnce() async throws {
        try await withLink(ada()) { sessions, link, _ in
            let signedIn = try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    let cookie = try await sessions.makeSecret()
                    group.addTask { try await sessions.signIn(by: link, as: cookie, at: start) != nil }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(signedIn == 1)
        }
    }

    @Test func linkExpiresAfterItsLifetime() async throws {
        try await withLink(ada()) { sessions, link, _ in
            let end = start.addingTimeInterval(ConsoleSession.linkLifetime)
            let late = try await sessions.signIn(by: link, as: sessions.makeSecret(), at: end)
            #expect(late == nil)
            let timely = try await sessions.signIn(
                by: link, as: sessions.makeSecret(), at: end.addingTimeInterval(-1))
            #expect(timely != nil)
        }
    }

    @Test func sessionEndsWhenIdleOrExpired() async throws {
        try await withLink(ada(), lasting: 9_000) { sessions, link, _ in
            let cookie = try await sessions.makeSecret()
            _ = try await sessions.signIn(by: link, as: cookie, at: start)
            // A session that is used within an hour lasts another hour.
            let used = try await sessions.session(cookie, at: start.addingTimeInterval(3_500))
            #expect(used != nil)
            #expect(try await sessions.session(cookie, at: start.addingTimeInterval(7_000)) != nil)
            #expect(try await sessions.session(cookie, at: start.addingTimeInterval(9_000)) == nil)
            #expect(try await sessions.sessions(at: start.addingTimeInterval(8_000)).count == 1)
            #expect(try await sessions.session(cookie, at: start.addingTimeInterval(7_000 + 3_600)) == nil)
        }
        try await withLink(ada(), lasting: 40_000) { sessions, link, _ in
            let cookie = try await sessions.makeSecret()
            _ = try await sessions.signIn(by: link, as: cookie, at: start)
            #expect(try await sessions.session(cookie, at: start.addingTimeInterval(3_600)) == nil)
        }
    }

    @Test func sessionLengthMustBeInRange() async throws {
        try await Stores.withStores { stores in
            let sessions = PostgresConsoleSessions(stores.adminPool)
            for length in [59, Int(ConsoleSession.maximumLength) + 1] {
                await #expect(throws: PostgreSQLError.self) {
                    try await sessions.add(sessions.makeSecret(), for: ada(), lasting: length, at: start)
                }
            }
        }
    }

    @Test func endAllEndsSessionsAndLinks() async throws {
        try await withLink(ada()) { sessions, link, _ in
            let (other, cookie) = (try await sessions.makeSecret(), try await sessions.makeSecret())
            try await sessions.add(other, for: ada(), lasting: 3_600, at: start)
            _ = try await sessions.signIn(by: link, as: cookie, at: start)
            try await sessions.endAll(by: DisplayName("bob"))
            #expect(try await sessions.session(cookie, at: start) == nil)
            #expect(try await sessions.signIn(by: other, as: sessions.makeSecret(), at: start) == nil)
        }
    }

    @Test func newSignInEndsEarlierSessionButInvalidLinkDoesNot() async throws {
        try await withLink(ada()) { sessions, link, _ in
            let (first, second) = (try await sessions.makeSecret(), try await sessions.makeSecret())
            _ = try await sessions.signIn(by: link, as: first, at: start)
            let used = try await sessions.signIn(by: link, as: second, insteadOf: first, at: start)
            #expect(used == nil)
            #expect(try await sessions.session(first, at: start) != nil)
            let other = try await sessions.makeSecret()
            let bob = ConsoleAccess(name: try DisplayName("bob"))
            try await sessions.add(other, for: bob, lasting: 3_600, at: start)
            let next = try await sessions.signIn(by: other, as: second, insteadOf: first, at: start)
            #expect(next?.access == bob)
            #expect(try await sessions.session(first, at: start) == nil)
            #expect(try await sessions.session(second, at: start) == next)
            // Ending the session of an unknown cookie has no effect.
            let third = try await sessions.makeSecret()
            try await sessions.add(third, for: bob, lasting: 3_600, at: start)
            #expect(
                try await sessions.signIn(by: third, as: sessions.makeSecret(), insteadOf: first, at: start)
                    != nil)
            let events = try await sessions.events(before: nil, limit: 10)
            #expect(
                events.map { "\($0.kind.rawValue) \($0.name)" } == [
                    "signed_in bob", "link_made bob", "signed_in bob", "signed_out ada", "link_made bob",
                    "signed_in ada", "link_made ada",
                ])
        }
    }

    @Test func sessionEventsArePaged() async throws {
        try await withLink(ada()) { sessions, _, _ in
            for name in ["bob", "cay"] { try await sessions.noteSignIn(of: DisplayName(name)) }
            try await sessions.noteKeyShown(to: DisplayName("bob"))
            let first = try await sessions.events(before: nil, limit: 2)
            #expect(first.map(\.kind) == [.keyShown, .signedIn] && first.map(\.name) == ["bob", "cay"])
            #expect(first.allSatisfy { $0.login == "doorstep_test_admin" })
            let rest = try await sessions.events(before: first.last?.id, limit: 10)
            #expect(rest.map(\.kind) == [.signedIn, .linkMade])
        }
    }

    @Test func sessionEventsAreRecordedWithoutSecrets() async throws {
        try await withLink(ada()) { sessions, link, stores in
            let cookie = try await sessions.makeSecret()
            let session = try #require(try await sessions.signIn(by: link, as: cookie, at: start))
            try await sessions.noteKeyShown(to: DisplayName("ada"))
            try await sessions.end(session.id, by: DisplayName("bob"))
            try await sessions.end(session.id, by: DisplayName("bob"))
            try await sessions.endAll(by: DisplayName("bob"))
            let events = try await stores.adminPool.withTransaction { transaction in
                try await transaction.execute("SELECT set_config('role', 'doorstep_admin', true)")
                return try await transaction.execute(
                    "SELECT event || ' ' || name || ' ' || login FROM doorstep.console_events ORDER BY event_id"
                ).map { try $0.decode(at: 0, as: String.self) }
            }
            #expect(
                events == [
                    "link_made ada doorstep_test_admin", "signed_in ada doorstep_test_admin",
                    "key_shown ada doorstep_test_admin", "session_ended bob doorstep_test_admin",
                    "all_sessions_ended bob doorstep_test_admin",
                ])
        }
    }

    @Test func secretOfAnotherDeploymentIsNotRecognized() async throws {
        try await withLink(ada()) { sessions, link, _ in
            let again = try await sessions.hasMade(link)
            #expect(again)
            try await Stores.withStores { other in
                // The databases of the tests are copies of one database.
                try await other.database.withSuperuser { pool in
                    try await pool.withTransaction {
                        try await $0.execute(script: "UPDATE doorstep.console_key SET key = sha256('other')")
                    }
                }
                #expect(try await !PostgresConsoleSessions(other.adminPool).hasMade(link))
            }
        }
    }

    /// Two consoles of one database, and the command that creates links.
    @Test func secretIsRecognizedByEveryConsoleOfItsDatabase() async throws {
        try await withLink(ada()) { _, link, stores in
            let isOwn = try await PostgresConsoleSessions(stores.adminPool).hasMade(link)
            #expect(isOwn)
        }
    }

    /// Breaks each CHECK of the console's tables, which belong to no tenant, with a row that is valid except for one value.
    @Test func everyCheckRejectsInvalidRows() async throws {
        let (link, session) = ("sha256('a'), 'ada', NULL, false", "now(), now(), now() + interval '1 hour'")
        let links = "INSERT INTO doorstep.console_links VALUES"
        let sessions = """
            INSERT INTO doorstep.console_sessions
                (digest, name, limited_to, read_only, created_at, seen_at, expires_at) VALUES
            """
        let events = "INSERT INTO doorstep.console_events (event, name) VALUES"
        let good = [
            "\(links) (\(link), 60, now())", "\(sessions) (\(link), \(session))",
            "\(events) ('signed_in', 'ada')",
        ]
        let bad = [
            ("console_links_digest_length", "\(links) ('a', 'ada', NULL, false, 60, now())"),
            ("console_links_name_length", "\(links) (sha256('b'), '', NULL, false, 60, now())"),
            ("console_links_session_seconds_range", "\(links) (sha256('b'), 'ada', NULL, false, 59, now())"),
            (
                "console_links_session_seconds_range",
                "\(links) (sha256('b'), 'ada', NULL, false, 43201, now())"
            ),
            ("console_sessions_digest_length", "\(sessions) ('a', 'ada', NULL, false, \(session))"),
            (
                "console_sessions_name_length",
                "\(sessions) (sha256('b'), repeat('a', 129), NULL, false, \(session))"
            ),
            (
                "console_sessions_length",
                "\(sessions) (sha256('b'), 'ada', NULL, false, now(), now(), now() + interval '12 hours 1 second')"
            ),
            ("console_events_event_value", "\(events) ('else', 'ada')"),
            ("console_events_name_length", "\(events) ('signed_in', '')"),
        ]
        // No role of Doorstep may write the key.
        let ofOwner = [
            ("console_key_is_only", "UPDATE doorstep.console_key SET is_only = false"),
            ("console_key_length", "UPDATE doorstep.console_key SET key = 'a'"),
        ]
        try await Stores.withStores { stores in
            let checks = try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        "SELECT conname::text FROM pg_constraint WHERE contype = 'c' AND conname LIKE 'console%'"
                    ).map { try $0.decode(at: 0, as: String.self) }
                }
            }
            #expect(Set(checks) == Set((bad + ofOwner).map(\.0)))
            for (check, script) in ofOwner {
                await #expect {
                    try await stores.database.withSuperuser { pool in
                        try await pool.withTransaction { try await $0.execute(script: script) }
                    }
                } throws: {
                    ($0 as? PostgreSQLError)?.isCheckViolation(check) == true
                }
            }
            for script in good { try await administer(stores, script) }
            for (check, script) in bad {
                await #expect {
                    try await administer(stores, script)
                } throws: {
                    ($0 as? PostgreSQLError)?.isCheckViolation(check) == true
                }
            }
        }
    }

    private func administer(_ stores: Stores, _ script: String) async throws {
        try await stores.adminPool.withTransaction { transaction in
            try await transaction.execute("SELECT set_config('role', 'doorstep_admin', true)")
            try await transaction.execute(script: script)
        }
    }

    @Test func readOnlyStoreCannotWrite() async throws {
        try await Stores.withTenant { stores, tenant in
            let sample = try LocationRecord.sample("a")
            try await stores.importLocations([sample], of: tenant)
            let store = PostgresAdministrationStore(stores.adminPool, actor: "console:ada", isReadOnly: true)
            let items = TenantItems(store.items.locations, of: tenant, by: "console:ada")
            let key = try #require(LocationRecord.key(named: "a"))
            #expect(try await items.show(key) == sample)
            await #expect(throws: ReadOnlyAccess.self) { try await items.delete(key) }
            await #expect(throws: ReadOnlyAccess.self) {
                try await items.update(key) { _ in try .sample("a", radius: 7) }
            }
            await #expect(throws: ReadOnlyAccess.self) {
                try await store.createTenant(slug: TenantSlug("new"), name: DisplayName("New"))
            }
            #expect(try await items.show(key) == sample)
            let made = APIKey.generate(.secret)
            await #expect(throws: ReadOnlyAccess.self) {
                try await store.createKey(made, scopes: nil, expiresAt: nil, of: tenant)
            }
        }
    }

    @Test func readOnlyWebhookRegistryCannotWrite() async throws {
        try await Stores.withTenant { stores, tenant in
            let keys = try #require(SealingKeys(secrets: [String(repeating: "k", count: 32)]))
            let hook = try Webhook(
                url: WebhookURL("https://hooks.example.com"), secret: WebhookSecret.generate())
            let webhook = try await PostgresWebhookRegistry(stores.adminPool, keys: keys).create(
                hook, named: nil, events: WebhookEvent.usual, of: tenant, by: "operator:test")
            let reference = WebhookReference(webhook.id, of: tenant)
            let registry = PostgresWebhookRegistry(stores.adminPool, keys: keys, isReadOnly: true)
            #expect(try await registry.webhook(reference) == webhook)
            let message = WebhookMessage(WebhookEvent.test, [:], at: start)
            await #expect(throws: ReadOnlyAccess.self) {
                try await registry.add(message, to: reference, by: "console:ada")
            }
            await #expect(throws: ReadOnlyAccess.self) {
                try await registry.create(
                    hook, named: nil, events: WebhookEvent.usual, of: tenant, by: "console:ada")
            }
            await #expect(throws: ReadOnlyAccess.self) {
                try await registry.change(reference, WebhookChange(isEnabled: false), by: "console:ada")
            }
            await #expect(throws: ReadOnlyAccess.self) {
                try await registry.replaceSecret(of: reference, by: hook.secret, actor: "console:ada")
            }
            await #expect(throws: ReadOnlyAccess.self) {
                try await registry.replay(
                    .since(start), of: reference, by: "console:ada")
            }
            await #expect(throws: ReadOnlyAccess.self) {
                try await registry.delete(reference, by: "console:ada")
            }
            #expect(try await registry.webhook(reference) == webhook)
        }
    }

    @Test func oldSessionEventsArePruned() async throws {
        try await Stores.withTenant { stores, _ in
            let sessions = PostgresConsoleSessions(stores.adminPool)
            for name in ["ada", "ben"] { try await sessions.noteSignIn(of: DisplayName(name)) }
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    _ = try await transaction.execute(
                        """
                        UPDATE doorstep.console_events SET at = now() - interval '7 days 1 minute' WHERE name = 'ada'
                        """)
                }
            }
            #expect(try await sessions.pruneEvents(retention: 8) == 0)
            #expect(try await sessions.pruneEvents(retention: 7) == 1)
            #expect(try await sessions.events(before: nil, limit: 10).map(\.name) == ["ben"])
            // The job refuses a shorter retention.
            await #expect(throws: PostgreSQLError.self) { try await sessions.pruneEvents(retention: 6) }
        }
    }

    /// The function refuses relations whose changes triggers record.
    @Test func actsAreRecordedOnlyForUntriggeredRelations() async throws {
        try await Stores.withTenant { stores, tenant in
            func record(_ relation: String) async throws {
                try await stores.adminPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute("SELECT set_config('doorstep.actor', 'console:ada', true)")
                    _ = try await transaction.execute(
                        "SELECT doorstep.record_act('insert', \(relation), NULL, '{\"count\": 1}')")
                }
            }
            for relation in ["deliveries", "webhook_messages"] { try await record(relation) }
            await #expect(throws: PostgreSQLError.self) { try await record("locations") }
            let entries = try await PostgresAdministrationStore(stores.adminPool, actor: "").auditLog.page(
                of: tenant, before: nil, limit: 2, where: ["actor": "console:ada"]
            ).entries
            #expect(entries.map(\.relation) == ["webhook_messages", "deliveries"])
        }
    }

    @Test func statusReportsMigrationsConnectionsAndQueues() async throws {
        try await Stores.withTenant { stores, tenant in
            let keys = try #require(SealingKeys(secrets: [String(repeating: "k", count: 32)]))
            let registry = PostgresWebhookRegistry(stores.adminPool, keys: keys)
            let webhook = try await registry.create(
                Webhook(
                    url: WebhookURL("https://hooks.example.com"), secret: WebhookSecret.generate()),
                named: nil, events: WebhookEvent.usual, of: tenant, by: "operator:test")
            // The console's login has the roles that read the schema, and the role of the router.
            func status() async throws -> InstallationStatus {
                try await stores.database.withSuperuser { try await PostgresInstallation($0).status() }
            }
            let empty = try await status()
            #expect(empty.schemaVersion == Schema.migrations.count)
            #expect(empty.knownSchemaVersion == Schema.migrations.count)
            #expect(empty.queues.map(\.count) == [0, 0] && empty.queues.allSatisfy { $0.firstDueAt == nil })
            #expect(empty.connections.contains { $0.login == "doorstep_test_admin" && $0.count >= 1 })
            for _ in 0..<2 {
                try await registry.add(
                    WebhookMessage(WebhookEvent.test, [:], at: start),
                    to: WebhookReference(webhook.id, of: tenant), by: "operator:test")
            }
            let full = try await status()
            #expect(full.queues.map(\.count) == [0, 2] && full.queues[1].firstDueAt != nil)
        }
    }
}
