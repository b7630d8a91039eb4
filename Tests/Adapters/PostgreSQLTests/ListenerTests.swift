import PostgreSQL
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(30))) struct ListenerTests {
    @Test func notificationsArriveInOrderAndAfterConnectionLoss() async throws {
        try await TestServer.withDatabase { conninfo in
            let pool = ConnectionPool(.forBusyMachines(conninfo: conninfo))
            let listener = try Listener(
                PoolConfiguration.forBusyMachines(conninfo: conninfo, applicationName: "listener"),
                channels: ["one", #"T"wo"#])
            let events = listener.makeAsyncIterator()
            func notify(_ channel: String, _ payload: String) async throws {
                try await pool.withTransaction {
                    try await $0.execute("SELECT pg_notify(\(channel), \(payload))")
                }
            }
            func received(_ channel: String, _ payload: String) async -> Bool {
                guard case .notification(let notification) = await events.next() else { return false }
                return notification.channel == channel && notification.payload == payload
            }

            #expect(await events.next() == .listening)
            try await notify("one", "a")
            try await notify(#"T"wo"#, "é")
            try await notify("three", "not listened to")
            try await notify("one", "")
            #expect(await received("one", "a"))
            #expect(await received(#"T"wo"#, "é"))
            #expect(await received("one", ""))

            try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = 'listener' AND datname = current_database()
                    """)
            }
            #expect(await events.next() == .interrupted(.connectionLost))
            #expect(await events.next() == .listening)
            try await notify("one", "b")
            #expect(await received("one", "b"))
            await pool.close()
        }
    }

    @Test func listenerEndsWhenReaderIsCancelled() async throws {
        try await TestServer.withDatabase { conninfo in
            let pool = ConnectionPool(.forBusyMachines(conninfo: conninfo))
            func connectionCount() async throws -> Int {
                try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE application_name = 'listener' AND datname = current_database()
                        """
                    ).one().decode(at: 0)
                }
            }
            let listener = try Listener(
                PoolConfiguration.forBusyMachines(conninfo: conninfo, applicationName: "listener"),
                channels: ["none"])
            let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
            let reader = Task {
                for await event in listener { continuation.yield(event) }
            }
            #expect(await events.first { _ in true } == .listening)
            #expect(try await connectionCount() == 1)
            reader.cancel()
            await reader.value
            #expect(await listener.makeAsyncIterator().next() == nil)
            // The thread of the listener closes the connection, although the listener is still referenced.
            while try await connectionCount() > 0 { try Task.checkCancellation() }
            await pool.close()
        }
    }

    @Test func unreachableServerIsReportedAndRetried() async throws {
        let listener = try Listener(PoolConfiguration(conninfo: "host=/nowhere"), channels: ["none"])
        let events = listener.makeAsyncIterator()
        for _ in 0..<2 {
            guard case .interrupted(.connectFailed) = await events.next() else {
                Issue.record("no report")
                return
            }
        }
    }
}
