import Administration
import Foundation
import Lookups
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct TenantDeletionTests {
    /// This includes the rows of tables that later migrations add.
    @Test func deletedTenantLeavesOnlyLogs() async throws {
        try await MigratedDatabase.withDatabase { database in
            let (tenant, other) = (TenantID(UUID()), TenantID(UUID()))
            try await database.insertSampleRows(of: tenant)
            try await database.insertSampleRows(of: other)
            try await database.withPool(as: .admin) { pool in
                let store = PostgresAdministrationStore(pool, actor: "operator:bob")
                let slug = try TenantSlug("t" + tenant.description.prefix(8))
                let counts = try await store.deleteTenant(slug)
                #expect(counts.map(\.count) == counts.map { _ in 1 }, "\(counts)")
                await #expect(throws: AdministrationError.unknownTenant(slug)) {
                    try await store.deleteTenant(slug)
                }
            }
            try await database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    for table in try await transaction.tenantTables() {
                        for (id, isThere) in [
                            (tenant, ["audit_log", "changes"].contains(table)), (other, true),
                        ] {
                            let count: Int = try await transaction.execute(
                                "SELECT count(*) FROM doorstep.\(identifier: table) WHERE tenant_id = \(id.uuid)"
                            ).one().decode(at: 0)
                            #expect(
                                (count > 0) == isThere,
                                "\(table) of \(id == tenant ? "the tenant" : "another")")
                        }
                    }
                    let entry = try await transaction.execute(
                        """
                        SELECT actor, before ->> 'name' FROM doorstep.audit_log
                        WHERE tenant_id = \(tenant.uuid) AND relation = 'tenants' AND action = 'delete'
                        """
                    ).one().decode(String.self, String.self)
                    #expect(entry == ("operator:bob", "Tenant"))
                }
            }
        }
    }

    /// The deletion waits for the import, and then also deletes the imported rows.
    @Test(.timeLimit(.minutes(30))) func deletionWaitsForImportAndDeletesItsRows() async throws {
        try await Stores.withTenant { stores, tenant in
            let (begun, begin) = AsyncStream.makeStream(of: Never.self)
            async let deletion = {
                for await _ in begun {}
                return try await stores.administration.deleteTenant(TenantSlug("acme"))
            }()
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Rows([
                    { .row(try .sample("a"), line: 2) },
                    {
                        begin.finish()
                        try await stores.waitForWaiters()
                        return .row(try .sample("b"), line: 3)
                    },
                ]))
            #expect(outcome == .done(2, 0, 0))
            let counts = try await deletion
            #expect(counts.first { $0.relation == "locations" }?.count == 2)
            #expect(try await stores.administration.tenants().isEmpty)
            #expect(try await stores.count("SELECT count(*) FROM doorstep.locations") == 0)
        }
    }

    /// A change during the deletion fails and leaves no rows.
    @Test(.timeLimit(.minutes(30)), arguments: ["import", "clip", "key"]) func changeDuringDeletionIsRejected(
        change: String
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let deletion = """
                SELECT pg_advisory_xact_lock(hashtextextended('import \(tenant)', 0));
                DELETE FROM doorstep.tenants WHERE tenant_id = '\(tenant)'
                """
            let task = try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(script: deletion)
                let task = Task {
                    switch change {
                    case "import": _ = try await stores.importLocations([.sample("a")], of: tenant)
                    case "clip": try await stores.createClip(of: tenant)
                    default:
                        let key = APIKey.generate(.secret)
                        _ = try await store.createKey(key, scopes: nil, expiresAt: nil, of: tenant)
                    }
                }
                try await stores.waitForWaiters()
                return task
            }
            await #expect(throws: AdministrationError.tenantDeleted) { try await task.value }
            for table in ["locations", "clips", "api_keys"] {
                #expect(try await stores.count("SELECT count(*) FROM doorstep.\(identifier: table)") == 0)
            }
        }
    }

    @Test func unknownTenantIsNamedInError() async throws {
        try await Stores.withStores { stores in
            let slug = try TenantSlug("nobody")
            await #expect(throws: AdministrationError.unknownTenant(slug)) {
                try await stores.administration.deleteTenant(slug)
            }
            await #expect(throws: AdministrationError.unknownTenant(slug)) {
                try await stores.administration.withCatalogue(of: slug) { _ in }
            }
        }
    }

    @Test func lookupIndexForgetsDeletedTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a")], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            #expect(try await followed.refreshed().locationCount == 1)
            _ = try await stores.administration.deleteTenant(TenantSlug("acme"))
            #expect(try await followed.refreshed().locationCount == 0)
        }
    }
}
