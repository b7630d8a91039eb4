import Foundation
import Persistence
public import PostgreSQL

/// A separate, empty database with Doorstep's schema, and with logins like those in production.
///
/// Each process migrates the schema once, with a login that may do nothing else, and then copies it.
public struct MigratedDatabase: Sendable {
    /// A connection string for the superuser.
    public let conninfo: String

    /// Runs the closure with a database, which is dropped afterwards.
    @discardableResult
    public static func withDatabase<R: Sendable>(
        _ body: (MigratedDatabase) async throws -> R
    ) async throws -> R {
        try await TestServer.withDatabase(template: try await template.value) { conninfo in
            let database = MigratedDatabase(conninfo: conninfo)
            try await database.grantAccess()
            return try await body(database)
        }
    }

    /// Runs the closure with a database with the roles and logins, but without the schema.
    @discardableResult
    public static func withEmptyDatabase<R: Sendable>(
        _ body: (MigratedDatabase) async throws -> R
    ) async throws -> R {
        _ = try await template.value
        return try await TestServer.withDatabase { conninfo in
            let database = MigratedDatabase(conninfo: conninfo)
            try await database.grantAccess()
            return try await body(database)
        }
    }

    /// A connection string of the database with this login, for another process.
    public func conninfo(as login: TestLogin) -> String { login.conninfo(for: conninfo) }

    /// Runs the closure with a pool, and closes the pool.
    @discardableResult
    public func withPool<R: Sendable>(
        as login: TestLogin, _ change: (inout PoolConfiguration) -> Void = { _ in },
        _ body: (ConnectionPool) async throws -> R
    ) async throws -> R {
        try await Self.withPool(login.conninfo(for: conninfo), change, body)
    }

    /// Runs the closure with a pool that connects through a pooler.
    @discardableResult
    public func withPool<R: Sendable>(
        as login: TestLogin, through pooler: PgBouncer,
        _ change: (inout PoolConfiguration) -> Void = { _ in },
        _ body: (ConnectionPool) async throws -> R
    ) async throws -> R {
        let name = try await withSuperuser { pool in
            try await pool.withConnection {
                try await $0.execute("SELECT current_database()").one().decode(at: 0, as: String.self)
            }
        }
        return try await Self.withPool(login.conninfo(for: pooler.conninfo(database: name)), change, body)
    }

    /// Runs the closure with a pool of the superuser, for assertions about data that no role of Doorstep may see.
    @discardableResult
    public func withSuperuser<R: Sendable>(_ body: (ConnectionPool) async throws -> R) async throws -> R {
        try await Self.withPool(conninfo, { _ in }, body)
    }

    private static func withPool<R: Sendable>(
        _ conninfo: String, _ change: (inout PoolConfiguration) -> Void,
        _ body: (ConnectionPool) async throws -> R
    ) async throws -> R {
        var configuration = PoolConfiguration.forBusyMachines(conninfo: conninfo, maximumConnections: 4)
        change(&configuration)
        return try await ConnectionPool.withPool(configuration, body)
    }

    // MARK: - The template

    /// If the tests use a given server, the template remains on it when they end.
    private static let template = Task {
        let name = "template_\(ProcessInfo.processInfo.processIdentifier)"
        try await TestServer.administration().withConnection { connection in
            try await connection.execute("CREATE DATABASE \(identifier: name) TEMPLATE template0")
        }
        let database = try await MigratedDatabase(conninfo: TestServer.conninfo(database: name))
        try await database.createLogins()
        try await database.grantAccess()
        _ = try await database.withPool(as: .migrate) { try await Schema.migrate($0) }
        return name
    }

    private func createLogins() async throws {
        let roles = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../sql/roles.sql"), encoding: .utf8)
        try await withSuperuser { pool in
            try await pool.withTransaction { transaction in
                // Roles belong to the whole server, and another process may create them at the same time.
                try await transaction.execute("SELECT pg_advisory_xact_lock(7)")
                try await transaction.execute(script: roles)
                for login in TestLogin.allCases {
                    let isKnown: Bool = try await transaction.execute(
                        "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = \(login.rawValue))"
                    ).one().decode(at: 0)
                    guard !isKnown else { continue }
                    let roles = login.roles.joined(separator: ", ")
                    try await transaction.execute(
                        script: """
                            CREATE ROLE \(login.rawValue) LOGIN PASSWORD '\(login.password)' IN ROLE \(roles)
                            """)
                }
            }
        }
    }

    /// Grants the rights of `deploy/postgres/create-logins.sql`, which a copy of a database does not have.
    private func grantAccess() async throws {
        let logins = TestLogin.allCases.map(\.rawValue).joined(separator: ", ")
        try await withSuperuser { pool in
            try await pool.withTransaction { transaction in
                let name: String = try await transaction.execute("SELECT current_database()").one()
                    .decode(at: 0)
                for grant: Query in [
                    "REVOKE ALL ON DATABASE \(identifier: name) FROM PUBLIC",
                    "GRANT CREATE ON DATABASE \(identifier: name) TO doorstep_owner",
                    "GRANT TEMPORARY ON DATABASE \(identifier: name) TO doorstep_admin, doorstep_manager",
                    "GRANT CONNECT ON DATABASE \(identifier: name) TO \(unsafeSQL: logins)",
                ] {
                    try await transaction.execute(grant)
                }
            }
        }
    }
}
