import PostgreSQL
import TestSupport
import Testing

/// Behind PgBouncer in transaction mode, with the default settings. Debian 12 has version 1.18, which does not support prepared
/// statements.
@Suite struct PoolerTests {
    @Test(.timeLimit(.minutes(30))) func statementsWorkInAnyPooledSession() async throws {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        try await MigratedDatabase.withEmptyDatabase { database in
            try await PgBouncer.withPgBouncer(serverConnections: 2) { pooler in
                let change: (inout PoolConfiguration) -> Void = { configuration in
                    configuration.maximumConnections = 1
                    configuration.onUnprepared = { tell.yield() }
                }
                try await database.withPool(as: .serve, through: pooler, change) { pool in
                    try await database.withPool(as: .serve, through: pooler) { other in
                        let first = try await pool.withTransaction { transaction in
                            try await Self.run(transaction)
                            return try await transaction.process()
                        }
                        // The pooler has one session, which is in use, so this transaction gets a second one.
                        let second = try await other.withTransaction { holder in
                            let held = try await holder.process()
                            #expect(held == first)
                            return try await pool.withTransaction { transaction in
                                try await Self.run(transaction)
                                return try await transaction.process()
                            }
                        }
                        #expect(second != first)
                        for _ in 0..<3 { try await pool.withTransaction { try await Self.run($0) } }
                        try await pool.withConnection { connection in
                            let rows = try await connection.execute("SELECT 1 AS a")
                            #expect(rows.count == 1)
                        }
                    }
                }
            }
        }
        tell.finish()
        #expect(await told.reduce(0) { count, _ in count + 1 } == 1)
    }

    @Test func statementsArePreparedWithoutPooler() async throws {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        try await withPool({ $0.onUnprepared = { tell.yield() } }) { pool in
            try await pool.withTransaction { transaction in
                try await Self.run(transaction)
                let count: Int = try await transaction.execute("SELECT count(*) FROM pg_prepared_statements")
                    .one().decode(at: 0)
                #expect(count == 3)
            }
        }
        tell.finish()
        #expect(await told.reduce(0) { count, _ in count + 1 } == 0)
    }

    /// A pooler that is not recognizable.
    @Test func lostPreparedStatementDisablesPreparing() async throws {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        try await withPool({
            $0.maximumConnections = 1
            $0.onUnprepared = { tell.yield() }
        }) { pool in
            try await pool.withTransaction { try await Self.run($0) }
            try await pool.withTransaction { try await $0.execute(script: "DEALLOCATE ALL") }
            // The closure may have had effects outside the database, so its caller must decide whether to run it again.
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { try await Self.run($0) }
            }
            #expect(error?.sqlState == "26000" && error?.isRetryable == true)
            for _ in 0..<2 { try await pool.withTransaction { try await Self.run($0) } }
            let count: Int = try await pool.withConnection { connection in
                try await connection.execute("SELECT count(*) FROM pg_prepared_statements").one().decode(
                    at: 0)
            }
            #expect(count == 0)
        }
        tell.finish()
        #expect(await told.reduce(0) { count, _ in count + 1 } == 1)
    }

    private static func run(_ transaction: Transaction) async throws {
        try await transaction.execute("SELECT \(1)")
        try await transaction.execute("SELECT \("a")")
    }
}
