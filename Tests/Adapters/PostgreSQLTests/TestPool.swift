import Foundation
import PostgreSQL
import TestSupport
import Testing

/// A server that the environment names may be on another machine, with another way to connect.
let isServerOurs = ProcessInfo.processInfo.environment["DOORSTEP_TEST_DATABASE_URL"] == nil

/// Runs the closure with a pool on a new database, and closes the pool.
///
/// Its timeouts are long, because many tests run at the same time.
@discardableResult
func withPool<R: Sendable>(
    _ change: (inout PoolConfiguration) -> Void = { _ in }, _ body: (ConnectionPool) async throws -> R
) async throws -> R {
    try await TestServer.withDatabase { conninfo in
        var configuration = PoolConfiguration.forBusyMachines(conninfo: conninfo)
        change(&configuration)
        return try await ConnectionPool.withPool(configuration, body)
    }
}

/// Repeats the closure until it returns true, for changes that another process makes without a notification.
func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Waits until the session waits for the named event, and terminates it.
///
/// Uses a separate connection, because a shared one would be blocked for other tests.
func terminate(_ process: Int32, whenWaitingFor event: String) async throws {
    let configuration = PoolConfiguration.forBusyMachines(
        conninfo: try await TestServer.conninfo(), maximumConnections: 1)
    try await ConnectionPool.withPool(configuration) { pool in
        try await pool.withConnection { connection in
            try await until {
                let session = try await connection.execute(
                    "SELECT wait_event FROM pg_stat_activity WHERE pid = \(process)")
                return try session.one().decode(at: 0, as: String?.self) == event
            }
            try await connection.execute("SELECT pg_terminate_backend(\(process))")
        }
    }
}

extension Transaction {
    func process() async throws -> Int32 {
        try await execute("SELECT pg_backend_pid()").one().decode(at: 0)
    }
}

extension Connection {
    func process() async throws -> Int32 {
        try await execute("SELECT pg_backend_pid()").one().decode(at: 0)
    }
}
