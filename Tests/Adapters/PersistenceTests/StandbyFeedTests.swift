import Administration
import EmbeddedPostgreSQL
import Foundation
import Invocation
import Lookups
import Persistence
import PostgreSQL
import ProcessSupport
import Tenancy
import TestSupport
import Testing

/// A feed that reads from a standby, which knows only the transactions that it has replayed.
@Suite(.timeLimit(.minutes(30))) struct StandbyFeedTests {
    /// A snapshot of a standby does not list the running transactions one by one. A feed that relied on such a list would skip the
    /// transaction that began first. [PostgreSQL, `GetSnapshotData`]
    @Test func standbyFeedSeesTransactionsOnceTheyEnd() async throws {
        try await Self.withPair { pair in
            let followed = FollowedTable(pair.standby)
            func seen(_ identifiers: [String]) async throws -> [String] {
                let table = try await followed.refreshed().of(pair.tenant)
                return try identifiers.filter { try table.location(LocationIdentifier($0)) != nil }
            }
            for isPromoted in [false, true] {
                let written = ["a", "b", "late"].map { "\($0)-\(isPromoted)" }
                try await pair.primary.withTransaction { transaction in
                    try await pair.insert(written[2], by: transaction)
                    for count in 1...2 {
                        try await pair.primary.withTransaction {
                            try await pair.insert(written[count - 1], by: $0)
                        }
                        try await pair.waitForReplay()
                        #expect(try await seen(written) == Array(written.prefix(count)))
                    }
                }
                try await pair.waitForReplay()
                if isPromoted {
                    let isDone: Bool = try await pair.standby.withConnection {
                        try await $0.execute("SELECT pg_promote(true, 600)").one().decode(at: 0)
                    }
                    #expect(isDone)
                }
                #expect(try await seen(written) == written)
            }
            try await pair.standby.withTransaction { try await pair.insert("promoted", by: $0) }
            #expect(try await seen(["promoted"]) == ["promoted"])
            let events = followed.events()
            // Before the promotion, the standby refuses writes.
            #expect(events.filter { $0.hasPrefix("standby") } == ["standby true", "standby false"])
            // The feed never reloaded the index, which would hide skipped changes.
            #expect(
                events.filter { $0.hasPrefix("loaded") } == [
                    "loaded 0 experiences, 1 locations, 0 unreadable"
                ])
        }
    }

    /// A primary and a standby, and a tenant.
    private struct Pair {
        let primary: ConnectionPool
        let standby: ConnectionPool
        let tenant: TenantID

        func insert(_ identifier: String, by transaction: Transaction) async throws {
            try await transaction.setTenant(tenant.description)
            try await transaction.execute(
                """
                INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius)
                VALUES (\(tenant.uuid), \(identifier), 'A place', 1, 2, 3)
                """)
        }

        /// Waits until the standby has replayed all commits.
        func waitForReplay() async throws {
            let written: String = try await primary.withConnection {
                try await $0.execute("SELECT pg_current_wal_flush_lsn()::text").one().decode(at: 0)
            }
            try await standby.withConnection { connection in
                while try await connection.execute(
                    "SELECT 1 WHERE pg_last_wal_replay_lsn() >= \(written)::pg_lsn"
                ).isEmpty {
                    try Task.checkCancellation()
                }
            }
        }
    }

    private static func withPair(_ body: (Pair) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (first, second) = (
            directory.appendingPathComponent("primary"), directory.appendingPathComponent("standby")
        )
        let tenant = try await withServer(first) { pool in
            _ = try await Schema.migrate(pool)
            return try await PostgresAdministrationStore(pool, actor: "operator:alice")
                .createTenant(slug: TenantSlug("acme"), name: DisplayName("Acme")).id
        }
        // The folder of a stopped server is a base backup.
        try #require(
            !FileManager.default.fileExists(atPath: first.appendingPathComponent("data/postmaster.pid").path))
        let copy = Process()
        copy.executableURL = URL(fileURLWithPath: "/bin/cp")
        copy.arguments = ["-a", first.path, second.path]
        try #require(try await copy.runToEnd() == 0)
        let signal = second.appendingPathComponent("data/standby.signal").path
        try #require(FileManager.default.createFile(atPath: signal, contents: nil))
        try await withServer(first) { primary in
            let settings = ["primary_conninfo": primary.configuration.conninfo]
            try await withServer(second, settings) { standby in
                try await body(Pair(primary: primary, standby: standby, tenant: tenant))
            }
        }
    }

    private static func withServer<R: Sendable>(
        _ directory: URL, _ settings: [String: String] = [:], _ body: (ConnectionPool) async throws -> R
    ) async throws -> R {
        let server = try await EmbeddedServer.startOrJoin(
            directory: directory.path, options: EmbeddedServerOptions(settings: settings))
        defer { try? server.leave() }
        return try await ConnectionPool.withPool(.forBusyMachines(conninfo: server.conninfo), body)
    }
}
