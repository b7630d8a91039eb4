import EmbeddedPostgreSQL
import Foundation
public import PostgreSQL
import Synchronization

/// The PostgreSQL server that the tests of one process share.
///
/// It starts at the first use, in a new folder, and ends with the process. If `DOORSTEP_TEST_DATABASE_URL` is set, that server is
/// used instead, as a superuser.
public enum TestServer {
    private static let started = Task { try await start() }
    private static let databases = Atomic(0)

    /// A connection string for the server's database `postgres`, as superuser.
    public static func conninfo() async throws -> String {
        try await started.value.conninfo
    }

    /// A pool on the database `postgres`, for operations on whole databases.
    ///
    /// All concurrent tests wait for it. An operation that waits for something else needs a separate connection.
    public static func administration() async throws -> ConnectionPool {
        try await started.value.administration
    }

    /// Runs the closure with the connection string of a new database: an empty one, or a copy of another database, which keeps its
    /// encoding.
    ///
    /// The database is dropped afterwards, even if connections remain. The server copies files: if it also wrote the copy to its log,
    /// as it does by default, it would need twice the processor time.
    public nonisolated(nonsending) static func withDatabase<R: Sendable>(
        template: String? = nil, encoding: String = "UTF8",
        _ body: nonisolated(nonsending) (String) async throws -> R
    ) async throws -> R {
        let server = try await started.value
        let number = databases.add(1, ordering: .relaxed).newValue
        let name = "test_\(ProcessInfo.processInfo.processIdentifier)_\(number)"
        try await server.administration.withConnection { connection in
            try await connection.execute(
                """
                CREATE DATABASE \(identifier: name) TEMPLATE \(identifier: template ?? "template0")
                    STRATEGY file_copy
                    ENCODING \(identifier: encoding) \(unsafeSQL: encoding == "UTF8" ? "" : "LOCALE 'C'")
                """)
        }
        func drop() async throws {
            try await server.administration.withConnection { connection in
                try await connection.execute("DROP DATABASE \(identifier: name) WITH (FORCE)")
            }
        }
        do {
            let result = try await body(server.conninfo(database: name))
            try await drop()
            return result
        } catch {
            try? await drop()
            throw error
        }
    }

    // MARK: - Starting

    private struct Started: Sendable {
        let conninfo: String
        let administration: ConnectionPool

        func conninfo(database: String) -> String {
            // A later keyword wins; a URI names the database in its path.
            guard conninfo.contains("://"), var url = URLComponents(string: conninfo) else {
                return "\(conninfo) dbname=\(database)"
            }
            url.path = "/\(database)"
            return url.string ?? conninfo
        }
    }

    private static func start() async throws -> Started {
        let conninfo: String
        if let given = ProcessInfo.processInfo.environment["DOORSTEP_TEST_DATABASE_URL"] {
            conninfo = given
        } else {
            conninfo = try await startPrivately().conninfo
        }
        var configuration = PoolConfiguration.forBusyMachines(conninfo: conninfo, maximumConnections: 4)
        configuration.maximumWaiters = .max
        return Started(conninfo: conninfo, administration: ConnectionPool(configuration))
    }

    private static func startPrivately() async throws -> EmbeddedServer {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("doorstep-tests-\(ProcessInfo.processInfo.processIdentifier)").path
        try? FileManager.default.removeItem(atPath: directory)
        let server = try await EmbeddedServer.startOrJoin(
            directory: directory, options: EmbeddedServerOptions(isDurable: false))
        running.withLock { $0 = (server, directory) }
        atexit {
            guard let (server, directory) = TestServer.running.withLock({ $0 }) else { return }
            try? server.leave()
            try? FileManager.default.removeItem(atPath: directory)
        }
        return server
    }

    private static let running = Mutex<(EmbeddedServer, String)?>(nil)
}
