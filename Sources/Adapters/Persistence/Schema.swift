public import PostgreSQL

/// The migrations of `sql/migrations`, which are part of the binary.
public enum Schema {
    /// All migrations in order.
    /// A migration from 16 on may have a `compatibleFrom`, the number of an earlier migration. Programs that contain this earlier
    /// migration still work after the new one. Leave `compatibleFrom` out if all older programs must stop: "A migration" in
    /// `CONTRIBUTING.md` lists the cases.
    ///
    /// The constant for the file `0034_x.sql` is called `_034_x_sql`, because SwiftPM replaces the first digit by an underscore.
    public static let migrations = [
        Migration(version: 1, name: "schema", sql: text(PackageResources._001_schema_sql)),
        Migration(version: 2, name: "management", sql: text(PackageResources._002_management_sql)),
        Migration(
            version: 3, name: "location_details", sql: text(PackageResources._003_location_details_sql)),
        Migration(version: 4, name: "restricted_keys", sql: text(PackageResources._004_restricted_keys_sql)),
        Migration(version: 5, name: "webhooks", sql: text(PackageResources._005_webhooks_sql)),
        Migration(version: 6, name: "events", sql: text(PackageResources._006_events_sql)),
        Migration(version: 7, name: "attestation", sql: text(PackageResources._007_attestation_sql)),
        Migration(version: 8, name: "cards", sql: text(PackageResources._008_cards_sql)),
        Migration(
            version: 9, name: "app_store_connections",
            sql: text(PackageResources._009_app_store_connections_sql)),
        Migration(version: 10, name: "revoked_keys", sql: text(PackageResources._010_revoked_keys_sql)),
        Migration(version: 11, name: "landing_pages", sql: text(PackageResources._011_landing_pages_sql)),
        Migration(
            version: 12, name: "attestation_upkeep",
            sql: text(PackageResources._012_attestation_upkeep_sql)),
        Migration(version: 13, name: "app_store", sql: text(PackageResources._013_app_store_sql)),
        Migration(version: 14, name: "console", sql: text(PackageResources._014_console_sql)),
        Migration(
            version: 15, name: "app_store_checks", sql: text(PackageResources._015_app_store_checks_sql)),
        Migration(
            version: 16, name: "console_events", sql: text(PackageResources._016_console_events_sql),
            compatibleFrom: 15),
        Migration(
            version: 17, name: "days_over", sql: text(PackageResources._017_days_over_sql),
            compatibleFrom: 15),
        Migration(
            version: 18, name: "domain_checks", sql: text(PackageResources._018_domain_checks_sql)),
        Migration(
            version: 19, name: "delivery_retry", sql: text(PackageResources._019_delivery_retry_sql),
            compatibleFrom: 18),
        Migration(
            version: 20, name: "dead_letters", sql: text(PackageResources._020_dead_letters_sql),
            compatibleFrom: 18),
        Migration(
            version: 21, name: "console_key", sql: text(PackageResources._021_console_key_sql),
            compatibleFrom: 18),
        Migration(
            version: 22, name: "idempotent_requests",
            sql: text(PackageResources._022_idempotent_requests_sql), compatibleFrom: 18),
        Migration(
            version: 23, name: "quotas", sql: text(PackageResources._023_quotas_sql), compatibleFrom: 18),
        Migration(
            version: 24, name: "contested_checks", sql: text(PackageResources._024_contested_checks_sql),
            compatibleFrom: 18),
        Migration(version: 25, name: "public_names", sql: text(PackageResources._025_public_names_sql)),
        Migration(
            version: 26, name: "default_byte_quotas",
            sql: text(PackageResources._026_default_byte_quotas_sql), compatibleFrom: 25),
        Migration(
            version: 27, name: "settlements_on_standbys",
            sql: text(PackageResources._027_settlements_on_standbys_sql), compatibleFrom: 25),
        Migration(
            version: 28, name: "trace_contexts", sql: text(PackageResources._028_trace_contexts_sql),
            compatibleFrom: 25),
        Migration(
            version: 29, name: "cors_origins", sql: text(PackageResources._029_cors_origins_sql),
            compatibleFrom: 25),
        Migration(
            version: 30, name: "webhook_overlaps", sql: text(PackageResources._030_webhook_overlaps_sql),
            compatibleFrom: 25),
        Migration(
            version: 31, name: "webhook_responses", sql: text(PackageResources._031_webhook_responses_sql),
            compatibleFrom: 25),
        Migration(
            version: 32, name: "event_log", sql: text(PackageResources._032_event_log_sql),
            compatibleFrom: 25),
        Migration(
            version: 33, name: "token_secrets", sql: text(PackageResources._033_token_secrets_sql),
            compatibleFrom: 25),
        Migration(
            version: 34, name: "more_quotas", sql: text(PackageResources._034_more_quotas_sql),
            compatibleFrom: 25),
        Migration(
            version: 35, name: "launch_days", sql: text(PackageResources._035_launch_days_sql),
            compatibleFrom: 25),
        Migration(
            version: 36, name: "refused_requests", sql: text(PackageResources._036_refused_requests_sql),
            compatibleFrom: 25),
        Migration(
            version: 37, name: "names", sql: text(PackageResources._037_names_sql), compatibleFrom: 25),
        Migration(
            version: 38, name: "cancelled_notifications",
            sql: text(PackageResources._038_cancelled_notifications_sql), compatibleFrom: 25),
        Migration(
            version: 39, name: "test_tenants", sql: text(PackageResources._039_test_tenants_sql),
            compatibleFrom: 25),
        Migration(
            version: 40, name: "servers", sql: text(PackageResources._040_servers_sql), compatibleFrom: 25),
    ]

    /// Creates missing roles and the schema, then applies pending migrations as `doorstep_owner`.
    ///
    /// The login must be able to become `doorstep_owner`. If roles are missing, it must be able to create roles. If the schema is
    /// missing, it must be able to create a schema in the database. Safe to run twice and from several processes at once.
    /// - Returns: The applied migrations.
    /// - Throws: `PostgreSQLError.databaseIsNewer` if the database has a later migration that this binary cannot work with.
    public static func migrate(_ pool: ConnectionPool) async throws -> [Migration] {
        try await runner(role: "doorstep_owner", prelude: text(PackageResources.roles_sql)).migrate(on: pool)
    }

    /// The version of the schema. Owner, server and administration may read it.
    public static func status(_ pool: ConnectionPool) async throws -> MigrationStatus {
        try await runner(role: nil, prelude: nil).status(on: pool)
    }

    private static func runner(role: String?, prelude: String?) throws(PostgreSQLError) -> MigrationRunner {
        // The key is "door" in ASCII, a number that no other program uses. Under load, a migration of several tables and a
        // request that writes several tables may wait for each other. The migration gives up before PostgreSQL looks for
        // deadlocks (`deadlock_timeout`: one second), so that PostgreSQL never cancels the request.
        try MigrationRunner(
            migrations, schema: "doorstep", lockKey: 0x646F_6F72, role: role, prelude: prelude,
            lockTimeout: .milliseconds(500), attempts: 100)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
