import Administration
import ArgumentParser
import HTTPAPI
import Lookups
import Notifications
import Persistence
import PostgreSQL
import Receipts
import ServerClient
import Tenancy

/// The deployment that a command uses: a database, or a server over HTTP.
///
/// No group of options, so that groups are nested less deeply. In debug builds, ArgumentParser validates each group four times within
/// the group around it.
struct InstallationOptions {
    let database: DatabaseOptions
    let server: ServerURL?

    /// Refuses two databases, and a database beside a server.
    func validate() throws {
        try database.validate()
        guard server == nil || !database.isNamed else {
            throw ValidationError("--server excludes --database-url and --embedded-postgres")
        }
    }

    /// The login at the server. Nil if a flag names a database, or if the environment does and no flag names a server.
    /// - Parameter slug: The tenant that the login must be for; nil for any.
    /// - Throws: ``CommandError/noInstallation``, ``CommandError/noLogin(_:at:among:)``, ``CommandError/noKey(_:)`` and
    ///   ``CommandError/noServer`` if neither a database nor a usable login is named.
    func login(of slug: TenantSlug?) throws -> Login? {
        guard !database.isNamed else { return nil }
        let named = try Settings.server.value(server)
        guard try named != nil || Settings.databaseURL.value() == nil else { return nil }
        let file = LoginFile()
        if let login = try file.login(at: named, of: slug) { return login }
        let others = try file.logins(at: named)
        if let slug, !others.isEmpty { throw CommandError.noLogin(slug, among: others) }
        if let named { throw CommandError.noKey(named) }
        throw CommandError.noInstallation
    }

    /// Checks that a command has either a server, whose key determines the tenant, or a database and a tenant.
    func require(_ slug: TenantSlug?) throws {
        try validate()
        do {
            if try login(of: slug) == nil { _ = try slug.named }
        } catch let error as CommandError where error.isUsage {
            throw ValidationError("\(error)")
        }
    }

    /// Runs the closure with the server; nil if a database is named.
    /// - Parameter slug: The tenant that the key must belong to; nil for any. Only for a key in the environment the server is
    ///   asked, because `doorstep login` has checked the other keys.
    func withServer<Result: Sendable>(
        of slug: TenantSlug?, _ body: (APIConnection) async throws -> Result
    ) async throws -> Result? {
        guard let login = try login(of: slug) else { return nil }
        return try await login.withServer { server in
            if let slug, login.tenant == nil {
                let own = try await server.tenantSlug()
                guard own == slug else { throw CommandError.keyOfAnotherTenant(own) }
            }
            return try await body(server)
        }
    }

    /// Runs the closure with a tenant's API: at a server over HTTP, or of a database in this process, as its operator.
    /// - Parameters:
    ///   - slug: The tenant; nil for the tenant of the server's key.
    ///   - webhooks: Makes the registry of webhooks in a database; nil for a command without webhooks.
    ///   - receipts: Signs the receipts of confirmations in a database.
    func withAPI<Result: Sendable>(
        of slug: TenantSlug?, webhooks: (ConnectionPool) throws -> (any WebhookRegistry)? = { _ in nil },
        receipts: ReceiptIssuer? = nil, _ body: (APIConnection) async throws -> Result
    ) async throws -> Result {
        if let result = try await withServer(of: slug, body) { return result }
        return try await database.withPool { pool in
            let store = PostgresAdministrationStore(pool, actor: TenantOptions.actor)
            let tenant = try await store.tenant(slug.named)
            let parts = ManagementParts(
                catalogue: ManagedCatalogue(store), webhooks: try webhooks(pool),
                confirmations: PostgresConfirmationHistory(pool),
                deliveries: PostgresDeliveryLedger(pool), history: PostgresNotificationHistory(pool))
            let confirmations = ConfirmationQueue(pool)
            let api = LocalAPI(
                of: tenant.id, by: TenantOptions.actor, parts,
                APIResponses(recorder: confirmations, receipts: receipts),
                NotificationIntake(PostgresNotificationStore(pool))
            ) {
                try await pool.tenantTable(
                    of: tenant.id, trusting: .signed(LocationURLSigner.fromEnvironment()))
            }
            let result = try await body(APIConnection(LocalTransport(api: api)))
            try await confirmations.flush()
            return result
        }
    }

    /// Refuses a server for commands that need a database. Otherwise users could believe that the command worked at the server.
    func refuseServer(of slug: TenantSlug?) throws {
        guard try login(of: slug) == nil else { throw CommandError.needsDatabase }
    }
}

/// Marks a command that works with a database only, and refuses a server that a flag names.
/// ``DatabaseOptions/withPool(migrates:_:)`` handles the environment.
struct DatabaseOnly: ParsableArguments {
    @Option(help: .hidden) var server: String?

    func validate() throws {
        guard server == nil else { throw ValidationError("\(CommandError.needsDatabase)") }
    }
}
