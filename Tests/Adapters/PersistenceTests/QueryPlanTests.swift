import Administration
import Foundation
import Invocation
import Persistence
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

/// Query plans of frequent statements of a server, for a tenant with many rows.
///
/// PostgreSQL's `auto_explain` sends the plan of each executed statement, with the real text, role and row-level security.
@Suite struct QueryPlanTests {
    private static let count = 12_000

    @Test func changesAreFoundByIndex() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.fill(stores, tenant)
            let plans = try await Self.plansOfRefresh(stores, tenant, key: "777")
            for table in ["changes"] + Self.fed {
                let about = plans.filter { $0.contains(" on \(table) ") }
                #expect(!about.isEmpty, "\(table)")
                for plan in about {
                    #expect(!plan.contains("Seq Scan on \(table)"), "\(plan)")
                    #expect(plan.contains("Index"), "\(plan)")
                }
            }

            // Control: without the index, the same statement reads the whole log.
            try await stores.database.withPool(as: .migrate) { pool in
                try await pool.withTransaction {
                    try await $0.execute(script: "DROP INDEX doorstep.changes_xid")
                }
            }
            let others = try await Self.plansOfRefresh(stores, tenant, key: "778")
            #expect(others.contains { $0.contains("Seq Scan on changes") })
        }
    }

    /// Every page costs the same, wherever it begins.
    @Test func cataloguePageIsReadByPrimaryKey() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.fill(stores, tenant)
            let plans = Mutex<[String]>([])
            try await stores.database.explainEverything(planCacheMode: "auto")
            try await stores.database.withPool(
                as: .router,
                { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                let followed = FollowedTable(pool, pageLength: 500)
                _ = try await followed.refreshed()
                plans.withLock { $0 = [] }
                try await stores.administer(
                    tenant,
                    """
                    UPDATE doorstep.locations SET radius = radius + 1;
                    UPDATE doorstep.experiences SET identifier_rule = 'path:1', location_identifier = NULL;
                    UPDATE doorstep.short_codes SET url = url || '/x'
                    """)
                _ = try await followed.refreshed()
            }
            for table in ["locations", "experiences", "short_codes"] {
                let pages = plans.withLock { plans in
                    plans.filter { $0.contains(" on \(table) ") && $0.contains("LIMIT") }
                }
                #expect(pages.count >= Self.count / 500, "\(table)")
                for plan in pages {
                    #expect(plan.contains("Index Scan using \(table)_pkey"), "\(plan)")
                    #expect(!plan.contains("Sort"), "\(plan)")
                }
                let later = pages.filter { $0.contains("decode(") }
                #expect(!later.isEmpty)
                for plan in later {
                    #expect(plan.contains(#/Index Cond: [^\n]* > /#), "\(plan)")
                }
            }
        }
    }

    /// The foreign key's check, and a list of one clip.
    @Test func experiencesOfAClipAreFoundByIndex() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.fill(stores, tenant)
            try await stores.createClip("com.example.Other.Clip", of: tenant)
            let plans = Mutex<[String]>([])
            try await stores.database.explainEverything(planCacheMode: "auto")
            try await stores.database.withPool(
                as: .admin, { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                let items = PostgresAdministrationStore(pool, actor: "t").items
                let found = try await items.experiences.items(
                    of: tenant, after: nil, limit: 10, where: ["clip": "com.example.Other.Clip"])
                #expect(found.isEmpty)
                _ = try await items.clips.delete(
                    BundleID("com.example.Other.Clip"), of: tenant, by: "t", cascade: false
                ) { _ in }
            }
            let about = plans.withLock { plans in
                plans.filter { $0.contains(" on experiences") && $0.contains("bundle_id") }
            }
            #expect(about.count >= 2)
            for plan in about {
                #expect(
                    plan.contains("experiences_clip") && !plan.contains("Seq Scan on experiences"), "\(plan)")
            }
        }
    }

    /// Relations with many rows.
    private static let fed = ["locations", "experiences", "short_codes", "api_keys"]

    /// The plans of a refresh after a change in each table, each with the text of its statement.
    private static func plansOfRefresh(
        _ stores: Stores, _ tenant: TenantID, key: String
    ) async throws -> [String] {
        let plans = Mutex<[String]>([])
        try await stores.database.explainEverything(planCacheMode: "auto")
        try await stores.database.withPool(
            as: .router,
            { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
        ) { pool in
            let followed = FollowedTable(pool)
            _ = try await followed.refreshed()
            plans.withLock { $0 = [] }
            try await stores.administer(
                tenant,
                """
                UPDATE doorstep.locations SET radius = radius + 1 WHERE identifier = '\(key)';
                UPDATE doorstep.experiences SET location_identifier = NULL WHERE location_identifier = '\(key)';
                UPDATE doorstep.short_codes SET url = url || '/x' WHERE code = '\(key)';
                UPDATE doorstep.api_keys SET expires_at = now() WHERE digest = sha256('\(key)')
                """)
            _ = try await followed.refreshed()
            #expect(followed.events().last == "changed 4 rows, 0 relations, 0 unreadable")
        }
        return plans.withLock { $0 }
    }

    private static func fill(_ stores: Stores, _ tenant: TenantID) async throws {
        try await stores.createClip(of: tenant)
        _ = try await stores.administration.changeQuotas(of: TenantSlug("acme")) {
            $0[.keys] = Quota(rows: count)
        }
        try await stores.adminPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            try await transaction.execute(
                script: """
                    INSERT INTO doorstep.locations
                    SELECT '\(tenant)', n, 'Place ' || n, 1, 2, 3 FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.experiences
                        (tenant_id, kind, url, bundle_id, location_identifier)
                    SELECT '\(tenant)', 'advanced', 'https://example.com/t/' || n, 'com.example.MyApp.Clip', n
                    FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id)
                    SELECT '\(tenant)', 'advanced', 'https://example.com/t?n=' || n, 'com.example.MyApp.Clip'
                    FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id)
                    VALUES ('\(tenant)', 'default', 'https://example.com/default', 'com.example.MyApp.Clip');
                    INSERT INTO doorstep.short_codes
                    SELECT '\(tenant)', n, 'https://example.com/t/' || n FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.api_keys (tenant_id, key_id, kind, digest, hint, scopes)
                    SELECT '\(tenant)', gen_random_uuid(), 'secret', sha256(n::text::bytea), 'dsk_', '{lookup}'
                    FROM generate_series(1, \(count)) n;
                    """)
        }
        // A log with many changes of other tenants within an hour. Transaction IDs of a real server are never smaller.
        try await stores.database.withSuperuser { pool in
            try await pool.withTransaction {
                try await $0.execute(
                    script: """
                        INSERT INTO doorstep.changes (tenant_id, xid, relation, key)
                        SELECT gen_random_uuid(), (n % 500 + 3)::text::xid8, 'locations', ARRAY[n::text]
                        FROM generate_series(1, \(count)) n
                        """)
            }
        }
        // In production, autovacuum does this.
        try await stores.database.withPool(as: .migrate) { pool in
            try await pool.withTransaction {
                try await $0.execute(
                    script: """
                        SET LOCAL ROLE doorstep_owner;
                        ANALYZE doorstep.locations, doorstep.experiences, doorstep.short_codes, doorstep.api_keys,
                            doorstep.changes
                        """)
            }
        }
    }
}

extension MigratedDatabase {
    /// Makes each new connection receive the plans of its statements as notices.
    func explainEverything(planCacheMode: String) async throws {
        try await withSuperuser { pool in
            try await pool.withTransaction { transaction in
                let name: String = try await transaction.execute("SELECT current_database()").one()
                    .decode(at: 0)
                for setting in [
                    "session_preload_libraries = 'auto_explain'", "auto_explain.log_min_duration = 0",
                    "auto_explain.log_level = 'notice'", "auto_explain.log_nested_statements = on",
                    "plan_cache_mode = '\(planCacheMode)'",
                ] {
                    try await transaction.execute(
                        "ALTER DATABASE \(identifier: name) SET \(unsafeSQL: setting)")
                }
            }
        }
    }
}
