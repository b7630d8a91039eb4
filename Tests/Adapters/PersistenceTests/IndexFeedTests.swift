import Administration
import EmbeddedPostgreSQL
import Foundation
import Geodesy
import Invocation
import Lookups
import PostgreSQL
import PropertyTesting
import Tenancy
import TestSupport
import Testing

@testable import Persistence

@Suite(.timeLimit(.minutes(30))) struct IndexFeedTests {
    /// The response of a tenant's lookup, as text to compare.
    private static func response(
        _ table: LookupIndex, _ tenant: TenantID, _ url: String = "https://example.com/a"
    ) throws -> String? {
        let url = try InvocationURL(url)
        guard let experience = table.of(tenant).match(url)?.experience else { return nil }
        return "\(experience.url) \(experience.clip) \(experience.clipIsMultiBusiness) \(experience.binding)"
    }

    private static func radius(
        _ table: LookupIndex, _ tenant: TenantID, _ identifier: String
    ) throws -> Double? {
        try table.of(tenant).location(LocationIdentifier(identifier))?.region.radius.meters
    }

    // MARK: Changes

    @Test func changeOfEachRelationIsFollowed() async throws {
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool)
            let clip = "com.example.MyApp.Clip"
            #expect(try await followed.refreshed().tenantCount == 1)
            #expect(followed.events() == ["loaded 0 experiences, 0 locations, 0 unreadable"])

            func expectOneRow() {
                #expect(followed.events() == ["changed 1 rows, 0 relations, 0 unreadable"])
            }

            let other = try await stores.createTenant("other")
            #expect(try await followed.refreshed().tenantCount == 2)
            expectOneRow()

            try await stores.createClip(clip, of: tenant)
            _ = try await followed.refreshed()
            expectOneRow()

            try await stores.importLocations([.sample("a", radius: 1)], of: tenant)
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 1)
            expectOneRow()
            try await stores.importLocations([.sample("a", radius: 2)], of: tenant)
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 2)
            expectOneRow()

            try await stores.administration.createExperience(.sample("https://example.com/a"), of: tenant)
            #expect(
                try await Self.response(followed.refreshed(), tenant)
                    == "https://example.com/a \(clip) false unbound")
            expectOneRow()
            try await stores.importExperiences(
                [.sample("https://example.com/a", rule: "path:1")], of: tenant)
            #expect(
                try await Self.response(followed.refreshed(), tenant)
                    == "https://example.com/a \(clip) false rule(path:1)")
            expectOneRow()

            try await stores.administer(tenant, "UPDATE doorstep.clips SET multi_business = true")
            #expect(
                try await Self.response(followed.refreshed(), tenant)
                    == "https://example.com/a \(clip) true rule(path:1)")
            expectOneRow()

            for url in ["https://example.com/b", "https://example.com/c"] {
                try await stores.importShortCodes([.sample("k", url)], of: tenant)
                let table = try await followed.refreshed()
                #expect(table.of(tenant).url(ofShortCode: "k")?.canonical == url)
                #expect(table.of(other).url(ofShortCode: "k") == nil)
                expectOneRow()
            }

            let key = APIKey.generate(.secret)
            let record = try await stores.administration.createKey(
                key, scopes: nil, expiresAt: nil, of: tenant)
            #expect(try await followed.refreshed().holder(of: key)?.key == record.id)
            expectOneRow()
            try await stores.administer(tenant, "UPDATE doorstep.api_keys SET expires_at = now()")
            #expect(try await followed.refreshed().holder(of: key) == nil)
            expectOneRow()
            try await stores.administer(tenant, "UPDATE doorstep.api_keys SET expires_at = NULL")
            #expect(try await followed.refreshed().holder(of: key)?.key == record.id)
            expectOneRow()
            _ = try await stores.administration.revokeKey(record.id, of: tenant)
            #expect(try await followed.refreshed().holder(of: key) == nil)
            expectOneRow()

            let second = APIKey.generate(.publishable)
            _ = try await stores.administration.createKey(second, scopes: nil, expiresAt: nil, of: tenant)
            _ = try await followed.refreshed()
            expectOneRow()
            for isSuspended in [true, false] {
                _ = try await stores.administration.setSuspended(isSuspended, TenantSlug("acme"))
                #expect(try await followed.refreshed().holder(of: second)?.tenantIsSuspended == isSuspended)
                expectOneRow()
            }

            for (table, count) in [("experiences", 1), ("locations", 1), ("short_codes", 1), ("api_keys", 2)]
            {
                try await stores.administer(tenant, "DELETE FROM doorstep.\(table)")
                let now = try await followed.refreshed()
                #expect(followed.events() == ["changed \(count) rows, 0 relations, 0 unreadable"])
                switch table {
                case "experiences": #expect(try Self.response(now, tenant) == nil)
                case "locations": #expect(try Self.radius(now, tenant, "a") == nil)
                case "short_codes": #expect(now.of(tenant).url(ofShortCode: "k") == nil)
                default: #expect(now.holder(of: second) == nil)
                }
            }
            try await stores.administer(tenant, "DELETE FROM doorstep.clips; DELETE FROM doorstep.tenants")
            #expect(try await followed.refreshed().tenantCount == 1)
            #expect(followed.events() == ["changed 2 rows, 0 relations, 0 unreadable"])
        }
    }

    @Test func changeOfIrrelevantColumnIsIgnored() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.administration.createExperience(.sample("https://example.com/a"), of: tenant)
            try await stores.administer(
                tenant,
                "INSERT INTO doorstep.domains (tenant_id, host, challenge) VALUES ('\(tenant)', 'a.example', 'c')"
            )
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            let first = try #require(followed.live.current)
            _ = followed.events()
            try await stores.administer(
                tenant,
                """
                UPDATE doorstep.tenants SET collapse_policy = 'url';
                UPDATE doorstep.locations SET metadata = '{"k": 1}', radius = radius;
                UPDATE doorstep.experiences SET title = title;
                UPDATE doorstep.domains SET challenge = 'd', checked_at = now(), lapsed_at = now();
                UPDATE doorstep.locations SET radius = 7 WHERE false
                """)
            _ = try await followed.refreshed()
            let second = try #require(followed.live.current)
            #expect(followed.events() == [])
            // The unchanged version is confirmed for a later time.
            #expect(second.version == first.version && second.asOf > first.asOf)
        }
    }

    @Test func webOriginsOfTenantAreFollowed() async throws {
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            for origins in [["https://a.example", "https://b.example"], ["https://b.example"], []] {
                let list = origins.map { "'\($0)'" }.joined(separator: ", ")
                try await stores.administer(
                    tenant, "UPDATE doorstep.tenants SET cors_origins = ARRAY[\(list)]::text[]")
                _ = try await followed.refreshed()
                let state = try #require(followed.live.current)
                for origin in ["https://a.example", "https://b.example"] {
                    #expect(state.table.allows(origin: origin) == origins.contains(origin))
                    #expect(state.table(of: tenant).allows(origin: origin) == origins.contains(origin))
                }
            }
        }
    }

    /// Only the owner may change a primary key. The index must remove the row with the old key.
    @Test func changedKeyMovesTheRow() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a", radius: 1), .sample("b", radius: 2)], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            try await stores.database.withPool(as: .migrate) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        script: "UPDATE doorstep.locations SET identifier = 'c' WHERE identifier = 'a'")
                }
            }
            let table = try await followed.refreshed()
            #expect(try Self.radius(table, tenant, "a") == nil)
            #expect(try Self.radius(table, tenant, "b") == 2)
            #expect(try Self.radius(table, tenant, "c") == 1)
        }
    }

    @Test func rowInsertedAndDeletedInOneTransactionIsAbsent() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a", radius: 1)], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            try await stores.administer(
                tenant,
                """
                INSERT INTO doorstep.locations VALUES ('\(tenant)', 'b', 'B', 1, 2, 3);
                UPDATE doorstep.locations SET radius = 4;
                DELETE FROM doorstep.locations WHERE identifier = 'b';
                DELETE FROM doorstep.locations WHERE identifier = 'a';
                INSERT INTO doorstep.locations VALUES ('\(tenant)', 'a', 'A', 1, 2, 5);
                """)
            let table = try await followed.refreshed()
            #expect(try Self.radius(table, tenant, "a") == 5)
            #expect(try Self.radius(table, tenant, "b") == nil)
            #expect(table.locationCount == 1)
        }
    }

    @Test func uncommittedChangesAreNotSeen() async throws {
        struct Undo: Error {}
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            _ = followed.events()
            await #expect(throws: Undo.self) {
                try await stores.adminPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        script: "INSERT INTO doorstep.locations VALUES ('\(tenant)', 'a', 'A', 1, 2, 3)")
                    #expect(try await Self.radius(followed.refreshed(), tenant, "a") == nil)
                    throw Undo()
                }
            }
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == nil)
            #expect(followed.events() == [])
        }
    }

    /// A feed that followed transaction IDs in order would miss this: the transaction with the smaller ID commits last.
    @Test func longTransactionIsNeitherSkippedNorBlocking() async throws {
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    script: "INSERT INTO doorstep.locations VALUES ('\(tenant)', 'late', 'Late', 1, 2, 3)")
                for number in 1...20 {
                    // For other tenants, because imports of one tenant wait for each other.
                    let other = try await stores.createTenant("t\(number)")
                    try await stores.importLocations([.sample("a", radius: Double(number))], of: other)
                    let table = try await followed.refreshed()
                    #expect(try Self.radius(table, other, "a") == Double(number))
                    #expect(try Self.radius(table, tenant, "late") == nil)
                    // During the long transaction, the feed does not read the same changes again.
                    #expect(followed.events().last == "changed 2 rows, 0 relations, 0 unreadable")
                }
                // The transaction makes its second change after many readers have passed its first change.
                try await transaction.execute(
                    script: "INSERT INTO doorstep.locations VALUES ('\(tenant)', 'later', 'Later', 1, 2, 4)")
                _ = try await followed.refreshed()
                #expect(followed.events() == [])
            }
            let table = try await followed.refreshed()
            #expect(try Self.radius(table, tenant, "late") == 3)
            #expect(try Self.radius(table, tenant, "later") == 4)
            #expect(followed.events() == ["changed 2 rows, 0 relations, 0 unreadable"])
            _ = try await followed.refreshed()
            #expect(followed.events() == [])
        }
    }

    @Test func bulkChangeIsOneChange() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a"), .sample("kept")], of: other)
            try await stores.importLocations([.sample("gone")], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            _ = followed.events()
            for (count, event) in [(1_000, "1000 rows, 0 relations"), (1_001, "0 rows, 1 relations")] {
                let locations = try (0..<count).map { try LocationRecord.sample("\(count) \($0)") }
                try await stores.importLocations(locations, of: tenant)
                let table = try await followed.refreshed()
                #expect(followed.events() == ["changed \(event), 0 unreadable"])
                #expect(try Self.radius(table, tenant, "\(count) \(count - 1)") == 100)
                #expect(try Self.radius(table, other, "kept") == 100)
            }
            // The same transaction also changes a single row.
            let experiences = try (0..<1_001).map {
                try ExperienceRecord.sample("https://example.com/\($0)?p=\($0 % 3)", rule: "path:1")
            }
            try await stores.importExperiences(experiences, of: tenant)
            try await stores.administer(
                tenant,
                """
                UPDATE doorstep.experiences SET identifier_rule = 'path:2';
                DELETE FROM doorstep.experiences WHERE url = 'https://example.com/7?p=1';
                DELETE FROM doorstep.locations WHERE identifier = 'gone';
                """)
            let table = try await followed.refreshed()
            #expect(followed.events() == ["changed 1 rows, 1 relations, 0 unreadable"])
            #expect(try Self.response(table, tenant, "https://example.com/7?p=1") == nil)
            #expect(try Self.response(table, tenant, "https://example.com/8?p=2")?.contains("path:2") == true)
            #expect(table.experienceCount == 1_000 && table.locationCount == 2_003)
            try await stores.administer(tenant, "DELETE FROM doorstep.experiences")
            #expect(try await followed.refreshed().experienceCount == 0)
        }
    }

    // MARK: Histories

    /// Several writers make changes of all kinds while a feed follows. The result equals an index that is loaded afterwards.
    @Test func followedIndexEqualsFreshLoadAfterAnyHistory() async throws {
        for seed in 1...3 as ClosedRange<UInt64> {
            try await Stores.withTenant { stores, tenant in
                let tenants = [tenant, try await stores.createTenant("other")]
                for tenant in tenants {
                    for clip in History.clips { try await stores.createClip(clip, of: tenant) }
                }
                // Pages have two rows, so most copies of catalogues see changes between their pages.
                let followed = FollowedTable(stores.routerPool, pageLength: 2)
                _ = try await followed.refreshed()
                var keys: [APIKey] = []
                for round in 0..<6 as Range<UInt64> {
                    try await withThrowingTaskGroup(of: [APIKey].self) { group in
                        for writer in 0..<3 as Range<UInt64> {
                            let history = History(stores: stores, tenants: tenants)
                            group.addTask {
                                try await history.write(12, seed: seed << 16 | round << 8 | writer)
                            }
                        }
                        for _ in 0..<4 { _ = try await followed.refreshed() }
                        keys += try await group.reduce([], +)
                    }
                    let responses = History.responses(try await followed.refreshed(), tenants, keys)
                    let expected = History.responses(try await stores.loadTable(), tenants, keys)
                    #expect(responses == expected, "\(seed) \(round)")
                    #expect(Set(expected).count > 5)
                }
                // The index was loaded once and then only followed.
                #expect(followed.events().filter { $0.hasPrefix("loaded") }.count == 1)
            }
        }
    }

    private struct History: Sendable {
        let stores: Stores
        let tenants: [TenantID]

        static let clips = ["com.example.A.Clip", "com.example.B.Clip"]
        private static let locations = ["a", "b", "é", "e\u{301}", "A"]
        private static let urls = [
            "https://example.com", "https://example.com/a", "https://example.com/a/b",
            "https://example.com/a?p=1", "https://example.com/a?p=1&q=2", "https://example.org/%C3%A9",
        ]

        /// Some changes are refused because the item exists, or does not exist.
        func write(_ count: Int, seed: UInt64) async throws -> [APIKey] {
            var random = SplitMix64(seed: seed)
            var keys: [APIKey] = []
            for _ in 0..<count {
                do {
                    if let key = try await change(&random) { keys.append(key) }
                } catch is AdministrationError {
                } catch let error as PostgreSQLError where error.sqlState?.hasPrefix("23") == true {
                } catch let error as PostgreSQLError where error.isRetryable {
                }
            }
            return keys
        }

        private func change(_ random: inout SplitMix64) async throws -> APIKey? {
            let store = stores.administration
            let tenant = random.pick(tenants)
            let location = random.pick(Self.locations)
            let url = random.pick(Self.urls)
            let clip = random.pick(Self.clips)
            let binding = random.below(3)
            switch random.below(17) {
            case 0, 1:
                try await stores.importLocations(
                    [.sample(location, radius: Double(1 + random.below(9)))], of: tenant)
            case 2:
                _ = try await store.deleteLocation(
                    LocationIdentifier(location), of: tenant, cascade: random.below(2) == 0)
            case 3, 4, 5:
                let kind = random.pick(ExperienceKind.allCases)
                try await stores.importExperiences(
                    [
                        .sample(
                            url, kind: kind, clip: clip, location: binding == 0 ? location : nil,
                            rule: binding == 1 ? "path:\(1 + random.below(2))" : nil)
                    ], of: tenant)
            case 6:
                try await stores.administer(tenant, "DELETE FROM doorstep.experiences WHERE url = '\(url)'")
            case 7: try await stores.importShortCodes([.sample(location, url)], of: tenant)
            case 8:
                try await stores.administer(
                    tenant, "DELETE FROM doorstep.short_codes WHERE code = '\(location)'")
            case 9:
                let key = APIKey.generate(random.pick(KeyKind.allCases))
                _ = try await store.createKey(key, scopes: nil, expiresAt: nil, of: tenant)
                return key
            case 10:
                if let key = try await store.keys(of: tenant).last {
                    _ = try await store.revokeKey(key.id, of: tenant)
                }
            case 11: _ = try await store.setSuspended(random.oneIn(2), TenantSlug("acme"))
            case 12:
                try await stores.administer(
                    tenant,
                    """
                    UPDATE doorstep.clips SET multi_business = NOT multi_business WHERE bundle_id = '\(clip)'
                    """)
            case 13, 14, 15:
                // The change that a statement with very many rows records.
                let relation = random.pick(["locations", "experiences", "short_codes", "api_keys"])
                try await stores.database.withSuperuser { pool in
                    _ = try await pool.withTransaction {
                        try await $0.execute(
                            """
                            INSERT INTO doorstep.changes (tenant_id, relation)
                            VALUES (\(tenant.uuid), \(relation))
                            """)
                    }
                }
            default:
                try await stores.administer(
                    tenant, "UPDATE doorstep.experiences SET bundle_id = '\(clip)' WHERE kind <> 'default'")
            }
            return nil
        }

        static func responses(_ table: LookupIndex, _ tenants: [TenantID], _ keys: [APIKey]) -> [String] {
            var responses: [String] = ["\(table.experienceCount) \(table.locationCount) \(table.tenantCount)"]
            for tenant in tenants {
                let table = table.of(tenant)
                for location in locations {
                    let identifier = try? LocationIdentifier(location)
                    let found = identifier.flatMap { table.location($0) }
                    responses.append("\(found?.region.radius.meters ?? 0)")
                    responses.append(table.url(ofShortCode: location)?.canonical ?? "-")
                }
                let links = clips.map { "https://appclip.apple.com/id?p=\($0)" }
                for text in links + urls + urls.map({ $0 + "/x" }) + ["https://example.com/a?q=2&p=1"] {
                    guard let url = try? InvocationURL(text) else { continue }
                    for prefersAdvanced in [false, true] {
                        let match = table.match(url, preferringAdvanced: prefersAdvanced)
                        responses.append(match.map { "\($0.experience) \($0.isByDefaultLink)" } ?? "-")
                    }
                }
            }
            for key in keys {
                let holder = table.holder(of: key)
                responses.append(holder.map { "\($0.tenant) \($0.key) \($0.tenantIsSuspended)" } ?? "-")
            }
            return responses
        }
    }

    // MARK: Pruning

    private static func makeOld(_ stores: Stores) async throws {
        try await stores.database.withSuperuser { pool in
            try await pool.withTransaction {
                try await $0.execute(script: "UPDATE doorstep.changes SET at = at - interval '61 minutes'")
            }
        }
    }

    private static func pruneNow(_ stores: Stores) async throws -> Int {
        try await stores.routerPool.withTransaction(as: .router, .readWrite) {
            try await $0.execute("SELECT doorstep.prune_changes()").one().decode(at: 0)
        }
    }

    /// Waits for all other transactions of the server first, because they delay pruning in every database.
    private static func prune(_ stores: Stores) async throws -> Int {
        try await stores.waitForOthers()
        return try await pruneNow(stores)
    }

    @Test func onlyOldEndedChangesArePruned() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            #expect(try await Self.prune(stores) == 0)
            #expect(
                try await stores.count("SELECT count(*) FROM doorstep.change_horizon WHERE pruned_xid = '0'")
                    == 1)
            try await Self.makeOld(stores)
            #expect(try await stores.count("SELECT count(*) FROM doorstep.changes") == 3)
            try await stores.importLocations([.sample("young")], of: tenant)
            try await stores.waitForOthers()
            try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                // While this transaction runs, later changes stay, even if their stored time is old.
                try await transaction.execute(
                    script: "INSERT INTO doorstep.locations VALUES ('\(tenant)', 'late', 'Late', 1, 2, 3)")
                _ = try await stores.createTenant("other")
                try await stores.database.withSuperuser { pool in
                    try await pool.withTransaction {
                        try await $0.execute(
                            script: """
                                UPDATE doorstep.changes SET at = at - interval '61 minutes'
                                WHERE relation = 'tenants' AND at > now() - interval '1 minute'
                                """)
                    }
                }
                #expect(try await Self.pruneNow(stores) == 3)
            }
            #expect(try await stores.count("SELECT count(*) FROM doorstep.changes") == 3)
            #expect(try await Self.prune(stores) == 1)
            #expect(
                try await stores.count(
                    """
                    SELECT count(*) FROM doorstep.change_horizon
                    WHERE pruned_xid > '0' AND pruned_xid < pg_snapshot_xmin(pg_current_snapshot())
                    """) == 1)
            #expect(try await Self.prune(stores) == 0)
        }
    }

    @Test func feedThatMissedPrunedChangesReloads() async throws {
        try await Stores.withTenant { stores, tenant in
            let (prompt, late) = (FollowedTable(stores.routerPool), FollowedTable(stores.routerPool))
            _ = try await (prompt.refreshed(), late.refreshed())
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.waitForOthers()
            _ = try await prompt.refreshed()
            _ = (prompt.events(), late.events())
            try await Self.makeOld(stores)
            #expect(try await Self.prune(stores) == 2)
            try await stores.importLocations([.sample("b")], of: tenant)
            for followed in [prompt, late] {
                let table = try await followed.refreshed()
                #expect(try Self.radius(table, tenant, "a") == 100)
                #expect(try Self.radius(table, tenant, "b") == 100)
            }
            #expect(prompt.events() == ["changed 1 rows, 0 relations, 0 unreadable"])
            #expect(late.events() == ["loaded 0 experiences, 2 locations, 0 unreadable"])
            _ = try await late.refreshed()
            #expect(late.events() == [])
        }
    }

    /// A dump contains transaction IDs of another server, which may be far ahead.
    @Test func restoredDumpOfOlderServerIsFollowed() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a")], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            _ = followed.events()
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction {
                    try await $0.execute(
                        script: """
                            UPDATE doorstep.changes SET xid = '1000000000000';
                            UPDATE doorstep.change_horizon SET pruned_xid = '999999999999'
                            """)
                }
            }
            _ = try await followed.refreshed()
            #expect(followed.events() == [])
            try await stores.importLocations([.sample("b")], of: tenant)
            try await stores.waitForOthers()
            _ = try await followed.refreshed()
            #expect(followed.events() == ["changed 1 rows, 0 relations, 0 unreadable"])
            // These changes are pruned like others. Afterwards the horizon has IDs of this server.
            try await Self.makeOld(stores)
            #expect(try await Self.prune(stores) == 3)
            try await stores.importLocations([.sample("c")], of: tenant)
            _ = try await followed.refreshed()
            #expect(followed.events() == ["changed 1 rows, 0 relations, 0 unreadable"])
            let own = "SELECT count(*) FROM doorstep.change_horizon WHERE pruned_xid < '999999999999'"
            #expect(try await stores.count("\(unsafeSQL: own)") == 1)
        }
    }

    // MARK: Another server

    @Test func otherDatabaseOfSameNameIsReloaded() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a")], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 100)
            _ = followed.events()
            // The restore inserts rows before it creates triggers, so no change is recorded.
            let name = try await stores.database.withSuperuser { pool in
                try await pool.withConnection {
                    try await $0.execute("SELECT current_database()").one().decode(at: 0, as: String.self)
                }
            }
            try await TestServer.administration().withConnection { connection in
                let kept = name + "_kept"
                for query: Query in [
                    "ALTER DATABASE \(identifier: name) ALLOW_CONNECTIONS false",
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = \(name)",
                    "CREATE DATABASE \(identifier: kept) TEMPLATE \(identifier: name)",
                    "DROP DATABASE \(identifier: name)",
                    "ALTER DATABASE \(identifier: kept) RENAME TO \(identifier: name)",
                    "ALTER DATABASE \(identifier: name) ALLOW_CONNECTIONS true",
                ] {
                    try await connection.execute(query)
                }
                _ = try await connection.execute(
                    "GRANT CONNECT ON DATABASE \(identifier: name) TO \(identifier: TestLogin.router.rawValue)"
                )
            }
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 100)
            #expect(followed.events() == ["loaded 0 experiences, 1 locations, 0 unreadable"])
        }
    }

    /// After a crash, a server may have lost its last writes, although its start time is the same.
    @Test func crashedServerIsReloaded() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = try await EmbeddedServer.startOrJoin(
            directory: directory, options: EmbeddedServerOptions(isDurable: false))
        defer { try? server.leave() }
        let configuration = PoolConfiguration.forBusyMachines(conninfo: server.conninfo)
        try await ConnectionPool.withPool(configuration) { pool in
            _ = try await Schema.migrate(pool)
            // The crash loses everything that is not written yet.
            try await pool.withConnection { _ = try await $0.execute("CHECKPOINT") }
            let followed = FollowedTable(pool)
            _ = try await followed.refreshed()
            _ = followed.events()
            let process = try await pool.withConnection {
                try await $0.execute("SELECT pg_backend_pid()").one().decode(at: 0, as: Int32.self)
            }
            _ = try await followed.refreshed()
            #expect(followed.events() == [])
            #expect(kill(process, SIGKILL) == 0)
            // Until the server has recovered, it breaks or refuses connections.
            var events: [String] = []
            while events.isEmpty {
                try? await followed.feed.refresh()
                try Task.checkCancellation()
                events = followed.events()
            }
            #expect(events == ["loaded 0 experiences, 0 locations, 0 unreadable"])
        }
    }

    // MARK: Running

    @Test func notificationWakesTheFeed() async throws {
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool)
            try await followed.running {
                #expect(await followed.wait(for: "loaded") != nil)
                // The first load may be earlier than LISTEN. Then LISTEN wakes the feed again.
                for number in 1...5 {
                    try await stores.importLocations([.sample("a", radius: Double(number))], of: tenant)
                    #expect(
                        await followed.wait(for: "changed") == "changed 1 rows, 0 relations, 0 unreadable")
                    let table = try #require(followed.live.current).table
                    #expect(try Self.radius(table, tenant, "a") == Double(number))
                }
            }
        }
    }

    /// A pooler that does not forward notifications: the feed finds the change by polling.
    @Test func changeWithoutNotificationIsFoundByPolling() async throws {
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool, pollInterval: .milliseconds(1))
            try await followed.running {
                #expect(await followed.wait(for: "loaded") != nil)
                try await stores.database.withSuperuser { pool in
                    try await pool.withTransaction {
                        try await $0.execute(
                            script: """
                                SET LOCAL session_replication_role = replica;
                                INSERT INTO doorstep.locations VALUES ('\(tenant)', 'a', 'A', 1, 2, 3);
                                INSERT INTO doorstep.changes (tenant_id, relation, key)
                                VALUES ('\(tenant)', 'locations', '{a}')
                                """)
                    }
                }
                #expect(await followed.wait(for: "changed") == "changed 1 rows, 0 relations, 0 unreadable")
                #expect(try Self.radius(#require(followed.live.current).table, tenant, "a") == 3)
            }
        }
    }

    @Test func twoFeedsFollowOneDatabase() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .serve) { pool in
                let (one, two) = (FollowedTable(pool), FollowedTable(stores.routerPool))
                try await one.running {
                    try await two.running {
                        #expect(await one.wait(for: "loaded") != nil)
                        #expect(await two.wait(for: "loaded") != nil)
                        try await stores.importLocations([.sample("a")], of: tenant)
                        for followed in [one, two] {
                            #expect(await followed.wait(for: "changed") != nil)
                            let table = try #require(followed.live.current).table
                            #expect(try Self.radius(table, tenant, "a") == 100)
                        }
                    }
                }
            }
        }
    }

    @Test func interruptionAndResumptionAreReportedOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(
                as: .router,
                { ($0.acquireTimeout, $0.connectTimeout) = (.milliseconds(200), .milliseconds(200)) }
            ) { pool in
                let followed = FollowedTable(pool, pollInterval: .milliseconds(1))
                try await followed.running {
                    #expect(await followed.wait(for: "loaded") != nil)
                    let version = try #require(followed.live.current).version
                    try await stores.database.refusingConnections {
                        #expect(await followed.wait(for: "interrupted") != nil)
                        // The index keeps its version, and its age grows.
                        #expect(followed.live.current?.version == version)
                    }
                    #expect(await followed.wait(for: "resumed") != nil)
                    // On a busy machine, this short limit may be exceeded again, which is another interruption.
                    let told = followed.events().filter { ["interrupted", "resumed"].contains($0) }
                    for (event, next) in zip(told, told.dropFirst()) { #expect(event != next) }
                }
            }
        }
    }

    @Test func transactionSendsOneNotification() async throws {
        try await Stores.withTenant { stores, tenant in
            let listener = try Listener(
                stores.routerPool.configuration, channels: ["doorstep_changes", "end"])
            let events = listener.makeAsyncIterator()
            #expect(await events.next() == .listening)
            func notificationsBeforeEnd() async -> Int {
                var count = 0
                while case .notification(let notification) = await events.next() {
                    if notification.channel == "end" { return count }
                    count += 1
                }
                return -1
            }
            try await stores.administer(
                tenant,
                (0..<20).map {
                    "INSERT INTO doorstep.locations VALUES ('\(tenant)', 'l\($0)', 'L', 1, 2, 3);"
                }.joined() + "UPDATE doorstep.tenants SET suspended_at = now(); NOTIFY \"end\"")
            #expect(await notificationsBeforeEnd() == 1)
            // No notification for a change of a column that the index does not contain.
            try await stores.administer(
                tenant, "UPDATE doorstep.tenants SET collapse_policy = 'url'; NOTIFY \"end\"")
            #expect(await notificationsBeforeEnd() == 0)
        }
    }

    // MARK: Unreadable rows

    @Test func unreadableRowIsSkippedAndCounted() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            _ = followed.events()
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction {
                    try await $0.execute(
                        script: "ALTER TABLE doorstep.locations DROP CONSTRAINT locations_radius_range")
                }
            }
            try await stores.administer(
                tenant, "UPDATE doorstep.locations SET radius = 0 WHERE identifier = 'a'")
            let afresh = FollowedTable(stores.routerPool)
            for (followed, event) in [
                (followed, "changed 1 rows, 0 relations, 1 unreadable"),
                (afresh, "loaded 0 experiences, 1 locations, 1 unreadable"),
            ] {
                let table = try await followed.refreshed()
                #expect(followed.events() == [event])
                #expect(try Self.radius(table, tenant, "a") == nil)
                #expect(try Self.radius(table, tenant, "b") == 100)
            }
            try await stores.administer(tenant, "UPDATE doorstep.locations SET radius = 1")
            for followed in [followed, afresh] {
                #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 1)
            }
        }
    }

    /// A later version might write a key in another form, and a relation that this version does not know.
    @Test func unknownKindOfChangeIsHarmless() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a", radius: 1)], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            _ = followed.events()
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction {
                    try await $0.execute(
                        script: """
                            SET LOCAL session_replication_role = replica;
                            UPDATE doorstep.locations SET radius = 2;
                            INSERT INTO doorstep.changes (tenant_id, relation, key) VALUES
                                ('\(tenant)', 'locations', '{a,b}'), ('\(tenant)', 'locations', '{}'),
                                ('\(tenant)', 'menus', '{a}'), ('\(UUID())', 'locations', '{a}')
                            """)
                }
            }
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 2)
            #expect(
                followed.events() == [
                    "changed 1 rows, 0 relations, 0 unreadable", "changed 0 rows, 1 relations, 0 unreadable",
                ])
        }
    }

    // MARK: Index of one tenant

    @Test func indexOfOneTenantContainsNoOtherTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let key = APIKey.generate(.secret)
            for tenant in [tenant, other] {
                try await stores.createClip(of: tenant)
                try await stores.importLocations([.sample("a")], of: tenant)
                try await stores.administration.createExperience(
                    .sample("https://example.com/a", location: "a"), of: tenant)
                try await stores.importShortCodes([.sample("k")], of: tenant)
            }
            _ = try await stores.administration.createKey(key, scopes: nil, expiresAt: nil, of: tenant)
            let table = try await stores.appPool.routingTable(of: tenant)
            #expect((table.tenantCount, table.experienceCount, table.locationCount) == (1, 1, 1))
            #expect(try Self.response(table, tenant) != nil && Self.response(table, other) == nil)
            #expect(try Self.radius(table, tenant, "a") == 100 && Self.radius(table, other, "a") == nil)
            #expect(table.of(tenant).url(ofShortCode: "k") != nil)
            #expect(table.of(other).url(ofShortCode: "k") == nil)
            // The index of one tenant has no keys, because its readers need none.
            #expect(table.holder(of: key) == nil)
            #expect(try await stores.appPool.routingTable(of: TenantID(UUID())).tenantCount == 0)
        }
    }
}

extension MigratedDatabase {
    /// Ends all connections and accepts only superusers until the closure ends.
    func refusingConnections<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        let name = try await withSuperuser { pool in
            try await pool.withConnection {
                try await $0.execute("SELECT current_database()").one().decode(at: 0, as: String.self)
            }
        }
        func allow(_ isAllowed: Bool) async throws {
            try await TestServer.administration().withConnection { connection in
                _ = try await connection.execute(
                    "ALTER DATABASE \(identifier: name) ALLOW_CONNECTIONS \(unsafeSQL: isAllowed ? "true" : "false")"
                )
                guard !isAllowed else { return }
                _ = try await connection.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = \(name)")
            }
        }
        try await allow(false)
        do {
            let result = try await body()
            try await allow(true)
            return result
        } catch {
            try await allow(true)
            throw error
        }
    }
}
