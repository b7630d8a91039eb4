import Administration
import Confirmations
import EmbeddedPostgreSQL
import Foundation
import Geodesy
import Invocation
import Lookups
import Persistence
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(30))) struct ConfirmationQueueTests {
    /// Records a confirmation without a location, as a server does.
    private static func record(
        _ source: InvocationSource = .nfc, in queue: ConfirmationQueue, of tenant: TenantID,
        at now: Date = .now
    ) throws {
        _ = Confirmer(recordingTo: queue).confirm(
            ConfirmationRequest(
                url: try InvocationURL("https://example.com"), source: source, access: .denied,
                evidence: .none),
            .doesNotMatch, in: LookupIndex().of(tenant), at: now)
    }

    private static func count(_ stores: Stores, of tenant: TenantID) async throws -> Int {
        try await stores.count("SELECT count(*) FROM doorstep.confirmations WHERE tenant_id = \(tenant.uuid)")
    }

    @Test func confirmationIsRecordedToTheMinuteWithoutCoordinate() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.administration.createExperience(
                .sample("https://example.com/a", location: "a"), of: tenant)
            let queue = ConfirmationQueue(stores.appPool)
            let confirmer = Confirmer(recordingTo: queue)
            let table = try await stores.loadTable().of(tenant)
            let now = Date(timeIntervalSince1970: 1_800_000_059.999)
            let here = try Coordinate(latitude: 37.3347, longitude: -122.0089)
            let far = try Coordinate(latitude: 37.5, longitude: -122.0089)
            let cases: [(String, InvocationSource, ConfirmationRequest.Evidence)] = [
                ("https://example.com/a", .nfc, .coordinate(here, horizontalAccuracy: nil)),
                ("https://example.com/a", .qrCode, .coordinate(far, horizontalAccuracy: nil)),
                ("https://example.com/a", .appClipCode, .none),
                ("https://example.com/a", .safari, .none),
                ("https://example.org", .nfc, .none),
            ]
            for (url, source, evidence) in cases {
                _ = confirmer.confirm(
                    ConfirmationRequest(
                        url: try InvocationURL(url), source: source, access: .allowed, evidence: evidence),
                    table.lookUp(try InvocationURL(url)), in: table, at: now)
            }
            #expect(try await Self.count(stores, of: tenant) == 0 && queue.count == 5)
            try await queue.flush()
            #expect(queue.count == 0 && queue.droppedCount == 0)
            let rows = try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT outcome, source, location_identifier, minute, to_jsonb(c)::text
                        FROM doorstep.confirmations c WHERE tenant_id = \(tenant.uuid)
                        """
                    ).map { try $0.decode(String.self, String.self, String?.self, Date.self, String.self) }
                }
            }
            #expect(
                rows.map { "\($0.0) \($0.1) \($0.2 ?? "-")" }.sorted() == [
                    "disallowed safari a", "doesNotMatch nfc -", "inRegion nfc a", "notInRegion qr_code a",
                    "undetermined app_clip_code a",
                ])
            #expect(rows.allSatisfy { $0.3 == Date(timeIntervalSince1970: 1_800_000_000) })
            #expect(rows.allSatisfy { !$0.4.contains("37.") && !$0.4.contains("122.") })
        }
    }

    /// A CHECK lists the sources, too.
    @Test func everySourceIsAccepted() async throws {
        try await Stores.withTenant { stores, tenant in
            let queue = ConfirmationQueue(stores.appPool)
            for source in InvocationSource.allCases { try Self.record(source, in: queue, of: tenant) }
            try await queue.flush()
            let count = try await stores.count("SELECT count(DISTINCT source) FROM doorstep.confirmations")
            #expect(count == InvocationSource.allCases.count && queue.droppedCount == 0)
        }
    }

    @Test func confirmationsOfTenantsAreKeptApart() async throws {
        try await Stores.withTenant { stores, tenant in
            var tenants = [tenant]
            for number in 1...4 { tenants.append(try await stores.createTenant("t\(number)")) }
            let queue = ConfirmationQueue(stores.appPool)
            // More than one statement writes.
            for number in 0..<6_000 { try Self.record(in: queue, of: tenants[number % 5]) }
            try await queue.flush()
            for tenant in tenants { #expect(try await Self.count(stores, of: tenant) == 1_200) }
            #expect(queue.count == 0)
        }
    }

    @Test func confirmationsBeyondTheLimitAreDroppedAndCounted() async throws {
        try await Stores.withTenant { stores, tenant in
            let queue = ConfirmationQueue(stores.appPool, limit: 3)
            for _ in 0..<5 { try Self.record(in: queue, of: tenant) }
            #expect(queue.count == 3 && queue.droppedCount == 2)
            try await queue.flush()
            #expect(queue.count == 0 && queue.droppedCount == 2)
            try Self.record(in: queue, of: tenant)
            try await queue.flush()
            #expect(try await Self.count(stores, of: tenant) == 4)
        }
    }

    /// One tenant fills the queue while the database is unavailable. Records of other tenants are kept.
    @Test func floodOfOneTenantDropsOnlyItsOwn() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let queue = ConfirmationQueue(stores.appPool, limit: 10)
            for _ in 0..<100 { try Self.record(in: queue, of: tenant) }
            for _ in 0..<4 { try Self.record(in: queue, of: other) }
            #expect(queue.count == 10 && queue.droppedCount == 94)
            try await queue.flush()
            #expect(try await Self.count(stores, of: tenant) == 6)
            #expect(try await Self.count(stores, of: other) == 4)
        }
    }

    @Test(.timeLimit(.minutes(30))) func confirmationsWaitWhileDatabaseIsUnavailable() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .serve, { $0.acquireTimeout = .seconds(1) }) { pool in
                let queue = ConfirmationQueue(pool, limit: 4)
                try Self.record(in: queue, of: tenant)
                try Self.record(in: queue, of: tenant)
                try await stores.database.refusingConnections {
                    for _ in 0..<2 {
                        await #expect(throws: PostgreSQLError.self) { try await queue.flush() }
                        #expect(queue.count == 2)
                    }
                    // Records that are being written count, too.
                    for _ in 0..<3 { try Self.record(in: queue, of: tenant) }
                    #expect(queue.count == 4 && queue.droppedCount == 1)
                }
                // On a busy machine, connecting can take longer than the pool's timeout of one second.
                while queue.count > 0 { try? await queue.flush() }
                #expect(try await Self.count(stores, of: tenant) == 4)
            }
        }
    }

    /// The server commits, but the connection fails before the response.
    @Test func confirmationWithUnknownCommitIsNotDuplicated() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = try await EmbeddedServer.startOrJoin(
            directory: directory,
            options: EmbeddedServerOptions(
                settings: ["synchronous_standby_names": "nobody", "synchronous_commit": "local"]))
        defer { try? server.leave() }
        let configuration = PoolConfiguration.forBusyMachines(conninfo: server.conninfo)
        try await ConnectionPool.withPool(configuration) { pool in
            _ = try await Schema.migrate(pool)
            let store = PostgresAdministrationStore(pool, actor: "test")
            let tenant = try await store.createTenant(slug: TenantSlug("acme"), name: DisplayName("Acme")).id
            var waiting = configuration
            waiting.conninfo += " options='-c synchronous_commit=on'"
            waiting.applicationName = "queue"
            try await ConnectionPool.withPool(waiting) { queuePool in
                let queue = ConfirmationQueue(queuePool)
                for _ in 0..<3 { try Self.record(in: queue, of: tenant) }
                let flushing = Task { try await queue.flush() }
                try await pool.withConnection { connection in
                    while try await connection.execute(
                        """
                        SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                        WHERE application_name = 'queue' AND wait_event = 'SyncRep'
                        """
                    ).isEmpty { try Task.checkCancellation() }
                }
                await #expect(throws: PostgreSQLError.outcomeUnknown) { try await flushing.value }
                #expect(queue.count == 3)
                let count: Query = "SELECT count(*) FROM doorstep.confirmations"
                func recorded() async throws -> Int {
                    try await pool.withConnection { try await $0.execute(count).one().decode(at: 0) }
                }
                #expect(try await recorded() == 3)

                try await pool.withConnection {
                    _ = try await $0.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
                    _ = try await $0.execute("SELECT pg_reload_conf()")
                }
                try Self.record(in: queue, of: tenant)
                // A session that has not yet reloaded its settings waits for the standby again.
                while queue.count > 0 {
                    do { try await queue.flush() } catch PostgreSQLError.outcomeUnknown { continue }
                }
                #expect(try await recorded() == 4 && queue.droppedCount == 0)
            }
        }
    }

    @Test func confirmationsOfDeletedTenantAreDropped() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let failures = Mutex<[String]>([])
            let queue = ConfirmationQueue(stores.appPool) { error in
                failures.withLock { $0.append((error as? PostgreSQLError)?.sqlState ?? "?") }
            }
            for tenant in [tenant, other, tenant, other, tenant] { try Self.record(in: queue, of: tenant) }
            try await stores.administer(other, "DELETE FROM doorstep.tenants WHERE tenant_id = '\(other)'")
            try await queue.flush()
            #expect(queue.count == 0 && queue.droppedCount == 2)
            #expect(failures.withLock { $0 } == ["23503"])
            #expect(try await Self.count(stores, of: tenant) == 3)
        }
    }

    /// A writer may wait for the default partition while the partition of its day is created.
    @Test func confirmationsSurviveCreationOfTheirDay() async throws {
        try await Stores.withTenant { stores, tenant in
            let queue = ConfirmationQueue(stores.appPool)
            for _ in 0..<3 { try Self.record(in: queue, of: tenant) }
            let flushing = try await stores.routerPool.withTransaction { transaction in
                try await transaction.execute("SELECT doorstep.add_confirmation_days()")
                let flushing = Task { try await queue.flush() }
                try await stores.waitForWaiters()
                return flushing
            }
            try await flushing.value
            #expect(try await Self.count(stores, of: tenant) == 3)
            #expect(queue.count == 0 && queue.droppedCount == 0)
        }
    }

    /// Deleting a tenant can take minutes.
    @Test func tenantDeletionDoesNotDelayOtherTenants() async throws {
        try await Stores.withTenant { stores, tenant in
            var others: [TenantID] = []
            for number in 1...8 { others.append(try await stores.createTenant("t\(number)")) }
            let queue = ConfirmationQueue(stores.appPool)
            for tenant in [tenant] + others { try Self.record(in: queue, of: tenant) }
            let flushing = try await stores.adminPool.withTransaction { deletion in
                try await deletion.setTenant(tenant.description)
                try await deletion.execute(
                    "SELECT FROM doorstep.tenants WHERE tenant_id = \(tenant.uuid) FOR UPDATE")
                let flushing = Task { try await queue.flush() }
                while try await stores.count("SELECT count(*) FROM doorstep.confirmations") < others.count {
                    try Task.checkCancellation()
                }
                return flushing
            }
            try await flushing.value
            for tenant in [tenant] + others { #expect(try await Self.count(stores, of: tenant) == 1) }
            #expect(queue.count == 0 && queue.droppedCount == 0)
        }
    }

    @Test func tenantDeletionDeletesItsConfirmations() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let queue = ConfirmationQueue(stores.appPool)
            for tenant in [tenant, other, tenant] { try Self.record(in: queue, of: tenant) }
            try await queue.flush()
            try await stores.administer(other, "DELETE FROM doorstep.tenants WHERE tenant_id = '\(other)'")
            #expect(try await Self.count(stores, of: other) == 0)
            #expect(try await Self.count(stores, of: tenant) == 2)
        }
    }

    /// RFC 9562 §5.7, "UUID Version 7".
    @Test func confirmationIDsAreOrderedByTime() async throws {
        try await Stores.withTenant { stores, tenant in
            let queue = ConfirmationQueue(stores.appPool)
            let before = Int(Date().timeIntervalSince1970 * 1_000)
            for _ in 0..<3 {
                try Self.record(in: queue, of: tenant)
                try await queue.flush()
            }
            let after = Int(Date().timeIntervalSince1970 * 1_000)
            let ids = try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        "SELECT confirmation_id::text FROM doorstep.confirmations ORDER BY confirmation_id"
                    ).map { try $0.decode(at: 0, as: String.self).replacing("-", with: "") }
                }
            }
            #expect(Set(ids).count == 3)
            for id in ids {
                let time = try #require(Int(id.prefix(12), radix: 16))
                #expect((before...after).contains(time))
                #expect(id.dropFirst(12).first == "7")
                #expect("89ab".contains(try #require(id.dropFirst(16).first)))
            }
        }
    }

    @Test func runningQueueWritesNewConfirmations() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction {
                    try await $0.execute(
                        script: """
                            CREATE FUNCTION doorstep.tell() RETURNS trigger LANGUAGE plpgsql
                                AS 'BEGIN NOTIFY written; RETURN NULL; END';
                            CREATE TRIGGER tell AFTER INSERT ON doorstep.confirmations
                                FOR EACH STATEMENT EXECUTE FUNCTION doorstep.tell()
                            """)
                }
            }
            let listener = try Listener(stores.appPool.configuration, channels: ["written"])
            let events = listener.makeAsyncIterator()
            #expect(await events.next() == .listening)
            let queue = ConfirmationQueue(stores.appPool)
            // The queue keeps records from before it runs.
            try Self.record(in: queue, of: tenant)
            let running = Task { await queue.run() }
            for number in 1...3 {
                _ = await events.next()
                #expect(try await Self.count(stores, of: tenant) == number)
                try Self.record(in: queue, of: tenant)
            }
            _ = await events.next()
            running.cancel()
            await running.value
            // The last flush writes records that arrive after the end.
            try Self.record(in: queue, of: tenant)
            try await queue.flush()
            #expect(try await Self.count(stores, of: tenant) == 5)
            #expect(queue.count == 0)
        }
    }

    @Test func runningQueueRetriesAfterFailure() async throws {
        try await Stores.withTenant { stores, tenant in
            let (failures, failure) = AsyncStream.makeStream(of: Void.self)
            try await stores.database.withPool(as: .serve, { $0.acquireTimeout = .milliseconds(200) }) {
                pool in
                let queue = ConfirmationQueue(pool) { _ in failure.yield() }
                let running = Task { await queue.run() }
                defer { running.cancel() }
                try await stores.database.refusingConnections {
                    try Self.record(in: queue, of: tenant)
                    var iterator = failures.makeAsyncIterator()
                    for _ in 0..<2 { _ = await iterator.next() }
                }
                while queue.count > 0 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                #expect(try await Self.count(stores, of: tenant) == 1 && queue.droppedCount == 0)
            }
        }
    }
}
