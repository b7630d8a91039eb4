import ArgumentParser
import EmbeddedPostgreSQL
import Foundation
import Persistence
import PostgreSQL
import UnixSignals

/// The database that a command uses.
///
/// The help of a command shows one line for these options; `--help-database` shows them.
struct DatabaseOptions: ParsableArguments {
    static let helpFlag = "--help-database"

    @Option(Settings.databaseURL, visibility: .hidden) var url: String?
    @Option(Settings.embeddedPostgres, visibility: .hidden) var embeddedPostgres: String?
    /// ``DoorstepCommand`` handles it before it parses the other arguments, which may be incomplete.
    @Flag(name: .customLong("help-database"), help: helpOfFlag) var showsHelp = false

    static let helpOfFlag: ArgumentHelp = "Show the options that name a database."

    /// The options with their help.
    static var help: String {
        let message = helpMessage(includeHidden: true)
        return String(message[(message.range(of: "OPTIONS:")?.lowerBound ?? message.startIndex)...])
    }

    init() {}

    /// The options as another group has parsed them.
    init(url: String?, embeddedPostgres: String?) {
        self.url = url
        self.embeddedPostgres = embeddedPostgres
        showsHelp = false
    }

    func validate() throws {
        guard url == nil || embeddedPostgres == nil else {
            throw ValidationError("--database-url and --embedded-postgres exclude each other")
        }
    }

    /// Whether a flag names a database.
    var isNamed: Bool { url != nil || embeddedPostgres != nil }

    /// Runs the closure with a pool. Afterwards leaves the embedded server if there is one.
    /// - Parameter migrates: False if the closure itself migrates the schema of an embedded server.
    /// - Throws: `CommandError.needsDatabase` if no flag names a database and the environment names a server. Otherwise users could
    ///   believe that the command worked at the server.
    func withPool<Result: Sendable>(
        migrates: Bool = true, _ body: (ConnectionPool) async throws -> Result
    ) async throws -> Result {
        guard try isNamed || Settings.server.value() == nil else { throw CommandError.needsDatabase }
        return try await withConnectionString(trapsSignals: true, migrates: migrates) { conninfo in
            try await Self.withPool(conninfo, 2, patience: Self.patienceOfCommands, body)
        }
    }

    /// Runs a service with a pool. The service handles signals itself.
    func withServicePool<Result: Sendable>(
        maximumConnections: Int, _ body: (ConnectionPool) async throws -> Result
    ) async throws -> Result {
        try await withConnectionString(trapsSignals: false) { conninfo in
            try await Self.withPool(conninfo, maximumConnections, body)
        }
    }

    /// The longest wait for a connection. Only the command waits here, and on a busy machine a late result is better than none.
    private static let patienceOfCommands = Duration.seconds(30)

    /// Runs the closure with three pools, so that requests that wait for one pool do not block the others.
    /// - Parameters:
    ///   - onUnprepared: Called once for each pool that finds a pooler before its database.
    ///   - observer: Observes the statements; nil for no observation.
    func withPools<Result: Sendable>(
        maximumConnections: (Int, Int, Int), trapsSignals: Bool, onUnprepared: @escaping @Sendable () -> Void,
        observer: PoolConfiguration.Observer?,
        _ body: (ConnectionPool, ConnectionPool, ConnectionPool) async throws -> Result
    ) async throws -> Result {
        try await withConnectionString(trapsSignals: trapsSignals) { conninfo in
            func withPool(
                _ maximumConnections: Int, _ body: (ConnectionPool) async throws -> Result
            ) async throws -> Result {
                try await Self.withPool(
                    conninfo, maximumConnections, onUnprepared: onUnprepared, observer: observer, body)
            }
            return try await withPool(maximumConnections.0) { first in
                try await withPool(maximumConnections.1) { second in
                    try await withPool(maximumConnections.2) { try await body(first, second, $0) }
                }
            }
        }
    }

    private static func withPool<Result: Sendable>(
        _ conninfo: String, _ maximumConnections: Int, patience: Duration = .seconds(5),
        onUnprepared: @escaping @Sendable () -> Void = {}, observer: PoolConfiguration.Observer? = nil,
        _ body: (ConnectionPool) async throws -> Result
    ) async throws -> Result {
        try await ConnectionPool.withPool(
            PoolConfiguration(
                conninfo: conninfo, maximumConnections: maximumConnections, acquireTimeout: patience,
                connectTimeout: patience, applicationName: "doorstep", onUnprepared: onUnprepared,
                observer: observer), body)
    }

    private func withConnectionString<Result: Sendable>(
        trapsSignals: Bool, migrates: Bool = true, _ body: (String) async throws -> Result
    ) async throws -> Result {
        if let embeddedPostgres {
            return try await EmbeddedServer.lend(in: embeddedPostgres, trapsSignals: trapsSignals) { server in
                if migrates {
                    try await Self.withPool(server.conninfo, 1, patience: Self.patienceOfCommands) { pool in
                        // Looks for pending migrations first, because this needs no lock.
                        if try await !Schema.status(pool).isCurrent { _ = try await Schema.migrate(pool) }
                    }
                }
                return try await body(server.conninfo)
            }
        }
        if let url, PoolConfiguration(conninfo: url).holdsPassword { Self.warnOfPassword() }
        guard let conninfo = try Settings.databaseURL.value(url) else { throw CommandError.noDatabase }
        return try await body(conninfo)
    }

    private static func warnOfPassword() {
        FileHandle.standardError.write(
            Data(
                """
                Warning: --database-url contains a password, which other users can read in the list of processes: use \
                DATABASE_URL, a service file ('service=NAME') or ~/.pgpass.

                """.utf8))
    }
}

extension EmbeddedServer {
    /// Starts or joins the server of a folder, and leaves it after the closure.
    /// - Parameter trapsSignals: Whether SIGINT and SIGTERM leave the server and end the process with status 128 plus the signal.
    ///   Otherwise the server would continue to run.
    static func lend<Result: Sendable>(
        in directory: String, trapsSignals: Bool, _ body: (EmbeddedServer) async throws -> Result
    ) async throws -> Result {
        // Before the start. A signal during the start waits until there is a server to leave.
        let signals = trapsSignals ? await UnixSignalsSequence(trapping: .sigint, .sigterm) : nil
        let server = try await startOrJoin(directory: directory)
        let trap = Task {
            guard let signals else { return }
            for await signal in signals {
                try? server.leave()
                exit(128 + signal.rawValue)
            }
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        // A trap that has caught a signal never returns. The process ends there with the trap's status.
        trap.cancel()
        await trap.value
        try server.leave()
        return try result.get()
    }
}
