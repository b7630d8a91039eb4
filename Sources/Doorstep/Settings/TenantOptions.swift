import Administration
import ArgumentParser
import Foundation
import Persistence
import PostgreSQL
import Tenancy

/// Which tenant of which database a command works on.
struct TenantOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions

    @Option(help: "The tenant's slug.")
    var tenant: TenantSlug

    func withTenant<Result: Sendable>(
        _ body: (any AdministrationStore, Tenant) async throws -> Result
    ) async throws -> Result {
        try await withPool { _, store, tenant in try await body(store, tenant) }
    }

    func withPool<Result: Sendable>(
        _ body: (ConnectionPool, any AdministrationStore, Tenant) async throws -> Result
    ) async throws -> Result {
        try await database.withPool { pool in
            let store = PostgresAdministrationStore(pool, actor: Self.actor)
            return try await body(pool, store, store.tenant(tenant))
        }
    }

    /// Who the audit log says did it.
    static var actor: String { "operator:\(NSUserName())" }
}
