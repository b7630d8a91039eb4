public import Administration
import Foundation
public import PostgreSQL

/// Reads the state of a deployment from its database.
public struct PostgresInstallation: Sendable {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func status() async throws -> InstallationStatus {
        let schema = try await Schema.status(pool)
        // The router may read the due times of all tenants' work, but no content.
        return try await pool.withTransaction(as: .router) { transaction in
            InstallationStatus(
                databaseRelease: try await transaction.execute("SELECT current_setting('server_version')")
                    .one()
                    .decode(at: 0),
                schemaVersion: schema.version, knownSchemaVersion: Schema.migrations.count,
                connections: try await transaction.connections(),
                queues: try await transaction.queues(),
                // An older schema has no table of them.
                servers: schema.version < PostgresServers.schemaVersion ? [] : try await transaction.servers()
            )
        }
    }

    /// The waiting messages of all tenants.
    public func queues() async throws -> [InstallationStatus.Queue] {
        try await pool.withTransaction(as: .router) { try await $0.queues() }
    }
}

extension Transaction {
    /// Login and program of each session are shown to everyone (PostgreSQL, "The Cumulative Statistics System").
    fileprivate func connections() async throws -> [InstallationStatus.Connections] {
        try await execute(
            """
            SELECT usename::text, coalesce(application_name, ''), count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND usename IS NOT NULL
            GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100
            """
        ).map { row in
            let (login, program, count) = try row.decode(String.self, String.self, Int.self)
            return InstallationStatus.Connections(login: login, program: program, count: count)
        }
    }

    fileprivate func queues() async throws -> [InstallationStatus.Queue] {
        [
            try await queue(.deliveries, "doorstep.deliveries"),
            try await queue(.webhookMessages, "doorstep.webhook_messages"),
        ]
    }

    private func queue(
        _ kind: InstallationStatus.Queue.Kind, _ relation: StaticString
    ) async throws -> InstallationStatus.Queue {
        let (count, first) = try await execute(
            """
            SELECT (
                SELECT count(*) FROM (
                    SELECT FROM \(unsafeSQL: "\(relation)") WHERE due_at IS NOT NULL
                    LIMIT \(InstallationStatus.countLimit)) AS waiting),
                (SELECT min(due_at) FROM \(unsafeSQL: "\(relation)") WHERE due_at IS NOT NULL)
            """
        ).one().decode(Int.self, Date?.self)
        return InstallationStatus.Queue(kind: kind, count: count, firstDueAt: first)
    }
}
