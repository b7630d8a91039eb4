public import Administration
public import Foundation
public import PostgreSQL

/// The servers of a deployment, which write the time regularly while they run. The role is `doorstep_router`, and times are the
/// database's.
public struct PostgresServers: Sendable {
    /// The first schema version with these records.
    static let schemaVersion = 40

    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// The maximum number of stored servers. [ours]
    private static let maximumCount = 100

    /// Records that a server runs, and deletes the rows of servers that were not seen for a week, and of the oldest ones beyond 100.
    /// [ours]
    public func note(_ server: UUID, host: String, version: String) async throws {
        try await write { transaction in
            _ = try await transaction.execute(
                """
                INSERT INTO doorstep.servers (server_id, host, version)
                VALUES (\(server), left(\(host), 255), left(\(version), 64))
                ON CONFLICT (server_id) DO UPDATE SET seen_at = now()
                """)
            _ = try await transaction.execute(
                """
                DELETE FROM doorstep.servers WHERE seen_at < now() - interval '7 days' OR server_id NOT IN (
                    SELECT server_id FROM doorstep.servers ORDER BY seen_at DESC, server_id LIMIT \(Self.maximumCount))
                """)
        }
    }

    /// Records that a server stops.
    public func end(_ server: UUID) async throws {
        try await write { transaction in
            _ = try await transaction.execute(
                "UPDATE doorstep.servers SET (seen_at, ended_at) = (now(), now()) WHERE server_id = \(server)"
            )
        }
    }

    /// A lost record is soon repeated, so that the commit need not wait for a disk or a standby.
    private func write(_ body: (Transaction) async throws -> Void) async throws {
        try await pool.withTransaction(as: .router, .readWrite) { transaction in
            _ = try await transaction.execute("SET LOCAL synchronous_commit = off")
            try await body(transaction)
        }
    }

    /// The servers, the last seen first.
    public func all() async throws -> [InstallationStatus.Server] {
        try await pool.withTransaction(as: .router) { try await $0.servers() }
    }
}

extension Transaction {
    func servers() async throws -> [InstallationStatus.Server] {
        try await execute(
            """
            SELECT host, version, started_at, seen_at, ended_at,
                ended_at IS NULL AND seen_at > now() - \(InstallationStatus.Server.maximumSilence) * interval '1 second' AS is_running
            FROM doorstep.servers ORDER BY seen_at DESC, server_id LIMIT 100
            """
        ).map { row in
            InstallationStatus.Server(
                host: try row.decode("host", as: String.self),
                version: try row.decode("version", as: String.self),
                startedAt: try row.decode("started_at", as: Date.self),
                seenAt: try row.decode("seen_at", as: Date.self),
                endedAt: try row.decode("ended_at", as: Date?.self),
                isRunning: try row.decode("is_running", as: Bool.self))
        }
    }
}
