import Administration
import ArgumentParser
import Foundation
import Notifications
import Persistence
import PostgreSQL
import Receipts
import ServerClient
import Tenancy

/// The tenant that a command works on, in a database or at a server.
struct TenantOptions: ParsableArguments {
    // The same options as in DatabaseOptions, but not as a group: see InstallationOptions.
    @Option(Settings.databaseURL, visibility: .hidden) var databaseURL: String?
    @Option(Settings.embeddedPostgres, visibility: .hidden) var embeddedPostgres: String?
    @Flag(name: .customLong("help-database"), help: DatabaseOptions.helpOfFlag) var showsHelp = false
    @Option(Settings.server) var server: ServerURL?
    @Option(Settings.tenant) var tenant: TenantSlug?

    var installation: InstallationOptions {
        InstallationOptions(
            database: DatabaseOptions(url: databaseURL, embeddedPostgres: embeddedPostgres), server: server)
    }

    func validate() throws {
        try installation.validate()
        try installation.require(slug())
    }

    private func slug() throws -> TenantSlug? { try Settings.tenant.value(tenant) }

    /// The login at the server; nil if a database is named.
    func login() throws -> Login? { try installation.login(of: slug()) }

    /// Runs the closure with the tenant's API.
    func withAPI<Result: Sendable>(
        webhooks: (ConnectionPool) throws -> (any WebhookRegistry)? = { _ in nil },
        receipts: ReceiptIssuer? = nil, _ body: (APIConnection) async throws -> Result
    ) async throws -> Result {
        try await installation.withAPI(of: slug(), webhooks: webhooks, receipts: receipts, body)
    }

    /// Runs the closure with the tenant's items of one kind.
    func withItems<Item: APIItem, Result: Sendable>(
        _: Item.Type, _ body: (APIItems<Item>) async throws -> Result
    ) async throws -> Result {
        try await withAPI { try await body(APIItems($0)) }
    }

    /// Runs the closure with the server; nil if a database is named.
    func withServer<Result: Sendable>(
        _ body: (APIConnection) async throws -> Result
    ) async throws -> Result? {
        try await installation.withServer(of: slug(), body)
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
            return try await body(pool, store, store.tenant(slug().named))
        }
    }

    /// Writes a part of the tenant's catalogue into a file.
    func export<Result: Sendable>(
        to file: ExportFile,
        _ body: (any CatalogueReader, @escaping ([UInt8]) throws -> Void) async throws -> Result
    ) async throws -> Result {
        try await installation.export(slug(), to: file, body)
    }

    /// The actor in the audit log.
    static var actor: String { "operator:\(NSUserName())" }
}

extension TenantSlug? {
    /// - Throws: ``CommandError/noTenant`` if no tenant is named.
    var named: TenantSlug {
        get throws {
            guard let self else { throw CommandError.noTenant }
            return self
        }
    }
}

/// A tenant, as an argument of a command.
struct TenantArgument: ParsableArguments {
    // The same options as in DatabaseOptions, but not as a group: see InstallationOptions.
    @Option(Settings.databaseURL, visibility: .hidden) var databaseURL: String?
    @Option(Settings.embeddedPostgres, visibility: .hidden) var embeddedPostgres: String?
    @Flag(name: .customLong("help-database"), help: DatabaseOptions.helpOfFlag) var showsHelp = false
    @Option(Settings.server) var server: ServerURL?
    @Argument(help: "Slug of the tenant. At a server, the key decides the tenant.") var slug: TenantSlug?

    var installation: InstallationOptions {
        InstallationOptions(
            database: DatabaseOptions(url: databaseURL, embeddedPostgres: embeddedPostgres), server: server)
    }

    func validate() throws {
        try installation.validate()
        try installation.require(named())
    }

    func named() throws -> TenantSlug? { try Settings.tenant.value(slug) }

    /// Runs the closure with the tenant's API.
    func withAPI<Result: Sendable>(
        _ body: (APIConnection) async throws -> Result
    ) async throws -> Result {
        try await installation.withAPI(of: named(), body)
    }
}

extension InstallationOptions {
    /// Writes a part of a tenant's catalogue into a file, from one snapshot of the database.
    /// - Parameter slug: Nil for the tenant of the server's key.
    func export<Result: Sendable>(
        _ slug: TenantSlug?, to file: ExportFile,
        _ body: (any CatalogueReader, @escaping ([UInt8]) throws -> Void) async throws -> Result
    ) async throws -> Result {
        let done = try await withServer(of: slug) { server in
            let catalogue = server.catalogue(of: try await server.tenant())
            return try await file.writing { try await body(catalogue, $0) }
        }
        if let done { return done }
        return try await database.withStore { store in
            try await file.writing { sink in
                try await store.withCatalogue(of: slug.named) { try await body($0, sink) }
            }
        }
    }
}
