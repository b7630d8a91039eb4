import Formats
import Foundation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Listeners read the recorded events.
@Suite struct EventLogTests {
    private struct Fixture {
        let stores: Stores
        let tenant: TenantID
        /// Connects with the role of requests.
        let log: PostgresWebhookRegistry
        let adminPool: ConnectionPool

        /// Adds a location, which is an event.
        func add(_ name: String, by pool: ConnectionPool? = nil, of tenant: TenantID? = nil) async throws {
            let tenant = tenant ?? self.tenant
            try await (pool ?? adminPool).withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(Self.insertion(of: name, of: tenant))
            }
        }

        static func insertion(of name: String, of tenant: TenantID) -> Query {
            """
            INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius)
            VALUES (\(tenant.uuid), \(name), 'L', 1, 2, 3)
            """
        }

        func begin(of tenant: TenantID? = nil) async throws -> EventPosition {
            let tenant = tenant ?? self.tenant
            #expect(try await log.recordEvents(of: tenant) == false)
            return try await log.events(of: tenant, after: nil, limit: 1).next
        }

        /// The names of the locations in the events after a position, and the position to continue from.
        func read(
            after: EventPosition, limit: Int = 100, of tenant: TenantID? = nil
        ) async throws -> (names: [String], next: EventPosition, hasMissed: Bool) {
            let page = try await log.events(of: tenant ?? self.tenant, after: after, limit: limit)
            let names = try page.bodies.flatMap { body in
                let data = try JSONValue(parsing: body).objectValue?["data"]?.objectValue
                return data?["locations"]?.arrayValue?.compactMap(\.stringValue) ?? []
            }
            return (names, page.next, page.hasMissed)
        }

