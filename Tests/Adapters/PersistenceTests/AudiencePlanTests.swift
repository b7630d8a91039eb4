import Foundation
import Invocation
import Notifications
import Persistence
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

/// The query plans of searches for instances in a large table, under row-level security and with the server's role.
@Suite struct AudiencePlanTests {
    private static let count = 20_000

    /// The statistics that the planner has.
    enum Statistics: CaseIterable {
        case all, none
        /// Statistics from when all tenants were small. One tenant has grown since.
        case ofSmallTenants
    }

    /// One of 20 launches is at a separate location. The tenant is one of two.
    private static func fill(_ instances: RegisteredInstances, _ statistics: Statistics = .all) async throws {
        if statistics == .ofSmallTenants {
            try await addSmallTenants(instances)
            try await analyze(instances)
        }
        let other = try await instances.stores.createTenant("other")
        try await instances.stores.createClip(of: other)
        for tenant in [instances.tenant, other] {
            let id = tenant.description
            try await instances.stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(id)
                try await transaction.execute(
                    script: """
                        INSERT INTO doorstep.instances
                            (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                        SELECT '\(id)', md5('\(id)' || n)::uuid, '\(RegisteredInstances.clip)', 'clip', 'production',
                            'ephemeral', now() - n * interval '1 minute' FROM generate_series(1, \(count)) AS n;
                        INSERT INTO doorstep.launches
                            (tenant_id, instance_id, url, experience_url, location_identifier, launched_at)
                        SELECT '\(id)', md5('\(id)' || n)::uuid, 'https://example.com/r/' || n % 1000 || '/order/' || n,
                            'https://example.com/r/' || n % 1000, 'r' || n % 1000, now() - n * interval '1 minute'
                        FROM generate_series(1, \(count)) AS n;
                        INSERT INTO doorstep.push_tokens
                            (tenant_id, instance_id, kind, digest, sealed, registered_at)
                        SELECT '\(id)', md5('\(id)' || n)::uuid, 'device', sha256(n::text::bytea), sha512(n::text::bytea),
                            now() FROM generate_series(1, \(count)) AS n;
                        """)
            }
        }
        if statistics == .all { try await analyze(instances) }
    }

    /// Adds many tenants with one instance each.
    private static func addSmallTenants(_ instances: RegisteredInstances) async throws {
        try await instances.stores.database.withSuperuser { pool in
            try await pool.withTransaction {
                try await $0.execute(
                    script: """
                        SET LOCAL session_replication_role = replica;
                        CREATE TEMPORARY TABLE small ON COMMIT DROP AS
                        SELECT gen_random_uuid() AS tenant, gen_random_uuid() AS id FROM generate_series(1, 20000);
                        INSERT INTO doorstep.instances
                            (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                        SELECT tenant, id, '\(RegisteredInstances.clip)', 'clip', 'production', 'ephemeral', now()
                        FROM small;
                        INSERT INTO doorstep.launches (tenant_id, instance_id, url, experience_url, launched_at)
                        SELECT tenant, id, '\(url)', '\(url)', now() FROM small;
                        INSERT INTO doorstep.push_tokens
                            (tenant_id, instance_id, kind, digest, sealed, registered_at)
                        SELECT tenant, id, 'device', sha256(id::text::bytea), sha512(id::text::bytea), now() FROM small
                        """)
            }
        }
    }

    private static func analyze(_ instances: RegisteredInstances) async throws {
        try await instances.stores.database.withPool(as: .migrate) { pool in
            try await pool.withTransaction {
                try await $0.execute(
                    script: """
                        SET LOCAL ROLE doorstep_owner;
                        ANALYZE doorstep.instances, doorstep.launches, doorstep.push_tokens
                        """)
            }
        }
    }

    private static let url = "https://example.com/r/7"

    /// The conditions of audiences, and the index that each one uses.
    private static let audiences = [
        ("location_identifier = 'r7' AND launched_at > now() - interval '8 hours'", "launches_location"),
        ("experience_url = '\(url)' AND launched_at > now() - interval '8 hours'", "launches_experience"),
        ("url >= '\(url)/' AND url < '\(url)0'", "launches_url"),
        ("(url = '\(url)' OR url >= '\(url)/' AND url < '\(url)0')", "launches_url"),
    ]

    @Test func audiencesAreFoundByIndex() async throws {
        try await RegisteredInstances.with { instances in
            try await Self.fill(instances)
            for (condition, index) in Self.audiences {
                let plan = try await instances.stores.appPool.withTransaction { transaction in
                    try await transaction.setTenant(instances.tenant.description)
                    return try await transaction.execute(
                        """
                        EXPLAIN SELECT instance_id FROM doorstep.launches
                        WHERE tenant_id = '\(unsafeSQL: instances.tenant.description)' AND \(unsafeSQL: condition)
                        """
                    ).map { try $0.decode(at: 0, as: String.self) }.joined(separator: "\n")
                }
                #expect(plan.contains("on \(index)") || plan.contains("using \(index)"), "\(plan)")
                // The condition is a condition of the index, not a filter over all rows of the tenant.
                let column = String(condition.drop { $0 == "(" }.prefix { $0 != " " })
                let conditions = plan.split(separator: "\n").filter { $0.contains("Index Cond") }
                #expect(conditions.contains { $0.contains(column) }, "\(plan)")
                #expect(!plan.contains("Seq Scan"), "\(plan)")
            }
        }
    }

    /// The statements of each launch, with generic and custom plans, for all statistics.
    @Test(arguments: ["force_generic_plan", "force_custom_plan"], Statistics.allCases)
    func launchScansNoWholeTable(mode: String, statistics: Statistics) async throws {
        try await RegisteredInstances.with { instances in
            try await Self.fill(instances, statistics)
            try await instances.stores.database.explainEverything(planCacheMode: mode)
            let plans = Mutex<[String]>([])
            try await instances.stores.database.withPool(
                as: .app, { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                let keys = try #require(SealingKeys(secrets: [RegisteredInstances.secret]))
                let store = PostgresInstanceStore(pool, keys: keys)
                let (id, tenant) = (InstanceID(UUID()), instances.tenant)
                for _ in 0..<2 {
                    _ = try await store.register(
                        RegisteredInstances.registration(
                            id, tokens: [.device: RegisteredInstances.token(1)]), of: tenant, at: Date())
                }
                _ = try await store.setToken(
                    RegisteredInstances.token(2), ofActivity: "a", for: id, of: tenant, at: Date())
                _ = try await store.delete(id, of: tenant)
            }
            let found = plans.withLock { $0 }
            #expect(found.contains { $0.contains("push_tokens_digest") })
            for plan in found {
                for table in ["instances", "launches", "push_tokens"] {
                    #expect(!plan.contains("Seq Scan on \(table)"), "\(plan)")
                }
                // Nor does the search for one instance or token read all rows of the tenant.
                let filters = plan.split(separator: "\n").filter {
                    $0.contains(" Filter: ") && !$0.contains("Join Filter")
                }
                #expect(
                    !filters.contains { $0.contains("instance_id =") || $0.contains("digest =") }, "\(plan)")
            }
        }
    }

    /// The first row of each tenant in an index shows whether the tenant has expired rows.
    @Test func expiredRowsAreFoundByIndex() async throws {
        try await RegisteredInstances.with { instances in
            try await Self.fill(instances)
            try await instances.stores.database.explainEverything(planCacheMode: "auto")
            let plans = Mutex<[String]>([])
            try await instances.stores.database.withPool(
                as: .serve, { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                let retention = NotificationRetention(pool, instanceRetention: 365, notificationRetention: 30)
                #expect(try await retention.maintain(at: Date()) == .init())
                _ = try await retention.maintain(at: Date())
                _ = try await AttestationRetention(pool).maintain(at: Date())
            }
            let finding = plans.withLock { $0.filter { $0.contains("SELECT t.tenant_id FROM") } }
            for (table, indexes) in [
                ("idempotency_keys", ["instances_launched_at", "push_tokens_activity"]),
                ("revoked_attest_keys", ["attest_keys_last_used_on", "attestation_days_day"]),
            ] {
                let plans = finding.filter { $0.contains(table) }
                #expect(!plans.isEmpty, "\(table)")
                for plan in plans {
                    #expect(!plan.contains("Seq Scan on instances"), "\(plan)")
                    for index in indexes { #expect(plan.contains("using \(index)"), "\(plan)") }
                }
            }
        }
    }
}
