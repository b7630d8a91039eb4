import Administration
import Foundation
import Invocation
import Locations
import Persistence
import PostgreSQL
import PropertyTesting
import Synchronization
import Tenancy
import TestSupport
import Testing

/// How PostgreSQL runs what the stores ask, on a tenant with many rows.
///
/// The server's `auto_explain` sends the plan of each statement as it was run: the stores' own text, the role and the
/// tenant they set, row-level security included.
@Suite struct QueryPlanTests {
    private static let count = 12_000

    @Test func everyLookUpUsesAnIndex() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.fill(stores, tenant)
            for planCacheMode in ["force_custom_plan", "force_generic_plan"] {
                let plans = try await Self.plansOfLookUps(stores, tenant, planCacheMode: planCacheMode)
                for table in ["experiences", "locations", "short_codes", "api_keys"] {
                    let about = plans.filter { $0.contains("doorstep.\(table)") }
                    #expect(!about.isEmpty, "\(table)")
                    for plan in about {
                        #expect(!plan.contains("Seq Scan on \(table)"), "\(plan)")
                        #expect(plan.contains("Index"), "\(plan)")
                    }
                }
            }

            // Without its index the same statement reads the whole table, and that would be seen.
            try await stores.database.withPool(as: .migrate) { pool in
                try await pool.withTransaction {
                    try await $0.execute(script: "DROP INDEX doorstep.experiences_match_key")
                }
            }
            let plans = try await Self.plansOfLookUps(stores, tenant, planCacheMode: "auto")
            #expect(plans.contains { $0.contains("Seq Scan on experiences") })
        }
    }

    /// The plans of all that a request asks of the database, each statement with its text.
    private static func plansOfLookUps(
        _ stores: Stores, _ tenant: TenantID, planCacheMode: String
    ) async throws -> [String] {
        let plans = Mutex<[String]>([])
        try await stores.database.explainEverything(planCacheMode: planCacheMode)
        try await stores.database.withPool(
            as: .app,
            { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
        ) { pool in
            let url = try InvocationURL("https://example.com/t/777/order?m=1")
            let item = try InvocationURL("https://example.com/t?m=1&n=777&z=9")
            let link = try InvocationURL("https://appclip.apple.com/id?p=com.example.MyApp.Clip")
            let identifier = try LocationIdentifier("777")
            try await PostgresLocationStore(pool).withCatalogue(of: tenant) { catalogue in
                for (invocation, found) in [
                    (url, "https://example.com/t/777"), (item, "https://example.com/t?n=777"),
                    (link, "https://example.com/default"),
                ] {
                    let near = try await catalogue.experiences(near: invocation)
                    #expect(near.map(\.url.canonical) == [found])
                }
                #expect(try await catalogue.location(identifier) != nil)
                #expect(try await catalogue.url(ofShortCode: "777") != nil)
            }
            var random = SplitMix64(seed: 777)
            let key = APIKey.generate(.secret, using: &random)
            #expect(try await PostgresKeyAuthenticator(pool).authenticate(key) == nil)
        }
        return plans.withLock { $0 }
    }

    private static func fill(_ stores: Stores, _ tenant: TenantID) async throws {
        try await stores.createClip(of: tenant)
        try await stores.adminPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            try await transaction.execute(
                script: """
                    INSERT INTO doorstep.locations
                    SELECT '\(tenant)', n, 'Place ' || n, 1, 2, 3 FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.experiences
                        (tenant_id, kind, url, bundle_id, match_key, query_items, location_identifier)
                    SELECT '\(tenant)', 'advanced', 'https://example.com/t/' || n, 'com.example.MyApp.Clip',
                        'example.com/t/' || n, '{}', n FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id, match_key, query_items)
                    SELECT '\(tenant)', 'advanced', 'https://example.com/t?n=' || n, 'com.example.MyApp.Clip',
                        'example.com/t', ARRAY['n=' || n] FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id, match_key, query_items)
                    VALUES ('\(tenant)', 'default', 'https://example.com/default', 'com.example.MyApp.Clip',
                        'example.com/default', '{}');
                    INSERT INTO doorstep.short_codes
                    SELECT '\(tenant)', n, 'https://example.com/t/' || n FROM generate_series(1, \(count)) n;
                    INSERT INTO doorstep.api_keys (tenant_id, key_id, kind, digest, hint)
                    SELECT '\(tenant)', gen_random_uuid(), 'secret', sha256(n::text::bytea), 'dsk_'
                    FROM generate_series(1, \(count)) n;
                    """)
        }
        // As autovacuum does in its time.
        try await stores.database.withPool(as: .migrate) { pool in
            try await pool.withTransaction {
                try await $0.execute(
                    script: """
                        SET LOCAL ROLE doorstep_owner;
                        ANALYZE doorstep.locations, doorstep.experiences, doorstep.short_codes, doorstep.api_keys
                        """)
            }
        }
    }
}

extension MigratedDatabase {
    /// Lets each connection from now on be sent the plans of its statements as notices.
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
