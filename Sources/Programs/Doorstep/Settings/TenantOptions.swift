import Administration
import ArgumentParser
import Foundation
import Persistence
import PostgreSQL
import Tenancy

/// Which tenant of which database a command works on.
struct TenantOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions

    @Option(Settings.tenant) var tenant: TenantSlug?

    func validate() throws { _ = try slug() }

    private func slug() throws -> TenantSlug {
        guard let slug = try Settings.tenant.value(tenant) else {
            throw ValidationError("name a tenant: --tenant or DOORSTEP_TENANT")
        }
        return slug
    }

    func withTenant<Result: Sendable>(
        _ body: (PostgresAdministrationStore, Tenant) async throws -> Result
    ) async throws -> Result {
        try await withPool { _, store, tenant in try await body(store, tenant) }
    }

    func withPool<Result: Sendable>(
        _ body: (ConnectionPool, PostgresAdministrationStore, Tenant) async throws -> Result
    ) async throws -> Result {
        try await database.withPool { pool in
            let store = PostgresAdministrationStore(pool, actor: Self.actor)
            return try await body(pool, store, store.tenant(slug()))
        }
    }

    /// Writes something of the tenant's catalogue, as it is at one moment, into a file.
    func export<Result: Sendable>(
        to file: ExportFile,
        _ body: (any CatalogueReader, @escaping ([UInt8]) throws -> Void) async throws -> Result
    ) async throws -> Result {
        try await database.withStore { store in
            try await file.writing { sink in
                try await store.withCatalogue(of: slug()) { try await body($0, sink) }
            }
        }
    }

    /// Who the audit log says did it.
    static var actor: String { "operator:\(NSUserName())" }
}
