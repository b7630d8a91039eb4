import EmbeddedPostgreSQL
import Foundation
import PostgreSQL
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(30))) struct LostConnectionTests {
    @Test func terminatedStatementIsRetryableConnectionLoss() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let (processes, continuation) = AsyncStream.makeStream(of: Int32.self)
            async let outcome: Void = pool.withTransaction { transaction in
                continuation.yield(try await transaction.process())
                try await transaction.execute("SELECT pg_sleep(600)")
            }
            let process = try #require(await processes.first { _ in true })
            try await terminate(process, whenWaitingFor: "PgSleep")
            do {
                try await outcome
                Issue.record("the statement returned")
            } catch let error as PostgreSQLError {
                #expect(error == .connectionLost && error.isRetryable)
            }
            #expect(try await pool.withTransaction { try await $0.execute("SELECT 1") }.count == 1)
        }
    }

    @Test func connectionLostDuringCommitLeavesOutcomeUnknown() async throws {
        try await withPool { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE TABLE t (id int8);
                        CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql
                            AS 'BEGIN PERFORM pg_sleep(600); RETURN NULL; END';
                        CREATE CONSTRAINT TRIGGER t_linger AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                            FOR EACH ROW EXECUTE FUNCTION linger();
                        """)
            }
            let (processes, continuation) = AsyncStream.makeStream(of: Int32.self)
            async let outcome: Void = pool.withTransaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (1)")
                continuation.yield(try await transaction.process())
            }
            let process = try #require(await processes.first { _ in true })
            try await terminate(process, whenWaitingFor: "PgSleep")
            do {
                try await outcome
                Issue.record("the transaction was called committed")
            } catch let error as PostgreSQLError {
                #expect(error == .outcomeUnknown && !error.isRetryable)
            }
        }
    }

    /// The server confirms COMMIT with a warning that the standby may not have the transaction.
    @Test func commitNotConfirmedByStandbyLeavesOutcomeUnknown() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = try await EmbeddedServer.startOrJoin(
            directory: directory,
            options: EmbeddedServerOptions(
                settings: ["synchronous_standby_names": "nobody", "synchronous_commit": "local"]))
        defer { try? server.leave() }
        // Even a login that hides warnings must not hide this one.
        let conninfo = "\(server.conninfo) options='-c client_min_messages=error'"
        let pool = ConnectionPool(.forBusyMachines(conninfo: conninfo))
        try await pool.withConnection { try await $0.execute("CREATE TABLE t (id int8)") }
        let (processes, continuation) = AsyncStream.makeStream(of: Int32.self)
        async let outcome: Void = pool.withTransaction { transaction in
            try await transaction.execute("SET LOCAL synchronous_commit = on")
            try await transaction.execute("INSERT INTO t VALUES (1)")
            continuation.yield(try await transaction.process())
        }
        let process = try #require(await processes.first { _ in true })
        try await pool.withConnection { connection in
            try await until {
                try await connection.execute(
                    "SELECT 1 FROM pg_stat_activity WHERE pid = \(process) AND wait_event = 'SyncRep'"
                ).count == 1
            }
            try await connection.execute("SELECT pg_cancel_backend(\(process))")
        }
        do {
            try await outcome
            Issue.record("the transaction was called committed")
        } catch let error as PostgreSQLError {
            #expect(error == .outcomeUnknown)
        }
        await pool.close()
    }

    /// This happens behind a proxy that already leads to a node before its promotion.
    @Test func writeTransactionAtStandbyIsRetryable() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let primary = try await EmbeddedServer.startOrJoin(directory: directory)
        let data = try await ConnectionPool.withPool(.forBusyMachines(conninfo: primary.conninfo)) { pool in
            try await pool.withConnection {
                try await $0.execute("SHOW data_directory").one().decode(at: 0, as: String.self)
            }
        }
        try primary.leave()
        #expect(FileManager.default.createFile(atPath: "\(data)/standby.signal", contents: nil))
        let standby = try await EmbeddedServer.startOrJoin(directory: directory)
        defer { try? standby.leave() }
        try await ConnectionPool.withPool(.forBusyMachines(conninfo: standby.conninfo)) { pool in
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { try await $0.execute("CREATE TABLE t ()") }
            }
            #expect(error?.sqlState == "0A000" && error?.isRetryable == true)
            let isStandby = try await pool.withTransaction(.readOnly) {
                try await $0.execute("SELECT pg_is_in_recovery()").one().decode(at: 0, as: Bool.self)
            }
            #expect(isStandby)
        }
    }

    @Test func refusedCommitIsRolledBack() async throws {
        try await withPool { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    "CREATE TABLE t (id int8 CONSTRAINT late UNIQUE DEFERRABLE INITIALLY DEFERRED)")
            }
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { try await $0.execute("INSERT INTO t VALUES (1), (1)") }
            }
            #expect(error?.isUniqueViolation("late") == true)
            #expect(try await pool.withConnection { try await $0.execute("TABLE t") }.isEmpty)
        }
    }

    @Test(.enabled(if: isServerOurs, "its processes may be on another machine"))
    func connectionLostBeforeCommitIsAKnownOutcome() async throws {
        try await withPool { pool in
            await #expect(throws: PostgreSQLError.connectionLost) {
                try await pool.withTransaction { transaction in
                    let process = try await transaction.process()
                    try await terminate(process, whenWaitingFor: "ClientRead")
                    try await until { kill(process, 0) != 0 }
                }
            }
        }
    }

    /// Outside a transaction, each statement commits by itself.
    @Test(arguments: ["SELECT pg_sleep(600)", "SELECT 1; SELECT pg_sleep(600)"])
    func statementOutsideTransactionLeavesOutcomeUnknown(sql: String) async throws {
        try await withPool { pool in
            let (processes, continuation) = AsyncStream.makeStream(of: Int32.self)
            async let outcome: Void = pool.withConnection { connection in
                continuation.yield(try await connection.process())
                if sql.contains(";") {
                    try await connection.execute(script: sql)
                } else {
                    try await connection.execute("\(unsafeSQL: sql)")
                }
            }
            let process = try #require(await processes.first { _ in true })
            try await terminate(process, whenWaitingFor: "PgSleep")
            do {
                try await outcome
                Issue.record("the statement returned")
            } catch let error as PostgreSQLError {
                #expect(error == .outcomeUnknown && !error.isRetryable)
            }
        }
    }

    @Test func savepointReportsWhyItsClosureEnded() async throws {
        try await withPool { pool in
            await #expect(throws: PostgreSQLError.timeout(.statement)) {
                try await pool.withTransaction(TransactionMode(statementTimeout: .milliseconds(200))) {
                    transaction in
                    try await transaction.withSavepoint {
                        try await transaction.execute("SELECT pg_sleep(600)")
                    }
                }
            }
        }
    }

    @Test func deadConnectionsAreReplaced() async throws {
        try await withPool({ $0.maximumConnections = 2 }) { pool in
            for _ in 0..<10 {
                let process = try await pool.withConnection { try await $0.process() }
                try await terminate(process, whenWaitingFor: "ClientRead")
                // Whether the loss was noticed before or is noticed now.
                #expect(try await pool.withTransaction { try await $0.execute("SELECT 1") }.count == 1)
            }
        }
    }

    /// Each result belongs to its own statement, although connections break meanwhile.
    @Test func resultsMatchTheirStatementsDuringConnectionLoss() async throws {
        try await withPool({ $0.maximumConnections = 8 }) { pool in
            let isDone = Shared(false)
            let responses = Shared(0)
            func response(_ number: Int) async throws -> Int {
                while true {
                    do {
                        if number % 2 == 0 {
                            return try await pool.withTransaction { transaction in
                                try await transaction.execute("SELECT \(number), \(String(number))::text")
                                    .one()
                                    .decode(Int.self, String.self).0
                            }
                        }
                        return try await pool.withConnection { connection in
                            try await connection.execute("SELECT \(number)").one().decode(at: 0)
                        }
                    } catch let error as PostgreSQLError {
                        switch error {
                        case .connectionLost, .outcomeUnknown, .connectFailed: continue
                        default: throw error
                        }
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await pool.withTransaction(.readOnly) { try await $0.execute("SELECT 1") }
                    let database: String = try await pool.withConnection {
                        try await $0.execute("SELECT current_database()").one().decode(at: 0)
                    }
                    var seen = 0
                    while !isDone.value {
                        // The test waits for progress, not for a time: a slow machine might never respond in time.
                        let isWorking = responses.value >= seen + 32
                        if isWorking { seen = responses.value }
                        try await TestServer.administration().withConnection { connection in
                            if isWorking {
                                try await connection.execute(
                                    """
                                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                    WHERE datname = \(database) ORDER BY random() LIMIT 1
                                    """)
                            }
                            try await connection.execute("SELECT pg_sleep(0.01)")
                        }
                    }
                }
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for task in 0..<64 {
                        tasks.addTask {
                            for index in 0..<200 {
                                let number = task * 1000 + index
                                let answered = try await response(number)
                                #expect(answered == number)
                                responses.change { $0 += 1 }
                            }
                        }
                    }
                    try await tasks.waitForAll()
                }
                isDone.change { $0 = true }
                try await group.waitForAll()
            }
            #expect(pool.statistics.busy == 0)
        }
    }
}
