import PostgreSQL
import TestSupport
import Testing

/// An actor that passes its own state to a closure.
private actor Counter {
    private var count = 0

    func countRows(_ pool: ConnectionPool) async throws -> Int {
        try await pool.withTransaction { transaction in
            count += try await transaction.execute("VALUES (1), (2)").count
        }
        try await pool.withConnection { connection in
            count += try await connection.execute("VALUES (1)").count
        }
        return count
    }
}

@Test(.timeLimit(.minutes(30))) func closuresRunInTheCallersIsolation() async throws {
    let count = try await Counter().countRows(TestServer.administration())
    #expect(count == 3)
}
