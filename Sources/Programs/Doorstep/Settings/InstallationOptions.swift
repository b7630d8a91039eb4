import Administration
import ArgumentParser
import ServerClient
import Tenancy

/// Which installation a command works on: a database, or a server that is asked over HTTP.
struct InstallationOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Option(Settings.server) var server: ServerURL?

    func validate() throws {
        guard server == nil || !database.isNamed else {
            throw ValidationError("--server excludes --database-url and --embedded-postgres")
        }
    }

    /// The server to ask; nil where a database is named, by a flag or, unless a server is, by the environment.
    func login(of slug: TenantSlug?) throws -> Login? {
        guard !database.isNamed else { return nil }
        let named = try Settings.server.value(server)
        guard try named != nil || Settings.databaseURL.value() == nil else { return nil }
        let login = try LoginFile().login(at: named, of: slug)
        guard login != nil || named == nil else { throw CommandError.noKey }
        return login
    }

    /// Lends the server, and the tenant of its key.
    /// - Parameter slug: which tenant that must be; nil for any.
    /// - Returns: Nil where a database is named.
    func withServer<Result: Sendable>(
        of slug: TenantSlug?, _ body: (RemoteServer, Tenant) async throws -> Result
    ) async throws -> Result? {
        guard let login = try login(of: slug) else { return nil }
        return try await login.withServer { server in
            let tenant = try await server.tenant()
            if let slug, slug != tenant.slug { throw CommandError.keyOfAnotherTenant(tenant.slug) }
            return try await body(server, tenant)
        }
    }

    /// For what needs a database: nobody is to think that it was done at the server.
    func refuseServer(of slug: TenantSlug?) throws {
        guard try login(of: slug) == nil else { throw CommandError.needsDatabase }
    }
}

/// A command that works on a database alone, and says so to whoever names a server; by the environment, see
/// ``DatabaseOptions/withPool(migrates:_:)``.
struct DatabaseOnly: ParsableArguments {
    @Option(help: .hidden) var server: String?

    func validate() throws {
        guard server == nil else { throw ValidationError("\(CommandError.needsDatabase)") }
    }
}
