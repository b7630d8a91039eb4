public import Foundation
public import PostgreSQL

/// The facts about a database and a login that decide whether a server can work with them.
public struct DatabaseCondition: Sendable {
    /// Such as `15.14 (Debian 15.14-0+deb12u1)`.
    public let release: String
    /// Such as 150014.
    public let releaseNumber: Int
    /// The name of the login.
    public let login: String
    public let isSuperuser: Bool
    /// Whether the login bypasses row-level security.
    public let bypassesRowSecurity: Bool
    /// The connection limit of the login; nil if it has none.
    public let connectionLimit: Int?
    /// The maximum number of connections of all logins except superusers.
    public let maximumConnections: Int
    /// Doorstep's roles of which the login is a member, sorted.
    public let roles: [String]
    /// Whether the server is a standby, and therefore refuses writes.
    public let isStandby: Bool
    /// Tables with tenants' rows whose row-level security is not forced.
    public let unprotectedTables: [String]
    /// Replication slots that no standby uses. They keep write-ahead log.
    public let unusedSlots: [String]
    /// The number of standbys that receive changes.
    public let standbys: Int
    /// The difference between the database's clock and this machine's, in seconds. Positive if the database's clock is ahead.
    public let clockDifference: TimeInterval

    /// The roles of a server's login: it needs these, and no others.
    public static let rolesOfServer = [DatabaseRole.app, .manager, .router].map(\.rawValue)
    /// The oldest supported release of PostgreSQL.
    public static let oldestRelease = 15

    public init(_ pool: ConnectionPool) async throws {
        self = try await pool.withConnection { connection in
            let row = try await connection.execute(Self.query).one()
            let before = Date()
            let clock = try await connection.execute("SELECT clock_timestamp()").one().decode(
                at: 0, as: Date.self)
            // The database read its clock about halfway between request and response.
            let now = before.addingTimeInterval(Date().timeIntervalSince(before) / 2)
            return try Self(row, clockDifference: clock.timeIntervalSince(now))
        }
    }

    private init(_ row: Row, clockDifference: TimeInterval) throws {
        release = try row.decode(at: 0)
        releaseNumber = try row.decode(at: 1)
        login = try row.decode(at: 2)
        isSuperuser = try row.decode(at: 3)
        bypassesRowSecurity = try row.decode(at: 4)
        let limit = try row.decode(at: 5, as: Int.self)
        connectionLimit = limit < 0 ? nil : limit
        maximumConnections = try row.decode(at: 6)
        roles = try row.decode(at: 7)
        isStandby = try row.decode(at: 8)
        unprotectedTables = try row.decode(at: 9)
        unusedSlots = try row.decode(at: 10)
        standbys = try row.decode(at: 11)
        self.clockDifference = clockDifference
    }

    /// Every login can read the results. A table with a column `tenant_id` counts as protected only if row-level security also
    /// applies to the owner of the table.
    private static let query: Query = """
        SELECT current_setting('server_version'), current_setting('server_version_num')::bigint, session_user::text,
            l.rolsuper, l.rolbypassrls, l.rolconnlimit::bigint,
            current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
            ARRAY(
                SELECT rolname::text FROM pg_roles
                WHERE rolname IN
                        ('doorstep_admin', 'doorstep_app', 'doorstep_manager', 'doorstep_owner', 'doorstep_router')
                    AND pg_has_role(session_user, oid, 'MEMBER')
                ORDER BY 1),
            pg_is_in_recovery(),
            ARRAY(
                SELECT c.relname::text FROM pg_class c
                JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'doorstep'
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
                WHERE c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
                ORDER BY 1),
            ARRAY(SELECT slot_name::text FROM pg_replication_slots WHERE NOT active ORDER BY 1),
            (SELECT count(*) FROM pg_stat_replication)
        FROM pg_roles l WHERE l.rolname = session_user
        """
}
