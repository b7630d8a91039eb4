import PostgreSQL
import TestSupport
import Testing

struct Refusal: Error, Equatable {}

@Suite(.timeLimit(.minutes(30))) struct TransactionTests {
    private func withTable(_ body: (ConnectionPool) async throws -> Void) async throws {
        try await withPool({ $0.maximumConnections = 2 }) { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE TABLE t (id int8 CONSTRAINT t_key PRIMARY KEY, n int4 CONSTRAINT t_positive CHECK (n > 0));
                        CREATE TABLE u (t int8 CONSTRAINT u_t_fkey REFERENCES t);
                        """)
            }
            try await body(pool)
        }
    }

    private func count(_ pool: ConnectionPool) async throws -> Int {
        try await pool.withTransaction(.readOnly) { transaction in
            try await transaction.execute("SELECT count(*) FROM t").one().decode(at: 0)
        }
    }

    @Test func transactionCommitsWhenClosureReturns() async throws {
        try await withTable { pool in
            try await pool.withTransaction { transaction in
                let result = try await transaction.execute("INSERT INTO t VALUES (1), (2)")
                #expect(result.affectedRows == 2)
            }
            #expect(try await count(pool) == 2)
        }
    }

    @Test func transactionRollsBackWhenClosureThrows() async throws {
        try await withTable { pool in
            await #expect(throws: Refusal()) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    throw Refusal()
                }
            }
            let result = try await count(pool)
            #expect(result == 0)
            #expect(pool.statistics.busy == 0)
        }
    }

    @Test func transactionReportsRollbackIfClosureIgnoresError() async throws {
        try await withTable { pool in
            await #expect(throws: PostgreSQLError.rolledBack) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    _ = try? await transaction.execute("SELECT 1 / 0")
                }
            }
            let result = try await count(pool)
            #expect(result == 0)
        }
    }

    @Test func failedTransactionLeavesConnectionClean() async throws {
        try await withTable { pool in
            let first = try await pool.withTransaction { try await $0.process() }
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("SET LOCAL search_path = nowhere")
                    try await transaction.execute("SELECT set_config('doorstep.tenant_id', 'x', true)")
                    try await transaction.execute("SELECT nonsense")
                }
            }
            #expect(error?.sqlState == "42703")
            try await pool.withTransaction { transaction in
                let (process, path, setting) = try await transaction.execute(
                    """
                    SELECT pg_backend_pid(), current_setting('search_path'),
                        nullif(current_setting('doorstep.tenant_id', true), '')
                    """
                ).one().decode(Int32.self, String.self, String?.self)
                #expect(process == first && path == #""$user", public"# && setting == nil)
            }
        }
    }

    @Test func serverErrorsNameConstraintAndTable() async throws {
        try await withTable { pool in
            func refusal(_ query: Query) async -> PostgreSQLError? {
                await #expect(throws: PostgreSQLError.self) {
                    try await pool.withTransaction { try await $0.execute(query) }
                }
            }
            try await pool.withTransaction { try await $0.execute("INSERT INTO t VALUES (77001)") }
            let unique = await refusal("INSERT INTO t VALUES (\(77001))")
            #expect(unique?.isUniqueViolation("t_key") == true)
            #expect(unique?.isUniqueViolation("other") == false)
            #expect(unique?.serverError?.table == "t")
            #expect(
                unique?.description
                    == "The database refused a statement: ERROR 23505, constraint t_key, table public.t")
            #expect(await refusal("INSERT INTO u VALUES (\(5))")?.isForeignKeyViolation("u_t_fkey") == true)
            #expect(await refusal("INSERT INTO t VALUES (2, \(-1))")?.isCheckViolation("t_positive") == true)
            #expect(await refusal("SELECT FROM nowhere")?.sqlState == "42P01")
        }
    }

    @Test func errorDescriptionsContainNoValues() async throws {
        try await withTable { pool in
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("SELECT \("secret-value")::text::int8")
                }
            }
            #expect(error?.serverError?.message.contains("secret-value") == true)
            let texts = error.map { ["\($0 as any Error)", String(reflecting: $0), $0.description] }
            #expect(texts?.contains { $0.contains("secret-value") } == false)
        }
    }

    @Test func savepointUndoesOnlyItsPart() async throws {
        try await withTable { pool in
            try await pool.withTransaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (1)")
                let error = await #expect(throws: PostgreSQLError.self) {
                    try await transaction.withSavepoint {
                        try await transaction.execute("INSERT INTO t VALUES (2)")
                        try await transaction.withSavepoint {
                            try await transaction.execute("INSERT INTO t VALUES (3)")
                        }
                        try await transaction.execute("INSERT INTO t VALUES (1)")
                    }
                }
                #expect(error?.isUniqueViolation() == true)
                try await transaction.execute("INSERT INTO t VALUES (4)")
            }
            #expect(try await count(pool) == 2)
        }
    }

    @Test func transactionModesReachTheServer() async throws {
        try await withTable { pool in
            func settings(_ mode: TransactionMode) async throws -> [String] {
                try await pool.withTransaction(mode) { transaction in
                    let (isolation, readOnly, timeout) = try await transaction.execute(
                        """
                        SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only'),
                            current_setting('statement_timeout')
                        """
                    ).one().decode(String.self, String.self, String.self)
                    return [isolation, readOnly, timeout]
                }
            }
            let result = try await settings(.readWrite)
            #expect(result == ["read committed", "off", "601s"])
            let result151 = try await settings(.serializable)
            #expect(result151 == ["serializable", "off", "601s"])
            let result152 = try await settings(.snapshot)
            #expect(result152 == ["repeatable read", "on", "601s"])
            let result153 = try await settings(TransactionMode(statementTimeout: .seconds(2)))
            #expect(result153 == ["read committed", "off", "3s"])
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction(.readOnly) { try await $0.execute("INSERT INTO t VALUES (1)") }
            }
            #expect(error?.sqlState == "25006")
        }
    }

    @Test func connectionIsUnusableAfterItsLease() async throws {
        try await withTable { pool in
            let kept = try await pool.withTransaction { $0 }
            await #expect(throws: PostgreSQLError.leaseEnded) { try await kept.execute("SELECT 1") }
            let connection = try await pool.withConnection { $0 }
            await #expect(throws: PostgreSQLError.leaseEnded) { try await connection.execute("SELECT 1") }
        }
    }

    @Test func connectionLeftInTransactionIsDiscarded() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let first = try await pool.withConnection { connection in
                try await connection.execute("BEGIN")
                return try await connection.process()
            }
            let second = try await pool.withConnection { connection in try await connection.process() }
            #expect(first != second)
        }
    }

    /// Session settings of one user do not reach the next user of the connection, however both use it.
    @Test(arguments: [false, true], [false, true])
    func sessionSettingsDoNotReachTheNextLease(setInTransaction: Bool, readInTransaction: Bool) async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let set: Query = """
                SELECT pg_backend_pid(), set_config('doorstep.tenant_id', 'x', false),
                    set_config('role', 'pg_monitor', false), set_config('client_min_messages', 'error', false)
                """
            let setter: Int32 =
                if setInTransaction {
                    try await pool.withTransaction { try await $0.execute(set).one().decode(at: 0) }
                } else {
                    try await pool.withConnection { try await $0.execute(set).one().decode(at: 0) }
                }
            let read: Query = """
                SELECT pg_backend_pid(), coalesce(current_setting('doorstep.tenant_id', true), ''),
                    current_setting('role'), current_setting('client_min_messages')
                """
            let row =
                if readInTransaction {
                    try await pool.withTransaction { try await $0.execute(read).one() }
                } else {
                    try await pool.withConnection { try await $0.execute(read).one() }
                }
            let (reader, tenant, role, messages) = try row.decode(
                Int32.self, String.self, String.self, String.self)
            #expect(setter == reader && tenant == "" && role == "none" && messages == "notice")
        }
    }

    @Test func sessionStateIsDiscardedWithItsLease() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let process = try await pool.withConnection { connection in
                try await connection.execute("SELECT pg_advisory_lock(4711)")
                try await connection.execute("CREATE TEMPORARY TABLE t ()")
                try await connection.execute("LISTEN t")
                try await connection.execute("DECLARE c CURSOR WITH HOLD FOR VALUES (1), (2)")
                return try await connection.process()
            }
            let (same, left) = try await pool.withTransaction { transaction in
                try await transaction.execute(
                    """
                    SELECT pg_backend_pid(),
                        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
                        + (SELECT count(*) FROM pg_listening_channels())
                        + (SELECT count(*) FROM pg_cursors WHERE is_holdable)
                        + (SELECT count(*) FROM pg_class WHERE relpersistence = 't')
                    """
                ).one().decode(Int32.self, Int.self)
            }
            #expect(same == process && left == 0)
        }
    }

    @Test func tooManyParametersAreRejected() async throws {
        try await withPool { pool in
            func query(_ count: Int) -> Query {
                var query = Query.StringInterpolation(literalCapacity: 0, interpolationCount: count)
                query.appendLiteral("VALUES (0)")
                for number in 0..<count {
                    query.appendLiteral(",(")
                    query.appendInterpolation(number)
                    query.appendLiteral(")")
                }
                return Query(stringInterpolation: query)
            }
            let rows = try await pool.withTransaction { try await $0.execute(query(65_535)).count }
            #expect(rows == 65_536)
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { try await $0.execute(query(65_536)) }
            }
            #expect(error?.code == "encoding" && error?.isRetryable == false)
        }
    }

    @Test func transactionEndedByStatementIsNotReportedCommitted() async throws {
        try await withTable { pool in
            await #expect(throws: PostgreSQLError.transactionEnded) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.execute("ROLLBACK")
                }
            }
            let result = try await count(pool)
            #expect(result == 0)
        }
    }

    @Test func serializationFailuresAreRetryable() async throws {
        try await withTable { pool in
            try await pool.withTransaction { try await $0.execute("INSERT INTO t VALUES (1, 1)") }
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction(.serializable) { one in
                    try await one.execute("SELECT n FROM t")
                    try await pool.withTransaction { try await $0.execute("UPDATE t SET n = n + 1") }
                    try await one.execute("UPDATE t SET n = n + 1")
                }
            }
            #expect(error?.sqlState == "40001" && error?.isRetryable == true)
        }
    }

    /// The server cancels the statement, because `statement_timeout` is shorter than the client's deadline.
    @Test func cancelledStatementIsNotRetryable() async throws {
        try await withTable { pool in
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.execute("SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(600)")
                }
            }
            #expect(error?.isCancelledStatement == true && error?.isNoResponse == true)
            #expect(error?.isRetryable == false)
            let result = try await count(pool)
            #expect(result == 0)
        }
    }

    /// The error is recognized by its code. PostgreSQL chooses the name.
    @Test func fullDiskErrorIsRetryable() async throws {
        try await withTable { pool in
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.execute("DO 'BEGIN RAISE disk_full; END'")
                }
            }
            #expect(error?.sqlState == "53100" && error?.isRetryable == true)
            let result = try await count(pool)
            #expect(result == 0)
        }
    }

    @Test func preparedStatementsSurviveSchemaChange() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            try await pool.withConnection { connection in
                try await connection.execute("CREATE TABLE s (a int8)")
                try await connection.execute("INSERT INTO s VALUES (1)")
                let before = try await connection.execute("SELECT * FROM s")
                try await connection.execute("ALTER TABLE s ADD b text")
                let after = try await connection.execute("SELECT * FROM s")
                #expect(before.columns.map(\.name) == ["a"] && after.columns.map(\.name) == ["a", "b"])
                try await connection.execute("DEALLOCATE ALL")
                #expect(try await connection.execute("SELECT * FROM s").count == 1)
            }
        }
    }

    @Test(arguments: [0, 2, 256]) func preparedStatementsAreBounded(capacity: Int) async throws {
        try await withPool({ $0.preparedStatements = capacity }) { pool in
            try await pool.withTransaction { transaction in
                for number in 0..<20 {
                    let query: Query = number % 2 == 0 ? "SELECT \(number)" : "SELECT \(number) + 0"
                    let value: Int = try await transaction.execute(query).one().decode(at: 0)
                    #expect(value == number)
                    try await transaction.execute("SELECT \(number), 'unlike \(identifier: "c\(number)")'")
                }
                let prepared: Int = try await transaction.execute(
                    "SELECT count(*) FROM pg_prepared_statements WHERE \(unsafeSQL: "true")"
                ).one().decode(at: 0)
                #expect(prepared == min(capacity, 22))
            }
        }
    }

    @Test func noticesReachTheHandler() async throws {
        let (notices, continuation) = AsyncStream.makeStream(of: ServerError.self)
        try await withPool({ $0.onNotice = { continuation.yield($0) } }) { pool in
            try await pool.withConnection { connection in
                try await connection.execute(script: "DO $$BEGIN RAISE WARNING 'careful'; END$$")
            }
        }
        continuation.finish()
        let received = await notices.reduce(into: []) { $0.append("\($1.severity) \($1.message)") }
        #expect(received == ["WARNING careful"])
    }
}
