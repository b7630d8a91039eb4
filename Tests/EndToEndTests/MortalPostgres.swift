import EmbeddedPostgreSQL
import Foundation
import PostgreSQL
import Synchronization
import TestSupport

/// A separate PostgreSQL that a test can stop immediately and start again.
final class MortalPostgres: Sendable {
    private let directory: TemporaryDirectory
    private let memberships = Mutex<[EmbeddedServer]>([])

    private static let options = EmbeddedServerOptions(
        settings: ["shared_buffers": "16MB", "max_connections": "40"])

    init(_ directory: TemporaryDirectory) {
        self.directory = directory
    }

    var conninfo: String { memberships.withLock { $0.last?.conninfo ?? "" } }

    func start() async throws {
        let server = try await EmbeddedServer.startOrJoin(
            directory: directory.path("postgres"), options: Self.options)
        memberships.withLock { $0.append(server) }
    }

    /// Like `pg_ctl stop -m immediate`: cuts all connections. PostgreSQL recovers at the next start.
    func stopImmediately() async throws {
        let path = directory.path("postgres/data/postmaster.pid")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        guard let process = file.split(separator: "\n").first.flatMap({ pid_t($0) }),
            kill(process, SIGQUIT) == 0
        else { throw DoorstepBinary.Failed(description: "PostgreSQL does not run") }
        let deadline = ContinuousClock.now + .seconds(60)
        while kill(process, 0) == 0 {
            guard .now < deadline else {
                throw DoorstepBinary.Failed(description: "PostgreSQL does not stop")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func leave() throws {
        for server in memberships.withLock({ $0 }) { try server.leave() }
    }

    func withPool<Result: Sendable>(_ body: (ConnectionPool) async throws -> Result) async throws -> Result {
        try await ConnectionPool.withPool(
            PoolConfiguration.forBusyMachines(conninfo: conninfo, maximumConnections: 1),
            body)
    }
}
