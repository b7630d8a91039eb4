import Administration
import Foundation
import Persistence
import PostgreSQL
import TestSupport
import Testing

@Suite struct ServersTests {
    @Test func serverRunsUntilItEndsOrIsNoLongerSeen() async throws {
        try await Stores.withStores { stores in
            let servers = PostgresServers(stores.routerPool)
            let (first, second) = (UUID(), UUID())
            #expect(try await servers.all() == [])
            try await servers.note(first, host: "one", version: "1.0")
            try await servers.note(second, host: String(repeating: "x", count: 300), version: "1.1")
            try await servers.note(first, host: "one", version: "1.0")
            #expect(try await servers.all().map(\.host) == ["one", String(repeating: "x", count: 255)])
            #expect(try await servers.all().allSatisfy { $0.isRunning && $0.endedAt == nil })

            try await servers.end(first)
            var ended = try #require(try await servers.all().first)
            #expect(ended.host == "one" && !ended.isRunning && ended.endedAt == ended.seenAt)
            #expect(ended.startedAt < ended.seenAt && ended.version == "1.0")

            // Two records were missed, and a third is late.
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        script:
                            "UPDATE doorstep.servers SET seen_at = now() - interval '36 seconds' WHERE host <> 'one'"
                    )
                }
            }
            #expect(try await servers.all().map(\.isRunning) == [false, false])
            try await servers.note(second, host: "ignored", version: "1.1")
            #expect(try await servers.all().map(\.isRunning) == [true, false])

            // Old rows are deleted by the next record.
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        script:
                            "UPDATE doorstep.servers SET seen_at = now() - interval '8 days' WHERE host = 'one'"
                    )
                }
            }
            try await servers.note(second, host: "ignored", version: "1.1")
            ended = try #require(try await servers.all().first)
            #expect(try await servers.all().count == 1 && ended.isRunning)
        }
    }

    @Test func serversListIsLimited() async throws {
        try await Stores.withStores { stores in
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        script: """
                            INSERT INTO doorstep.servers (server_id, host, version, seen_at)
                            SELECT gen_random_uuid(), 'h' || n, '1', now() - n * interval '1 second' FROM generate_series(1, 150) AS n
                            """)
                }
            }
            let listed = try await PostgresServers(stores.routerPool).all()
            #expect(listed.count == 100 && listed.first?.host == "h1")
        }
    }
}
