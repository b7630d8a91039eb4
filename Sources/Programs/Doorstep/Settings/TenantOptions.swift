import Administration
import ArgumentParser
import Foundation
import Persistence
import PostgreSQL
import ServerClient
import Tenancy

/// Which tenant a command works on, of which database or at which server.
struct TenantOptions: ParsableArguments {
    @OptionGroup var installation: InstallationOptions
    @Option(Settings.tenant) var tenant: TenantSlug?

    func validate() throws {
        // Of a server's tenants the key says which one is meant.
        if try installation.login(of: slug()) == nil { _ = try namedSlug() }
    }

    private func slug() throws -> TenantSlug? { try Settings.tenant.value(tenant) }

    private func namedSlug() throws -> TenantSlug {
        guard let slug = try slug() else {
            throw ValidationError("name a tenant: --tenant or DOORSTEP_TENANT")
        }
        return slug
    }

    /// Lends the tenant's items of one kind, in the database or at the server.
    func withItems<Item: CatalogueItem, Result: Sendable>(
        _ kind: KeyPath<CatalogueStores, any CatalogueStore<Item>>,
        _ body: (TenantItems<Item>) async throws -> Result
    ) async throws -> Result {
        try await withTenant { store, tenant in
            try await body(TenantItems(store.items[keyPath: kind], of: tenant.id, by: Self.actor))
        } atServer: { server, tenant in
            try await body(TenantItems(server.items[keyPath: kind], of: tenant.id, by: Self.actor))
        }
    }

    /// Works on the tenant in the database or at the server.
    func withTenant<Result: Sendable>(
        _ inDatabase: (PostgresAdministrationStore, Tenant) async throws -> Result,
        atServer: (RemoteServer, Tenant) async throws -> Result
    ) async throws -> Result {
        if let result = try await installation.withServer(of: slug(), atServer) { return result }
        return try await withTenant(inDatabase)
    }

    /// Lends the server; nil where a database is named.
    func withServer<Result: Sendable>(
        _ body: (RemoteServer) async throws -> Result
    ) async throws -> Result? {
        try await installation.withServer(of: slug()) { server, _ in try await body(server) }
    }

    func withTenant<Result: Sendable>(
        _ body: (PostgresAdministrationStore, Tenant) async throws -> Result
    ) async throws -> Result {
        try await withPool { _, store, tenant in try await body(store, tenant) }
    }

    func withPool<Result: Sendable>(
        _ body: (ConnectionPool, PostgresAdministrationStore, Tenant) async throws -> Result
    ) async throws -> Result {
        try installation.refuseServer(of: slug())
        return try await installation.database.withPool { pool in
            let store = PostgresAdministrationStore(pool, actor: Self.actor)
            return try await body(pool, store, store.tenant(namedSlug()))
        }
    }

    /// Writes something of the tenant's catalogue into a file.
    func export<Result: Sendable>(
        to file: ExportFile,
        _ body: (any CatalogueReader, @escaping ([UInt8]) throws -> Void) async throws -> Result
    ) async throws -> Result {
        try await installation.export(slug(), to: file, body)
    }

    /// Who the audit log says did it.
    static var actor: String { "operator:\(NSUserName())" }
}

extension InstallationOptions {
    /// Works on a tenant in the database or at the server.
    func withTenant<Result: Sendable>(
        _ slug: TenantSlug, _ inDatabase: (PostgresAdministrationStore) async throws -> Result,
        atServer: (RemoteServer, Tenant) async throws -> Result
    ) async throws -> Result {
        if let result = try await withServer(of: slug, atServer) { return result }
        return try await database.withStore(inDatabase)
    }

    /// Writes something of a tenant's catalogue into a file, from a database as it is at one moment.
    /// - Parameter slug: nil for the tenant of the server's key.
    func export<Result: Sendable>(
        _ slug: TenantSlug?, to file: ExportFile,
        _ body: (any CatalogueReader, @escaping ([UInt8]) throws -> Void) async throws -> Result
    ) async throws -> Result {
        let done = try await withServer(of: slug) { server, tenant in
            try await file.writing { try await body(server.catalogue(of: tenant), $0) }
        }
        if let done { return done }
        guard let slug else { throw CommandError.noDatabase }
        return try await database.withStore { store in
            try await file.writing { sink in
                try await store.withCatalogue(of: slug) { try await body($0, sink) }
            }
        }
    }
}
