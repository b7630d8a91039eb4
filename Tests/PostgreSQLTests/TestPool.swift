import Foundation
import PostgreSQL
import TestSupport
import Testing

/// A server given by the environment may be on another machine, and is reached in a way of its own.
let isServerOurs = ProcessInfo.processInfo.environment["DOORSTEP_TEST_DATABASE_URL"] == nil

/// Lends a pool on a new database, and closes it.
@discardableResult
func withPool<R: Sendable>(
    _ change: (inout PoolConfiguration) -> Void = { _ in }, _ body: (ConnectionPool) async throws -> R
) async throws -> R {
    try await TestServer.withDatabase { conninfo in
        var configuration = PoolConfiguration(
            conninfo: conninfo, acquireTimeout: .seconds(60), connectTimeout: .seconds(60))
        change(&configuration)
        return try await ConnectionPool.withPool(configuration, body)
    }
}

/// Asks again until it is so: for what another process does and tells nobody.
func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Waits until the session waits for the named event, and ends it.
func terminate(_ process: Int32, whenWaitingFor event: String) async throws {
    try await TestServer.administration().withConnection { connection in
        try await until {
            try await connection.execute(
                "SELECT 1 FROM pg_stat_activity WHERE pid = \(process) AND wait_event = \(event)"
            ).count == 1
        }
        try await connection.execute("SELECT pg_terminate_backend(\(process))")
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
