import Foundation
import PostgreSQL
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(30))) struct PoolTests {
    @Test func leasedConnectionsNeverExceedMaximum() async throws {
        try await withPool({ $0.maximumConnections = 3 }) { pool in
            let leased = Shared((now: 0, most: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<30 {
                    group.addTask {
                        try await pool.withTransaction { transaction in
                            leased.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                            try await transaction.execute("SELECT 1")
                            leased.change { $0.now -= 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(leased.value.most <= 3)
            #expect(pool.statistics.busy == 0 && pool.statistics.waiting == 0)
        }
    }

    @Test func waitersAreServedInOrder() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let order = Shared<[Int]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await pool.withConnection { _ in
                    for number in 0..<10 {
                        group.addTask {
                            try await pool.withConnection { _ in order.change { $0.append(number) } }
                        }
                        try await until { pool.statistics.waiting == number + 1 }
                    }
                }
                try await group.waitForAll()
            }
            #expect(order.value == Array(0..<10))
            // The first task waited, too, for its connection to open.
            #expect(pool.waits.count >= 10 && pool.waits.duration > .zero)
        }
    }

    @Test func waitingTimesOut() async throws {
        try await withPool({
            $0.maximumConnections = 1
            $0.acquireTimeout = .milliseconds(50)
        }) { pool in
            // Opening the first connection may take long.
            try await until { (try? await pool.withConnection { _ in true }) == true }
            try await pool.withConnection { _ in
                await #expect(throws: PostgreSQLError.timeout(.acquiring)) {
                    try await pool.withConnection { _ in }
                }
            }
            #expect(pool.statistics.waiting == 0)
        }
    }

    @Test func passedDeadlineFailsAtOnce() async throws {
        try await withPool({ $0.acquireTimeout = .zero }) { pool in
            await #expect(throws: PostgreSQLError.timeout(.acquiring)) {
                try await pool.withConnection { _ in }
            }
        }
    }

    @Test func excessWaitersAreRejected() async throws {
        try await withPool({
            $0.maximumConnections = 1
            $0.maximumWaiters = 1
        }) { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await pool.withConnection { _ in
                    group.addTask { try await pool.withConnection { _ in } }
                    try await until { pool.statistics.waiting == 1 }
                    await #expect(throws: PostgreSQLError.poolExhausted) {
                        try await pool.withConnection { _ in }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func cancelledWaiterLeavesAtOnce() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            try await pool.withConnection { _ in
                let waiter = Task { try await pool.withConnection { _ in } }
                try await until { pool.statistics.waiting == 1 }
                waiter.cancel()
                await #expect(throws: PostgreSQLError.cancelled) { try await waiter.value }
                #expect(pool.statistics.waiting == 0)
            }
        }
    }

    @Test func cancelledStatementStopsAndConnectionIsReplaced() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let (processes, continuation) = AsyncStream.makeStream(of: Int32.self)
            let task = Task {
                try await pool.withTransaction { transaction in
                    continuation.yield(try await transaction.process())
                    try await transaction.execute("SELECT pg_sleep(600)")
                }
            }
            let process = try #require(await processes.first { _ in true })
            try await TestServer.administration().withConnection { connection in
                try await until {
                    try await connection.execute(
                        "SELECT 1 FROM pg_stat_activity WHERE pid = \(process) AND wait_event = 'PgSleep'"
                    ).count == 1
                }
                task.cancel()
                await #expect(throws: PostgreSQLError.cancelled) { try await task.value }
                // The server was told to cancel the statement, so it does not sleep on.
                try await until {
                    try await connection.execute("SELECT 1 FROM pg_stat_activity WHERE pid = \(process)")
                        .isEmpty
                }
            }
            let next = try await pool.withConnection { try await $0.process() }
            #expect(next != process)
        }
    }

    @Test func cancelledTaskDoesNotBegin() async throws {
        try await withPool { pool in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await pool.withConnection { _ in }
            }
            task.cancel()
            await #expect(throws: PostgreSQLError.cancelled) { try await task.value }
            #expect(pool.statistics.busy == 0)
        }
    }

    /// Statements of a cancelled task are not sent, so they do not run and do not cost their connection.
    @Test func statementsOfCancelledTaskAreNotSent() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            let before = try await pool.withConnection { try await $0.process() }
            try await pool.withConnection { try await $0.execute("CREATE TABLE t (id int8)") }
            let (began, continuation) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                var refused = 0
                try await pool.withConnection { connection in
                    continuation.yield()
                    while !Task.isCancelled { await Task.yield() }
                    for number in 0..<10 {
                        await #expect(throws: PostgreSQLError.cancelled) {
                            try await connection.execute("INSERT INTO t VALUES (\(number))")
                        }
                        refused += 1
                    }
                }
                return refused
            }
            _ = await began.first { _ in true }
            task.cancel()
            let refused = try await task.value
            #expect(refused == 10)
            let (after, rows) = try await pool.withConnection { connection in
                (try await connection.process(), try await connection.execute("TABLE t").count)
            }
            #expect(before == after && rows == 0)
        }
    }

    @Test func endlesslySendingServerDoesNotEvadeTheDeadline() async throws {
        try await withPool({ $0.statementTimeout = .milliseconds(300) }) { pool in
            await #expect(throws: PostgreSQLError.timeout(.statement)) {
                try await pool.withConnection { connection in
                    try await connection.execute(
                        script: """
                            DO $$BEGIN LOOP RAISE NOTICE '%', repeat('x', 1000); END LOOP; END$$
                            """)
                }
            }
        }
    }

    /// No duration is too long for a clock or for the server's `statement_timeout`.
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(3_000_000), .milliseconds(-5)])
    func extremeDurationsAreAccepted(limit: Duration) async throws {
        try await withPool({ $0.acquireTimeout = .seconds(Int64.max) }) { pool in
            let mode = TransactionMode(statementTimeout: limit)
            if limit < .zero {
                await #expect(throws: PostgreSQLError.timeout(.statement)) {
                    try await pool.withTransaction(mode) { try await $0.execute("SELECT 1") }
                }
            } else {
                let count = try await pool.withTransaction(mode) { try await $0.execute("SELECT 1").count }
                #expect(count == 1)
            }
        }
    }

    /// The server accepts the connection and never responds.
    @Test(.enabled(if: isServerOurs, "its processes may be on another machine"))
    func silentConnectionIsReplaced() async throws {
        try await withPool({
            $0.maximumConnections = 1
            $0.acquireTimeout = .seconds(120)
        }) { pool in
            let process = try await pool.withTransaction { try await $0.process() }
            kill(process, SIGSTOP)
            defer { kill(process, SIGCONT) }
            let next = try await pool.withTransaction { try await $0.process() }
            #expect(next != process)
        }
    }

    @Test func statementTimesOut() async throws {
        try await withPool({ $0.maximumConnections = 1 }) { pool in
            await #expect(throws: PostgreSQLError.timeout(.statement)) {
                try await pool.withTransaction(TransactionMode(statementTimeout: .milliseconds(200))) {
                    transaction in
                    try await transaction.execute("SELECT pg_sleep(600)")
                }
            }
            let result = try await pool.withConnection { try await $0.execute("SELECT 1") }
            #expect(result.count == 1)
        }
    }

    @Test func unreachableServerFailsEachUseWithoutShowingPassword() async throws {
        let pool = ConnectionPool(
            PoolConfiguration(
                conninfo: "host=/nowhere,127.0.0.1 port=1 password=hunter2", maximumConnections: 2))
        for _ in 0..<3 {
            let error = await #expect(throws: PostgreSQLError.self) { try await pool.withConnection { _ in } }
            #expect(error?.code == "connect_failed")
            #expect(error?.description.contains("hunter2") == false)
        }
        await pool.close()
    }

    @Test(.enabled(if: isServerOurs, "the test server is not our own"))
    func secondHostServesIfFirstIsSilent() async throws {
        // A socket that listens and never responds.
        let silent = try SilentServer()
        let conninfo = try await TestServer.conninfo()
        let keywords = try #require(conninfo.wholeMatch(of: #/host='([^']+)' port=5432 (.*)/#))
        let pool = ConnectionPool(
            PoolConfiguration(
                conninfo:
                    "host=127.0.0.1,\(keywords.1) port=\(silent.port),5432 \(keywords.2) sslmode=disable",
                acquireTimeout: .seconds(600), connectTimeout: .seconds(6)))
        #expect(try await pool.withConnection { try await $0.execute("SELECT 1") }.count == 1)
        await pool.close()
    }

    @Test func malformedConnectionStringFailsFirstUse() async throws {
        let pool = ConnectionPool(PoolConfiguration(conninfo: "nonsense"))
        await #expect(throws: PostgreSQLError.connectionString) { try await pool.withTransaction { _ in } }
        await pool.close()
    }

    @Test func closedPoolRejectsUse() async throws {
        try await withPool { pool in
            try await pool.withConnection { try await $0.execute("SELECT 1") }
            await pool.close()
            await pool.close()
            await #expect(throws: PostgreSQLError.poolClosed) { try await pool.withConnection { _ in } }
        }
    }

    /// Wherever `close` interrupts, no connection remains for which it would have to wait.
    @Test func closingDuringConnectingLeavesNoConnection() async throws {
        let conninfo = try await TestServer.conninfo()
        for round in 0..<40 {
            let pool = ConnectionPool(
                PoolConfiguration.forBusyMachines(conninfo: conninfo, maximumConnections: 4))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        do {
                            try await pool.withConnection { _ in }
                        } catch {
                            #expect(error as? PostgreSQLError == .poolClosed)
                        }
                    }
                }
                for _ in 0..<round { await Task.yield() }
                let duration = await ContinuousClock().measure { await pool.close(within: .seconds(600)) }
                #expect(duration < .seconds(600))
            }
        }
    }

    @Test func closingWaitsForLeasedConnections() async throws {
        try await withPool { pool in
            let (began, continuation) = AsyncStream.makeStream(of: Void.self)
            let user = Task {
                try await pool.withTransaction { transaction in
                    continuation.yield()
                    try await until { (try? await pool.withConnection { _ in }) == nil }
                    return try await transaction.execute("SELECT 1").count
                }
            }
            _ = await began.first { _ in true }
            await pool.close()
            let result = try await user.value
            #expect(result == 1)
        }
    }

    @Test func closingStopsWaitingAtItsTimeout() async throws {
        try await withPool { pool in
            let (began, continuation) = AsyncStream.makeStream(of: Void.self)
            let user = Task {
                try await pool.withTransaction { transaction in
                    continuation.yield()
                    try await transaction.execute("SELECT pg_sleep(600)")
                }
            }
            _ = await began.first { _ in true }
            await pool.close(within: .milliseconds(50))
            await #expect(throws: PostgreSQLError.poolClosed) { try await user.value }
        }
    }

    @Test func closingDoesNotWaitForLeaseThatNeverEnds() async throws {
        try await withPool { pool in
            let (began, continuation) = AsyncStream.makeStream(of: Void.self)
            let user = Task {
                try await pool.withConnection { _ in
                    continuation.yield()
                    try await until { false }
                }
            }
            _ = await began.first { _ in true }
            await pool.close(within: .zero)
            user.cancel()
            await #expect(throws: CancellationError.self) { try await user.value }
        }
    }

    @Test func idleConnectionsAreClosed() async throws {
        try await withPool({ $0.idleTimeout = .milliseconds(20) }) { pool in
            try await pool.withConnection { try await $0.execute("SELECT 1") }
            try await until { pool.statistics.idle == 0 }
            #expect(try await pool.withConnection { try await $0.execute("SELECT 1") }.count == 1)
        }
    }

    @Test(arguments: ["LATIN1", "SQL_ASCII", "WIN1252"])
    func databaseInAnotherEncodingIsRejected(_ encoding: String) async throws {
        try await TestServer.withDatabase(encoding: encoding) { conninfo in
            try await ConnectionPool.withPool(.forBusyMachines(conninfo: conninfo)) { pool in
                let error = await #expect(throws: PostgreSQLError.databaseEncoding(encoding)) {
                    try await pool.withConnection { try await $0.execute("SELECT 1") }
                }
                #expect(error?.description.contains("must be UTF8; got \(encoding)") == true)
                #expect(error?.isNoResponse == false && error?.isRetryable == false)
            }
        }
    }

    @Test func demotedPrimaryIsLeft() async throws {
        try await withPool({ $0.maximumConnections = 2 }) { pool in
            func processes() async throws -> [Int32] {
                try await pool.withConnection { one in
                    try await pool.withConnection { two in [try await one.process(), try await two.process()]
                    }
                }
            }
            let before = try await processes()
            let error = await #expect(throws: PostgreSQLError.self) {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("SET TRANSACTION READ ONLY")
                    try await transaction.execute("CREATE TABLE t ()")
                }
            }
            #expect(error?.sqlState == "25006" && error?.isRetryable == true)
            let after = try await processes()
            #expect(Set(before).isDisjoint(with: after))
        }
    }
}
