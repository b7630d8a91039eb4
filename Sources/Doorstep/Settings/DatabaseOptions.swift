import ArgumentParser
import EmbeddedPostgreSQL
import PostgreSQL

/// Which database a command works on.
struct DatabaseOptions: ParsableArguments {
    @Option(name: .customLong("database-url"), help: "A libpq connection string. (environment: DATABASE_URL)")
    var url: String?

    @Option(
        name: .customLong("embedded-postgres"),
        help: ArgumentHelp(
            "Start a private PostgreSQL in this directory, or join the one that runs there.", valueName: "dir"
        ))
    var embeddedPostgres: String?

    func validate() throws {
        guard url == nil || embeddedPostgres == nil else {
            throw ValidationError("--database-url and --embedded-postgres exclude each other")
        }
    }

    /// Lends a pool, and leaves the private server afterwards if there is one.
    func withPool<Result: Sendable>(
        maximumConnections: Int = 2, _ body: (ConnectionPool) async throws -> Result
    ) async throws -> Result {
        try await withConnectionString { conninfo in
            let pool = ConnectionPool(
                PoolConfiguration(
                    conninfo: conninfo, maximumConnections: maximumConnections, applicationName: "doorstep"))
            do {
                let result = try await body(pool)
                await pool.close()
                return result
            } catch {
                await pool.close()
                throw error
            }
        }
    }

    private func withConnectionString<Result: Sendable>(
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        if let embeddedPostgres {
            return try await PrivateServer.lend(in: embeddedPostgres) { try await body($0.conninfo) }
        }
        guard let url = url ?? Environment.text("DATABASE_URL") else { throw CommandError.noDatabase }
        return try await body(url)
    }
}

extension PrivateServer {
    /// Starts or joins the server of a directory, and leaves it when the closure has returned or thrown.
    static func lend<Result: Sendable>(
        in directory: String, _ body: (PrivateServer) async throws -> Result
    ) async throws -> Result {
        let server = try await startOrJoin(directory: directory)
        let result: Result
        do {
            result = try await body(server)
        } catch {
            try server.leave()
            throw error
        }
        try server.leave()
        return result
    }
}
