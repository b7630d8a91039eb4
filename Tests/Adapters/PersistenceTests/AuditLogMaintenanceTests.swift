import Administration
import Foundation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// The retention job deletes old entries of the audit log, and nothing else.
@Suite struct AuditLogMaintenanceTests {
    /// Inserts entries of a given age as superuser, because no role may insert them.
    private static func add(
        daysAgo days: [Double], count: Int = 1, of tenant: TenantID, _ stores: Stores
    )
        async throws
    {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                _ = try await connection.execute(
                    """
                    INSERT INTO doorstep.audit_log (tenant_id, at, actor, action, relation, after)
                    SELECT \(tenant.uuid), now() - d * interval '1 day', 'x', 'insert', 'locations', '{}'
                    FROM unnest(\(days)::float8[]) AS d, generate_series(1, \(count))
                    """)
            }
        }
    }

    private static func ages(_ stores: Stores) async throws -> [Int] {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT round(extract(epoch FROM now() - at) / 86400)::bigint FROM doorstep.audit_log
                    WHERE actor = 'x' ORDER BY at DESC
                    """
                ).map { try $0.decode(at: 0, as: Int.self) }
            }
        }
    }

    @Test func onlyOldEntriesOfEveryTenantAreDeleted() async throws {
        try await Stores.withTenant { stores, tenant in
            let gone = TenantID(UUID())
            for tenant in [tenant, gone] {
                try await Self.add(daysAgo: [0, 6, 29.9, 30.1, 400], of: tenant, stores)
            }
            try await Self.add(daysAgo: [100], count: 2_500, of: tenant, stores)
            try await stores.database.withPool(as: .serve) { pool in
                for (retention, count, ages) in [
                    (30, 2_504, [0, 0, 6, 6, 30, 30]), (30, 0, [0, 0, 6, 6, 30, 30]), (7, 2, [0, 0, 6, 6]),
                ] {
                    let pruned = try await AuditLogRetention(pool, retention: retention).maintain()
                    #expect(pruned == count)
                    #expect(try await Self.ages(stores) == ages)
                }
            }
            // After the job, the owner no longer has the right to delete.
            let owner = "SELECT has_table_privilege('doorstep_owner', 'doorstep.audit_log', 'DELETE')::int"
            #expect(try await stores.count("SELECT (\(unsafeSQL: owner))::bigint") == 0)
        }
    }

    /// Entries of the last week stay, whatever the quota is.
    @Test func nearlyFullLogLosesItsOldestEntries() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] {
                for number in 0..<10 {
                    try await stores.administration.createLocation(.sample("l\(number)"), of: tenant)
                }
            }
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection {
                    // Four entries of each tenant are old.
                    try await $0.execute(
                        script: """
                            UPDATE doorstep.audit_log SET at = now() - interval '8 days', actor = 'x'
                            WHERE after ->> 'identifier' IN ('l0', 'l1', 'l2', 'l3')
                            """)
                }
            }
            let usage = try await stores.administration.tenant(TenantSlug("acme")).usage
            let full = try #require(usage[.auditLog])
            #expect(full.rows == 10)
            try await stores.database.withPool(as: .serve) { pool in
                let retention = AuditLogRetention(pool, retention: nil)
                for (bytes, deleted, left) in [(2 * full.bytes, 0, 4), (full.bytes, 4, 0), (1, 0, 0)] {
                    _ = try await stores.administration.changeQuotas(of: TenantSlug("acme")) {
                        $0 = [.auditLog: Quota(bytes: bytes)]
                    }
                    #expect(try await retention.maintain() == deleted)
                    #expect(
                        try await stores.count(
                            "SELECT count(*) FROM doorstep.audit_log WHERE actor = 'x' AND tenant_id = \(tenant.uuid)"
                        )
                            == left)
                }
                let less = try await stores.administration.tenant(TenantSlug("acme")).usage[.auditLog]
                #expect(less?.rows == 6 && (full.bytes / 2..<full.bytes * 7 / 10).contains(less?.bytes ?? 0))
                // The quota of another tenant deletes nothing; its retention does.
                #expect(try await Self.ages(stores) == [8, 8, 8, 8])
                #expect(try await AuditLogRetention(pool, retention: 7).maintain() == 4)
                #expect(
                    try await stores.administration.tenant(TenantSlug("other")).usage[.auditLog]?.rows == 6)
            }
        }
    }

    @Test func retentionBelowAWeekIsRejected() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.add(daysAgo: [6], of: tenant, stores)
            for retention in ["6", "0", "-1", "NULL", "36501"] {
                let state = try await sqlState {
                    try await stores.routerPool.withTransaction { transaction in
                        try await transaction.execute(script: "SELECT doorstep.prune_audit_log(\(retention))")
                    }
                }
                #expect(state == "22023", "\(retention)")
            }
            #expect(try await Self.ages(stores) == [6])
        }
    }

    @Test func concurrentPruningDeletesEachEntryOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.add(daysAgo: [100], count: 3_000, of: tenant, stores)
            try await stores.database.withPool(as: .serve) { pool in
                let pruned = try await withThrowingTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask { try await AuditLogRetention(pool, retention: 30).maintain() }
                    }
                    return try await group.reduce(0, +)
                }
                let left = try await AuditLogRetention(pool, retention: 30).maintain()
                #expect(pruned + left == 3_000)
                #expect(try await Self.ages(stores).isEmpty)
            }
        }
    }
}
