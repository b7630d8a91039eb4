import Administration
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

/// Catalogues are copied page by page: changes during the copy, and failures of a tenant's copy.
///
/// A policy makes PostgreSQL cancel statements that read certain rows. It simulates a tenant whose copy exceeds its time.
@Suite(.timeLimit(.minutes(30))) struct CatalogueCopyTests {
    // MARK: A tenant whose copy fails

    @Test func failingCopyOfOneTenantLeavesOthersFollowed() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            var keys: [TenantID: (key: APIKey, id: KeyID)] = [:]
            for tenant in [tenant, other] {
                try await stores.importLocations([.sample("a", radius: 1)], of: tenant)
                let key = APIKey.generate(.secret)
                let record = try await stores.administration.createKey(
                    key, scopes: nil, expiresAt: nil, of: tenant)
                keys[tenant] = (key, record.id)
            }
            try await stores.database.withPool(as: .serve) { pool in
                let servers = [FollowedTable(pool), FollowedTable(stores.routerPool)]
                for server in servers {
                    _ = try await server.refreshed()
                    _ = server.events()
                }
                try await Self.refuse("true", of: tenant, stores)
                let added = APIKey.generate(.publishable)
                for of in [tenant, other] {
                    try await stores.importLocations(
                        Self.many(1_001, radius: 2) + [.sample("a", radius: 2)], of: of)
                    let key = try #require(keys[of])
                    _ = try await stores.administration.revokeKey(key.id, of: of)
                }
                _ = try await stores.administration.createKey(added, scopes: nil, expiresAt: nil, of: tenant)
                for server in servers {
                    let table = try await server.refreshed()
                    #expect(try Self.radius(table, other, "a") == 2)
                    #expect(try Self.radius(table, other, "l1000") == 2)
                    for (key, _) in keys.values { #expect(table.holder(of: key) == nil) }
                    #expect(table.holder(of: added)?.tenant == tenant)
                    // The index keeps the last complete version.
                    #expect(try Self.radius(table, tenant, "a") == 1)
                    #expect(try Self.radius(table, tenant, "l1000") == nil)
                    #expect(Set(server.live.quarantined.keys) == [tenant])
                    let events = server.events()
                    #expect(events.contains("quarantined \(tenant)"))
                    #expect(!events.contains("interrupted"))
                }

                // Later changes are followed, too.
                try await stores.importLocations([.sample("a", radius: 3)], of: other)
                _ = try await stores.administration.setSuspended(true, TenantSlug("acme"))
                for server in servers {
                    let table = try await server.refreshed()
                    #expect(try Self.radius(table, other, "a") == 3)
                    #expect(table.holder(of: added)?.tenantIsSuspended == true)
                    #expect(!server.events().contains("quarantined \(tenant)"))
                }

                try await Self.refuse(nil, of: tenant, stores)
                for server in servers {
                    let table = try await server.refreshed()
                    #expect(try Self.radius(table, tenant, "a") == 2)
                    #expect(try Self.radius(table, tenant, "l1000") == 2)
                    #expect(server.live.quarantined.isEmpty)
                    #expect(server.events().contains("released \(tenant)"))
                }
            }
        }
    }

    /// One unreadable row must not prevent that other tenants' rows are read in the same follow.
    @Test func unreadableChangedRowQuarantinesItsTenantOnly() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] {
                try await stores.importLocations([.sample("a", radius: 1)], of: tenant)
            }
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            try await Self.refuse("true", of: tenant, stores)
            for radius in [2.0, 3] {
                for tenant in [tenant, other] {
                    try await stores.importLocations([.sample("a", radius: radius)], of: tenant)
                }
                let table = try await followed.refreshed()
                #expect(try Self.radius(table, tenant, "a") == 1)
                #expect(try Self.radius(table, other, "a") == radius)
                #expect(Set(followed.live.quarantined.keys) == [tenant])
            }
            try await Self.refuse(nil, of: tenant, stores)
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 3)
            #expect(followed.live.quarantined.isEmpty)
        }
    }

    /// A follow reads the rows of one statement, beginning with the tenant that has the fewest. Later follows read the rest.
    @Test func changedRowsThatTakeLongAreReadByLaterFollows() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] {
                try await stores.importLocations(Self.many(2_500, radius: 1), of: tenant)
            }
            let followed = FollowedTable(stores.routerPool, readingTime: .zero)
            _ = try await followed.refreshed()
            _ = followed.events()
            // Each statement changes fewer than 1,000 rows, so that no whole relation is copied.
            for start in ["0", "1", "2"] {
                try await stores.administer(
                    tenant,
                    """
                    UPDATE doorstep.locations SET radius = 2 WHERE identifier BETWEEN 'l\(start)000' AND 'l\(start)499';
                    UPDATE doorstep.locations SET radius = 2 WHERE identifier BETWEEN 'l\(start)500' AND 'l\(start)999';
                    """)
            }
            try await stores.importLocations([.sample("l0000", radius: 3)], of: other)
            let table = try await followed.refreshed()
            for identifier in ["l0000", "l0500", "l0999", "l1000", "l1999", "l2000", "l2499"] {
                #expect(try Self.radius(table, tenant, identifier) == 2, "\(identifier)")
            }
            #expect(try Self.radius(table, other, "l0000") == 3)
            #expect(table.locationCount == 5_000 && followed.live.quarantined.isEmpty)
            // The other tenant's row is read before the 2,500 rows.
            let events = followed.events()
            #expect(events.first == "changed 1 rows, 0 relations, 0 unreadable", "\(events)")
            #expect(events.contains("changed 2500 rows, 0 relations, 0 unreadable"), "\(events)")
        }
    }

    @Test func writeOfQuarantinedTenantIsNotWaitedFor() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            try await Self.refuse("true", of: tenant, stores)
            func write(_ tenant: TenantID) async throws -> UInt64 {
                try await stores.adminPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        script: """
                            INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius)
                            SELECT '\(tenant)', 'l' || n, 'L', 1, 2, 3 FROM generate_series(1, 1001) n
                            """)
                    let text: String = try await transaction.execute("SELECT pg_current_xact_id()::text")
                        .one()
                        .decode(at: 0)
                    return try #require(UInt64(text))
                }
            }
            let (refused, seen) = (try await write(tenant), try await write(other))
            _ = try await followed.refreshed()
            // The limit is an hour, so the test would hang if one of the calls waited.
            #expect(await !followed.feed.hasSeen(refused, within: .seconds(3_600)))
            #expect(await followed.feed.hasSeen(seen, within: .seconds(3_600)))
            try await Self.refuse(nil, of: tenant, stores)
            _ = try await followed.refreshed()
            #expect(await followed.feed.hasSeen(refused, within: .seconds(3_600)))
        }
    }

    @Test func loadReleasesQuarantinedTenants() async throws {
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            try await Self.refuse("true", of: tenant, stores)
            try await stores.importLocations([.sample("a")], of: tenant)
            _ = try await followed.refreshed()
            #expect(!followed.live.quarantined.isEmpty)
            try await Self.refuse(nil, of: tenant, stores)
            try await stores.database.withSuperuser { pool in
                _ = try await pool.withTransaction {
                    try await $0.execute(
                        """
                        UPDATE doorstep.change_horizon
                        SET pruned_xid = pg_snapshot_xmin(pg_current_snapshot())
                        """)
                }
            }
            #expect(try await Self.radius(followed.refreshed(), tenant, "a") == 100)
            #expect(followed.live.quarantined.isEmpty)
            #expect(followed.events().contains { $0.hasPrefix("loaded") })
        }
    }

    // MARK: Pages

    /// The plans of the statements show where each page begins.
    @Test func copyResumesWhereItStopped() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations(Self.many(1_200, radius: 1), of: tenant)
            let plans = Mutex<[String]>([])
            try await stores.database.explainEverything(planCacheMode: "auto")
            try await stores.database.withPool(
                as: .router,
                { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                func pages() -> [String] {
                    plans.withLock { plans in
                        defer { plans = [] }
                        return plans.filter {
                            $0.contains("FROM doorstep.\"locations\"") && $0.contains("LIMIT")
                        }
                    }
                }
                let followed = FollowedTable(pool, pageLength: 100)
                _ = try await followed.refreshed()
                try await Self.refuse("identifier >= 'l0600'", of: tenant, stores)
                try await stores.administer(tenant, "UPDATE doorstep.locations SET radius = 2")
                let before = try await followed.refreshed()
                #expect(try Self.radius(before, tenant, "l0000") == 1)
                #expect(!followed.live.quarantined.isEmpty)
                #expect(pages().contains { !$0.contains("decode(") })
                try await Self.refuse(nil, of: tenant, stores)
                let after = try await followed.refreshed()
                #expect(followed.live.quarantined.isEmpty)
                let later = pages()
                #expect(!later.isEmpty && later.allSatisfy { $0.contains("decode(") })
                for identifier in ["l0000", "l0599", "l0600", "l1199"] {
                    #expect(try Self.radius(after, tenant, identifier) == 2)
                }
                #expect(after.locationCount == 1_200)
            }
        }
    }

    /// The copy contains changes of rows in earlier pages. The index shows the copy only when it is complete.
    @Test func changesBetweenPagesAreInTheCopy() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations(Self.many(1_200, radius: 1), of: tenant)
            for isChangedAsAWhole in [false, true] {
                let followed = FollowedTable(stores.routerPool, pageLength: 100)
                _ = try await followed.refreshed()
                let first = try #require(followed.live.current).table
                try await Self.refuse("identifier >= 'l0600'", of: tenant, stores)
                try await stores.administer(tenant, "UPDATE doorstep.locations SET radius = radius + 1")
                _ = try await followed.refreshed()
                let url = "https://example.com/\(isChangedAsAWhole)"
                try await stores.administer(
                    tenant,
                    """
                    UPDATE doorstep.locations SET radius = 7 WHERE identifier IN ('l0001', 'l0700');
                    DELETE FROM doorstep.locations WHERE identifier IN ('l0002', 'l0701');
                    INSERT INTO doorstep.locations VALUES
                        ('\(tenant)', 'l0001\(isChangedAsAWhole)', 'L', 1, 2, 8),
                        ('\(tenant)', 'l0700\(isChangedAsAWhole)', 'L', 1, 2, 8);
                    """)
                try await stores.administration.createExperience(.sample(url, location: "l0001"), of: tenant)
                if isChangedAsAWhole {
                    try await stores.administer(tenant, "UPDATE doorstep.locations SET radius = radius + 1")
                }
                let held = try await followed.refreshed()
                for identifier in ["l0001", "l0002", "l0003", "l0700", "l0701"] {
                    #expect(
                        try Self.radius(held, tenant, identifier) == Self.radius(first, tenant, identifier))
                }
                #expect(held.locationCount == first.locationCount)
                #expect(try held.of(tenant).match(InvocationURL(url)) == nil)

                try await Self.refuse(nil, of: tenant, stores)
                let table = try await followed.refreshed()
                let expected = try await stores.loadTable()
                #expect(table.locationCount == expected.locationCount)
                #expect(try table.of(tenant).match(InvocationURL(url)) != nil)
                for number in 0..<1_200 {
                    for suffix in ["", "false", "true"] {
                        let identifier = Self.identifier(number) + suffix
                        #expect(
                            try Self.radius(table, tenant, identifier)
                                == Self.radius(expected, tenant, identifier))
                    }
                }
            }
        }
    }

    /// A copy that restarts after each change of all rows would never end.
    @Test func frequentChangesDoNotStarveTheCopy() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations(Self.many(1_200, radius: 1), of: tenant)
            let followed = FollowedTable(stores.routerPool, pageLength: 500)
            _ = try await followed.refreshed()
            try await Self.refuse("identifier >= 'l0600'", of: tenant, stores)
            for _ in 0..<6 {
                try await stores.administer(tenant, "UPDATE doorstep.locations SET radius = radius + 1")
                #expect(try await Self.radius(followed.refreshed(), tenant, "l0000") == 1)
            }
            try await stores.administer(tenant, "DELETE FROM doorstep.locations WHERE identifier = 'l0001'")
            try await Self.refuse(nil, of: tenant, stores)
            let table = try await followed.refreshed()
            for identifier in ["l0000", "l0599", "l1199"] {
                #expect(try Self.radius(table, tenant, identifier) == 7)
            }
            #expect(table.locationCount == 1_199)
            #expect(followed.live.quarantined.isEmpty)
        }
    }

    /// Only notifications and the feed itself wake the feed.
    @Test func runningFeedCopiesCatalogues() async throws {
        try await Stores.withTenant { stores, tenant in
            let followed = FollowedTable(stores.routerPool, pageLength: 100)
            try await followed.running {
                #expect(await followed.wait(for: "loaded") != nil)
                for round in 1...2 {
                    try await stores.importLocations(Self.many(1_001, radius: Double(round)), of: tenant)
                    #expect(
                        await followed.wait(for: "changed") == "changed 0 rows, 1 relations, 0 unreadable")
                    let table = try #require(followed.live.current).table
                    #expect(try Self.radius(table, tenant, "l1000") == Double(round))
                }
            }
        }
    }

    // MARK: Helpers

    private static func identifier(_ number: Int) -> String {
        "l" + String(repeating: "0", count: 4 - "\(number)".count) + "\(number)"
    }

    private static func many(_ count: Int, radius: Double) throws -> [LocationRecord] {
        try (0..<count).map { try .sample(identifier($0), radius: radius) }
    }

    private static func radius(
        _ table: LookupIndex, _ tenant: TenantID, _ identifier: String
    ) throws -> Double? {
        try table.of(tenant).location(LocationIdentifier(identifier))?.region.radius.meters
    }

    /// Cancels each statement in which the router reads these locations of a tenant; nil ends this.
    private static func refuse(_ condition: String?, of tenant: TenantID, _ stores: Stores) async throws {
        try await stores.database.withSuperuser { pool in
            try await pool.withTransaction { transaction in
                try await transaction.execute(
                    script: """
                        CREATE OR REPLACE FUNCTION doorstep.take_too_long() RETURNS boolean LANGUAGE plpgsql
                        AS 'BEGIN RAISE query_canceled; END';
                        GRANT EXECUTE ON FUNCTION doorstep.take_too_long() TO doorstep_router;
                        DROP POLICY IF EXISTS refused ON doorstep.locations;
                        """)
                guard let condition else { return }
                try await transaction.execute(
                    script: """
                        CREATE POLICY refused ON doorstep.locations AS RESTRICTIVE FOR SELECT TO doorstep_router
                        USING (CASE WHEN tenant_id = '\(tenant)' AND \(condition)
                            THEN doorstep.take_too_long() ELSE true END)
                        """)
            }
        }
    }
}
