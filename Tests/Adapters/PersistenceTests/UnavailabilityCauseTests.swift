import PostgreSQL
import Testing

@testable import Persistence

/// The log's names for failures of the database, tested with real failures.
@Suite struct UnavailabilityCauseTests {
    private static func cause(
        _ stores: Stores, _ mode: TransactionMode = .readWrite,
        _ body: nonisolated(nonsending) (Transaction) async throws -> Void
    ) async throws -> String? {
        let error = await #expect(throws: PostgreSQLError.self) {
            try await stores.appPool.withTransaction(mode, body)
        }
        return error?.unavailabilityCause
    }

    @Test func serverErrorsHaveStableNames() async throws {
        try await Stores.withTenant { stores, _ in
            let slow = try await Self.cause(stores) { transaction in
                try await transaction.execute("SET LOCAL statement_timeout = 1")
                try await transaction.execute("SELECT pg_sleep(10)")
            }
            #expect(slow == "statement_timeout")
            let readOnly = try await Self.cause(stores, .readOnly) { transaction in
                try await transaction.execute("CREATE TABLE t ()")
            }
            #expect(readOnly == "read_only")
        }
    }

    @Test func failuresOfConnectionsHaveStableNames() {
        #expect(PostgreSQLError.poolExhausted.unavailabilityCause == "pool_exhausted")
        #expect(PostgreSQLError.timeout(.acquiring).unavailabilityCause == "pool_timeout")
        #expect(PostgreSQLError.timeout(.statement).unavailabilityCause == "statement_timeout")
        #expect(PostgreSQLError.connectionLost.unavailabilityCause == "no_connection")
        #expect(PostgreSQLError.connectFailed(reason: "x").unavailabilityCause == "no_connection")
    }
}
