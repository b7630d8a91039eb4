public import PostgreSQL

/// The migrations of `sql/migrations`, which are part of the binary.
public enum Schema {
    public static let migrations = [
        Migration(version: 1, name: "catalogue", sql: text(PackageResources._001_catalogue_sql)),
        Migration(version: 2, name: "change_feed", sql: text(PackageResources._002_change_feed_sql)),
        Migration(
            version: 3, name: "confirmation_writes", sql: text(PackageResources._003_confirmation_writes_sql)),
        Migration(version: 4, name: "limits", sql: text(PackageResources._004_limits_sql)),
        Migration(
            version: 5, name: "confirmation_partitions",
            sql: text(PackageResources._005_confirmation_partitions_sql)),
        Migration(version: 6, name: "domains", sql: text(PackageResources._006_domains_sql)),
        Migration(
            version: 7, name: "notifications", sql: text(PackageResources._007_notifications_sql)),
        Migration(version: 8, name: "audiences", sql: text(PackageResources._008_audiences_sql)),
        Migration(version: 9, name: "launches", sql: text(PackageResources._009_launches_sql)),
        Migration(
            version: 10, name: "site_content", sql: text(PackageResources._010_site_content_sql)),
        Migration(version: 11, name: "successors", sql: text(PackageResources._011_successors_sql)),
    ]

    /// Creates the roles and the schema where they are missing, then applies what is pending as `doorstep_owner`.
    ///
    /// The login must be able to become `doorstep_owner`; while roles are missing it must be able to create them, and
    /// while the schema is, to create one in the database. Safe to run twice and from several processes at once.
    /// - Returns: What was applied.
    /// - Throws: `PostgreSQLError.databaseIsNewer` when the database has a migration this binary does not know.
    public static func migrate(_ pool: ConnectionPool) async throws -> [Migration] {
        try await runner(role: "doorstep_owner", prelude: text(PackageResources.roles_sql)).migrate(on: pool)
    }

    /// How far the database is; the owner, the server and the administration may ask.
    public static func status(_ pool: ConnectionPool) async throws -> MigrationStatus {
        try await runner(role: nil, prelude: nil).status(on: pool)
    }

    private static func runner(role: String?, prelude: String?) throws(PostgreSQLError) -> MigrationRunner {
        // The key is "door" in ASCII: any number that no other program takes.
        try MigrationRunner(
            migrations, schema: "doorstep", lockKey: 0x646F_6F72, role: role, prelude: prelude)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