        func execute(_ query: Query) async throws {
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection { _ = try await $0.execute(query) }
            }
        }
    }

    private static func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .manager) { pool in
                let keys = try #require(SealingKeys(secrets: [String(repeating: "a", count: 32)]))
                try await body(
                    Fixture(
                        stores: stores, tenant: tenant,
                        log: PostgresWebhookRegistry(managing: pool, keys: keys),
                        adminPool: stores.adminPool))
            }
        }
    }

    @Test func eventsAreRecordedFromTheFirstRequestOn() async throws {
        try await Self.withFixture { fixture in
            try await fixture.add("before")
            let start = try await fixture.begin()
            try await fixture.add("a")
            try await fixture.add("b")
            let neighbour = try await fixture.stores.createTenant("neighbour")
            try await fixture.add("other", of: neighbour)
            let first = try await fixture.read(after: start, limit: 1)
            #expect(first.names == ["a"] && !first.hasMissed)
            let second = try await fixture.read(after: first.next, limit: 1)
            #expect(second.names == ["b"])
            let last = try await fixture.read(after: second.next)
            #expect(last.names == [] && !last.hasMissed)
            // Another listener reads all events again.
            #expect(try await fixture.read(after: start).names == ["a", "b"])
            let position = try await fixture.begin(of: neighbour)
            #expect(try await fixture.read(after: position, of: neighbour).names == [])
            #expect(try await fixture.read(after: start, of: neighbour).hasMissed)
        }
    }

    /// A transaction that began earlier is not skipped, and does not delay other events.
    @Test func transactionThatEndsLateIsReadOnce() async throws {
        try await Self.withFixture { fixture in
            let start = try await fixture.begin()
            var next = start
            try await fixture.adminPool.withTransaction { transaction in
                try await transaction.setTenant(fixture.tenant.description)
                try await transaction.execute(Fixture.insertion(of: "early", of: fixture.tenant))
                for name in ["late", "later"] { try await fixture.add(name) }
                let first = try await fixture.read(after: start, limit: 1)
                #expect(first.names == ["late"])
                let second = try await fixture.read(after: first.next)
                #expect(second.names == ["later"])
                next = second.next
            }
            let page = try await fixture.read(after: next)
            #expect(page.names == ["early"] && !page.hasMissed)
            #expect(try await fixture.read(after: page.next).names == [])
            #expect(Set(try await fixture.read(after: start).names) == ["early", "late", "later"])
        }
    }

    /// Events that are recorded while a listener reads follow the pages of the first snapshot.
    @Test func pagesOfOneSnapshotAreReadToTheirEnd() async throws {
        try await Self.withFixture { fixture in
            var position = try await fixture.begin()
            for name in ["a", "b", "c"] { try await fixture.add(name) }
            var names: [[String]] = []
            for round in 0..<6 {
                let page = try await fixture.read(after: position, limit: 2)
                names.append(page.names)
                position = page.next
                if round == 0 { for name in ["d", "e"] { try await fixture.add(name) } }
            }
            #expect(names == [["a", "b"], ["c"], ["d", "e"], [], [], []])
        }
    }

    /// The server writes these events; triggers do not.
    @Test func serversEventsAreRecordedWithoutWebhooks() async throws {
        try await Self.withFixture { fixture in
            let start = try await fixture.begin()
            let webhook = try await fixture.log.create(
                Webhook(url: try WebhookURL("https://example.com"), secret: .generate()),
                named: nil, events: [.keyRevoked], of: fixture.tenant, by: "x")
            let reference = WebhookReference(webhook.id, of: fixture.tenant)
            let test = WebhookMessage(WebhookEvent.test, [:], at: Date())
            try await fixture.log.add(test, to: reference, by: "x")
            try await fixture.stores.database.withPool(as: .serve) { pool in
                let keys = try #require(SealingKeys(secrets: [String(repeating: "a", count: 32)]))
                let store = PostgresWebhookStore(pool, keys: keys)
                let claim = try #require(
                    try await store.claim(
                        of: reference, limit: 1, lease: .seconds(60), maximumAge: .seconds(86_400)))
                let message = try #require(claim.messages.first)
                let recorded = try await store.record(
                    WebhookAttempt(at: Date(), duration: .zero, reply: .status(410)), at: message,
                    of: reference, to: webhook.url, again: nil, patience: .seconds(60))
                #expect(recorded == .switchedOff)
            }
            let page = try await fixture.log.events(of: fixture.tenant, after: start, limit: 10)
            let event = try JSONValue(parsing: try #require(page.bodies.first)).objectValue
            #expect(page.bodies.count == 1 && event?["type"] == "webhook.disabled")
        }
    }

    @Test func sampleIsRecordedForListenersOnly() async throws {
        try await Self.withFixture { fixture in
            let sample = WebhookMessage(sampleOf: .keyRevoked, at: Date())
            #expect(try await !fixture.log.record(sample, type: "key.revoked", of: fixture.tenant))
            let start = try await fixture.begin()
            #expect(try await fixture.log.record(sample, type: "key.revoked", of: fixture.tenant))
            let page = try await fixture.log.events(of: fixture.tenant, after: start, limit: 10)
            #expect(page.bodies == [sample.body])
        }
    }

    @Test func listenerThatPausedForTooLongIsTold() async throws {
        try await Self.withFixture { fixture in
            let start = try await fixture.begin()
            try await fixture.add("a")
            try await fixture.execute(
                "UPDATE doorstep.event_recordings SET ends_at = now() - interval '1 second'")
            try await fixture.add("unheard")
            _ = try await fixture.log.recordEvents(of: fixture.tenant)
            try await fixture.add("b")
            let page = try await fixture.read(after: start)
            #expect(page.names == ["a", "b"] && page.hasMissed)
            #expect(try await !fixture.read(after: page.next).hasMissed)
            // The position is from another database.
            let strange = try #require(EventPosition("1000000000000:1000000000000:"))
            #expect(try await fixture.read(after: strange).hasMissed)
        }
    }

    @Test func eventsAreDeletedAfterAnHour() async throws {
        try await Self.withFixture { fixture in
            let start = try await fixture.begin()
            for name in ["a", "b"] { try await fixture.add(name) }
            let first = try await fixture.read(after: start, limit: 1)
            let second = try await fixture.read(after: start)
            try await fixture.execute(
                "UPDATE doorstep.events SET recorded_at = recorded_at - interval '61 minutes'")
            // Within a minute of the last request, the call does nothing.
            _ = try await fixture.log.recordEvents(of: fixture.tenant)
            #expect(try await fixture.read(after: start).names == ["a", "b"])
            try await fixture.execute(
                "UPDATE doorstep.event_recordings SET ends_at = now() + interval '5 minutes'")
            _ = try await fixture.log.recordEvents(of: fixture.tenant)
            for position in [start, first.next] {
                let page = try await fixture.read(after: position)
                #expect(page.names == [] && page.hasMissed)
            }
            #expect(try await !fixture.read(after: second.next).hasMissed)
        }
    }

    @Test func recordedEventsAreLimited() async throws {
        try await Self.withFixture { fixture in
            _ = try await fixture.begin()
            try await fixture.execute(
                """
                INSERT INTO doorstep.events (tenant_id, message_id, type, body)
                SELECT \(fixture.tenant.uuid), gen_random_uuid(), 'x', '{}'
                FROM generate_series(1, \(EventRecording.limit - 1))
                """)
            #expect(try await !fixture.log.recordEvents(of: fixture.tenant))
            for name in ["last", "unheard"] { try await fixture.add(name) }
            #expect(try await fixture.log.recordEvents(of: fixture.tenant))
            let count = try await fixture.stores.count("SELECT count(*) FROM doorstep.events")
            #expect(count == EventRecording.limit)
        }
    }

    @Test func maintenanceDeletesEndedRecordings() async throws {
        try await Self.withFixture { fixture in
            _ = try await fixture.begin()
            try await fixture.add("a")
            try await fixture.stores.database.withPool(as: .serve) { pool in
                let retention = NotificationRetention(
                    pool, instanceRetention: 90, notificationRetention: 30)
                for (minutes, count) in [(59, 0), (61, 1)] {
                    try await fixture.execute(
                        """
                        UPDATE doorstep.event_recordings
                        SET ends_at = now() - make_interval(mins => \(minutes)::integer)
                        """)
                    #expect(try await retention.maintain().eventRecordings == count)
                }
            }
            #expect(try await fixture.stores.count("SELECT count(*) FROM doorstep.events") == 0)
        }
    }

    @Test func positionRoundTrips() throws {
        for text in [
            "745:745:", "745:750:745,748", "1:1:~745:750:749~748~0195511f-d940-7000-8000-0000000000a1",
        ] {
            let position = try #require(EventPosition(text))
            #expect(
                position.description == text && position.seen.newest == Int(text.split(separator: ":")[1]))
        }
        for text in [
            "", "1", "1:1", "0:0:", "2:1:", "1:2:2", "5:9:4", "5:9:7,6", "5:9:6,6", "+1:1:", "1:1: ", "1:1:,",
            "1:1:~", "1:1:~1:1:~x~0195511f-d940-7000-8000-0000000000a1", "1:1:~1:1:~1~x",
            "1:1:~1:1:~01~0195511f-d940-7000-8000-0000000000a1", "1:9223372036854775807:",
            "1:9999:" + (1...1_100).map(String.init).joined(separator: ","),
        ] {
            #expect(EventPosition(text) == nil, "\(text)")
        }
    }
}
