import PostgreSQL
import Testing

@Suite(.timeLimit(.minutes(30))) struct MigrationTests {
    private let first = Migration(
        version: 1, name: "places", sql: "CREATE TABLE app.place (id int8); INSERT INTO app.place VALUES (1);"
    )
    private let second = Migration(version: 2, name: "names", sql: "ALTER TABLE app.place ADD name text;")

    private func runner(_ migrations: [Migration]) throws -> MigrationRunner {
        try MigrationRunner(migrations, schema: "app", lockKey: 4711)
    }

    private func tables(_ pool: ConnectionPool) async throws -> [String] {
        try await pool.withConnection { connection in
            try await connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'app' ORDER BY 1"
            ).map { try $0.decode(at: 0) }
        }
    }

    @Test func migrationsAreAppliedOnce() async throws {
        try await withPool { pool in
            #expect(try await runner([first]).status(on: pool).pending == [first])
            #expect(try await runner([first]).migrate(on: pool) == [first])
            #expect(try await runner([first]).migrate(on: pool) == [])
            #expect(try await runner([first, second]).migrate(on: pool) == [second])
            let status = try await runner([first, second]).status(on: pool)
            #expect(
                status.isCurrent && status.version == 2 && status.applied.map(\.name) == ["places", "names"])
        }
    }

    @Test func concurrentRunnersApplyEachMigrationOnce() async throws {
        try await withPool { pool in
            let runner = try runner([first, second])
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await runner.migrate(on: pool).count } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.reduce(0, +) == 2)
        }
    }

    @Test func failedMigrationLeavesNoTrace() async throws {
        try await withPool { pool in
            let broken = Migration(version: 2, name: "broken", sql: "CREATE TABLE app.x (); SELECT 1 / 0;")
            let error = await #expect(throws: PostgreSQLError.self) {
                try await runner([first, broken]).migrate(on: pool)
            }
            guard case .migrationFailed(2, "broken", let cause) = error else {
                Issue.record("not named: \(String(describing: error))")
                return
            }
            #expect(cause.sqlState == "22012")
            let result = try await tables(pool)
            #expect(result == ["place", "schema_migrations"])
            let version = try await runner([first]).status(on: pool).version
            #expect(version == 1)
        }
    }

    @Test(arguments: [
        "SELECT 1; ROLLBACK; BEGIN; COMMIT;", "ROLLBACK; BEGIN;", "COMMIT; BEGIN;", "COMMIT;",
        "COMMIT; BEGIN; SELECT 1 / 0;", "COMMIT; SELECT 1 / 0;",
    ])
    func migrationThatEndsItsTransactionIsRejected(sql: String) async throws {
        try await withPool { pool in
            let ending = Migration(version: 1, name: "ending", sql: sql)
            await #expect(throws: PostgreSQLError.transactionEnded) {
                try await runner([ending]).migrate(on: pool)
            }
            // Changes that were committed remain, but the migration is not recorded as applied.
            if try await tables(pool).contains("schema_migrations") {
                let recorded = try await pool.withConnection { connection in
                    try await connection.execute("TABLE app.schema_migrations")
                }
                #expect(recorded.isEmpty)
            }
        }
    }

    @Test func newerDatabaseIsRejected() async throws {
        try await withPool { pool in
            try await runner([first, second]).migrate(on: pool)
            let old = try runner([first])
            await #expect(throws: PostgreSQLError.databaseIsNewer(database: 2, binary: 1)) {
                try await old.migrate(on: pool)
            }
            await #expect(throws: PostgreSQLError.databaseIsNewer(database: 2, binary: 1)) {
                try await old.status(on: pool)
            }
        }
    }

    /// A compatible migration can be applied before the programs that use it, and stays when these are rolled back.
    @Test func newerCompatibleDatabaseIsCurrent() async throws {
        try await withPool { pool in
            let old = try runner([first])
            let expansion = Migration(
                version: 2, name: second.name, sql: second.sql, compatibleFrom: 1)
            try await runner([first, expansion]).migrate(on: pool)
            #expect(try await old.migrate(on: pool) == [])
            let status = try await old.status(on: pool)
            #expect(status.isCurrent && status.version == 2)

            let contraction = Migration(
                version: 3, name: "less", sql: "ALTER TABLE app.place DROP name;", compatibleFrom: 2)
            try await runner([first, expansion, contraction]).migrate(on: pool)
            #expect(try await runner([first, expansion]).status(on: pool).isCurrent)
            await #expect(throws: PostgreSQLError.databaseIsNewer(database: 3, binary: 1)) {
                try await old.status(on: pool)
            }
        }
    }

    /// The older table has no column for compatibility.
    @Test func migrationTableOfEarlierReleaseIsReadAndUpgraded() async throws {
        try await withPool { pool in
            try await runner([first]).migrate(on: pool)
            try await pool.withConnection { connection in
                try await connection.execute("ALTER TABLE app.schema_migrations DROP COLUMN compatible_from")
            }
            #expect(try await runner([first, second]).status(on: pool).pending == [second])
            try await runner([first, second]).migrate(on: pool)
            let status = try await runner([first, second]).status(on: pool)
            #expect(status.applied.map(\.compatibleFrom) == [nil, 2])
        }
    }

    @Test func changedMigrationIsRejected() async throws {
        try await withPool { pool in
            try await runner([first]).migrate(on: pool)
            let changed = Migration(version: 1, name: first.name, sql: first.sql + " ")
            await #expect(throws: PostgreSQLError.migrationChanged(version: 1)) {
                try await runner([changed, second]).migrate(on: pool)
            }
        }
    }

    @Test func migrationGapIsRejected() async throws {
        try await withPool { pool in
            try await runner([first, second]).migrate(on: pool)
            try await pool.withConnection { connection in
                try await connection.execute("DELETE FROM app.schema_migrations WHERE version = 1")
            }
            await #expect(throws: PostgreSQLError.migrationGap(version: 1)) {
                try await runner([first, second]).migrate(on: pool)
            }
        }
    }

    @Test func migrationNumberingMustBeConsecutiveFromOne() {
        #expect(throws: PostgreSQLError.migrationNumbering) { try runner([second]) }
        #expect(throws: PostgreSQLError.migrationNumbering) { try runner([second, first]) }
        #expect(throws: Never.self) { try runner([]) }
    }

    @Test func migrationsRunAsRoleAfterPrelude() async throws {
        try await withPool { pool in
            let name: String = try await pool.withConnection {
                try await $0.execute("SELECT 'owner_' || current_database()").one().decode(at: 0)
            }
            let runner = try MigrationRunner(
                [first], schema: "app", lockKey: 4711, role: name,
                prelude: "CREATE ROLE \(name); CREATE SCHEMA app AUTHORIZATION \(name);")
            try await runner.migrate(on: pool)
            try await pool.withConnection { connection in
                let owners = try await connection.execute(
                    "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'app'")
                #expect(try owners.map { try $0.decode(at: 0, as: String.self) } == [name])
                try await connection.execute("DROP OWNED BY \(identifier: name)")
                try await connection.execute("DROP ROLE \(identifier: name)")
            }
        }
    }

    @Test func settingsOfMigrationAreReset() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let setting = Migration(version: 1, name: "setting", sql: "SET search_path = nowhere;")
            try await runner([setting]).migrate(on: pool)
            let path: String = try await pool.withConnection {
                try await $0.execute("SHOW search_path").one().decode(at: 0)
            }
            #expect(path == #""$user", public"#)
        }
    }

    /// Statements that come after a waiting migration wait, too.
    @Test func migrationGivesUpAtLockTimeout() async throws {
        try await withPool { pool in
            try await runner([first]).migrate(on: pool)
            let impatient = try MigrationRunner(
                [first, second], schema: "app", lockKey: 4711, lockTimeout: .milliseconds(50))
            try await pool.withTransaction { transaction in
                try await transaction.execute("LOCK app.place IN ACCESS SHARE MODE")
                let error = await #expect(throws: PostgreSQLError.self) {
                    try await impatient.migrate(on: pool)
                }
                guard case .migrationFailed(2, "names", let cause) = error else {
                    Issue.record("not named: \(String(describing: error))")
                    return
                }
                #expect(cause.sqlState == "55P03")
            }
            let applied = try await impatient.migrate(on: pool)
            #expect(applied == [second])
        }
    }

    /// A migration has a statement with a weak lock and one with a strong lock. Another transaction reads and then writes. Neither
    /// fails.
    @Test func migrationTakesItsLocksFirst() async throws {
        try await withPool({ $0.maximumConnections = 4 }) { pool in
            let indexed = Migration(
                version: 1, name: "places", sql: first.sql + " CREATE INDEX old ON app.place (id);")
            let exchange = Migration(
                version: 2, name: "index", sql: "CREATE INDEX new ON app.place (id); DROP INDEX app.old;")
            try await runner([indexed]).migrate(on: pool)
            let runner = try MigrationRunner(
                [indexed, exchange], schema: "app", lockKey: 4711, lockTimeout: .seconds(600))
            let (read, reading) = AsyncStream.makeStream(of: Void.self)
            async let applied = {
                for await _ in read {}
                return try await runner.migrate(on: pool)
            }()
            try await pool.withTransaction { transaction in
                try await transaction.execute("SELECT id FROM app.place")
                reading.finish()
                var isWaitedFor = false
                while !isWaitedFor {
                    try Task.checkCancellation()
                    isWaitedFor = try await pool.withConnection { connection in
                        try await connection.execute(
                            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'app.place'::regclass)"
                        ).one().decode(at: 0)
                    }
                }
                try await transaction.execute("INSERT INTO app.place VALUES (2)")
            }
            #expect(try await applied == [exchange])
        }
    }

    /// The number of attempts is limited, so that other transactions continue under load.
    @Test func migrationWithoutLockIsRetried() async throws {
        try await withPool({ $0.maximumConnections = 4 }) { pool in
            try await runner([first]).migrate(on: pool)
            let patient = try MigrationRunner(
                [first, second], schema: "app", lockKey: 4711, lockTimeout: .milliseconds(50),
                attempts: 10_000)
            let (locked, lock) = AsyncStream.makeStream(of: Void.self)
            async let applied = {
                for await _ in locked {}
                return try await patient.migrate(on: pool)
            }()
            try await pool.withTransaction { transaction in
                try await transaction.execute("LOCK app.place IN ACCESS SHARE MODE")
                lock.finish()
                var attempts: Set<String> = []
                // When a second attempt waits, the first one has given up.
                while attempts.count < 2 {
                    try Task.checkCancellation()
                    attempts.formUnion(
                        try await pool.withConnection { connection in
                            try await connection.execute(
                                """
                                SELECT virtualtransaction FROM pg_locks
                                WHERE NOT granted AND relation = 'app.place'::regclass
                                """
                            ).map { try $0.decode(at: 0) }
                        })
                }
            }
            #expect(try await applied == [second])
        }
    }
}
