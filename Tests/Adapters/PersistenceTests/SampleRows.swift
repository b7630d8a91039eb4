import PostgreSQL
import Tenancy
import TestSupport

/// A row for each table, as SQL expressions by column. Other columns have their defaults.
///
/// The rows of one tenant are consistent if they are inserted in the order of the list. `$tenant` is replaced by the tenant's ID.
enum SampleRows {
    struct Table: Sendable {
        let name: String
        /// The login that writes the table; the owner if no other login may write it.
        let login: TestLogin
        let row: [String: String]
        /// A change of the row as a SET clause; nil if no login changes rows.
        let change: String?
        /// The condition that selects the row among the tenant's rows.
        let key: String
    }

    static let tables = [
        Table(
            name: "tenants", login: .admin, row: ["slug": "'t' || left('$tenant', 8)", "name": "'Tenant'"],
            change: "name = 'Other'", key: "true"),
        Table(
            name: "card_images", login: .admin,
            row: [
                "sha256": "encode(sha256('\\x01'), 'hex')", "media_type": "'image/png'", "byte_count": "1",
            ],
            change: nil, key: "byte_count = 1"),
        Table(
            name: "card_image_bytes", login: .admin,
            row: ["sha256": "encode(sha256('\\x01'), 'hex')", "bytes": "'\\x01'"], change: nil,
            key: "bytes = '\\x01'"),
        Table(
            name: "clips", login: .admin,
            row: [
                "bundle_id": "'com.example.App.Clip'", "parent_bundle_id": "'com.example.App'",
                "team_id": "'ABCDE12345'",
            ],
            change: "multi_business = true", key: "bundle_id = 'com.example.App.Clip'"),
        Table(
            name: "app_store_connections", login: .admin,
            row: [
                "bundle_id": "'com.example.App.Clip'", "key_id": "'ABCDE12345'",
                "sealed_secret": "sha512('s')",
            ],
            change: "key_id = 'FGHIJ67890'", key: "bundle_id = 'com.example.App.Clip'"),
        Table(
            name: "app_store_checks", login: .app,
            row: [
                "bundle_id": "'com.example.App.Clip'", "due_at": "now()", "checked_at": "now()",
                "counts": "'{}'", "summary": "'{}'", "findings_digest": "sha256('f')",
            ],
            change: "due_at = now() + interval '1 day'", key: "bundle_id = 'com.example.App.Clip'"),
        Table(
            name: "app_store_check_rows", login: .app,
            row: [
                "bundle_id": "'com.example.App.Clip'", "url": "'https://example.com/a'", "row_json": "'{}'",
            ],
            change: nil, key: "url = 'https://example.com/a'"),
        Table(
            name: "app_store_experiences", login: .admin,
            row: [
                "bundle_id": "'com.example.App.Clip'", "url": "'https://example.com/a'",
                "phase": "'created'", "remote_id": "'1'", "content": "'{}'", "sent_at": "now()",
            ],
            change: "undesired_since = now()", key: "remote_id = '1'"),
        Table(
            name: "app_store_removals", login: .admin,
            row: [
                "bundle_id": "'com.example.App.Clip'", "remote_id": "'0'", "url": "'https://example.com/a'",
                "removed_at": "now()",
            ],
            change: nil, key: "remote_id = '0'"),
        Table(
            name: "app_store_refusals", login: .admin,
            row: [
                "bundle_id": "'com.example.App.Clip'", "url": "'https://example.com/b'", "content": "'{}'",
                "code": "'STATE_ERROR'", "refused_at": "now()",
            ],
            change: "code = 'OTHER'", key: "url = 'https://example.com/b'"),
        Table(
            name: "app_store_images", login: .admin,
            row: [
                "bundle_id": "'com.example.App.Clip'", "sha256": "encode(sha256('\\x01'), 'hex')",
                "holder": "''", "remote_id": "'1'", "phase": "'reserved'", "sealed_operations": "sha512('s')",
                "reserved_at": "now()",
            ],
            change: "reserved_at = now()", key: "remote_id = '1'"),
        Table(
            name: "app_store_runs", login: .admin,
            row: [
                "run_id": "'00000000-0000-0000-0000-00000000000a'", "bundle_id": "'com.example.App.Clip'",
                "actor": "'operator:a'", "started_at": "now()",
            ],
            change: "ended_at = now(), outcome = 'done'", key: "true"),
        Table(
            name: "app_store_budget", login: .admin,
            row: ["key_id": "'ABCDE12345'", "minute": "'2026-01-02 03:04:00Z'", "spent": "1"],
            change: "spent = 2", key: "key_id = 'ABCDE12345'"),
        Table(
            name: "domains", login: .admin, row: ["host": "'example.com'", "challenge": "'c'"],
            change: "proved_at = now(), method = 'dns'", key: "host = 'example.com'"),
        Table(
            name: "domain_checks", login: .app, row: ["host": "'example.com'", "due_at": "now()"],
            change: "began_at = now()", key: "host = 'example.com'"),
        Table(
            name: "locations", login: .admin,
            row: [
                "identifier": "'a'", "name": "'A'", "latitude": "1", "longitude": "2", "radius": "3",
                "metadata": "'{}'",
            ],
            change: "radius = 4", key: "identifier = 'a'"),
        Table(
            name: "experiences", login: .admin,
            row: [
                "kind": "'advanced'", "url": "'https://example.com/a'", "bundle_id": "'com.example.App.Clip'",
                "location_identifier": "'a'",
            ],
            change: "title = 'T'", key: "kind = 'advanced' AND url = 'https://example.com/a'"),
        Table(
            name: "short_codes", login: .admin, row: ["code": "'c'", "url": "'https://example.com/a'"],
            change: "url = 'https://example.com/b'", key: "code = 'c'"),
        Table(
            name: "api_keys", login: .admin,
            row: [
                "key_id": "'00000000-0000-0000-0000-000000000001'", "kind": "'secret'",
                "digest": "sha256('$tenant')", "hint": "'dsk_abcd'", "scopes": "'{lookup}'",
            ],
            change: "revoked_at = now()", key: "key_id = '00000000-0000-0000-0000-000000000001'"),
        Table(
            name: "confirmations", login: .app,
            row: [
                "confirmation_id": "'00000000-0000-0000-0000-000000000002'", "location_identifier": "'a'",
                "outcome": "'inRegion'", "source": "'nfc'", "minute": "'2026-01-02 03:04:00Z'",
            ],
            change: nil, key: "confirmation_id = '00000000-0000-0000-0000-000000000002'"),
        Table(
            name: "webhooks", login: .admin,
            row: [
                "webhook_id": "'00000000-0000-0000-0000-000000000007'", "url": "'https://example.com/hook'",
                "sealed_secret": "sha512('s')", "events": "'{delivery.finished}'",
            ],
            change: "url = 'https://example.com/other'", key: "true"),
        Table(
            name: "instances", login: .app,
            row: [
                "instance_id": "'00000000-0000-0000-0000-000000000003'",
                "bundle_id": "'com.example.App.Clip'", "app": "'clip'", "environment": "'production'",
                "permission": "'ephemeral'", "launched_at": "now()",
            ],
            change: "permission = 'denied'", key: "instance_id = '00000000-0000-0000-0000-000000000003'"),
        Table(
            name: "launches", login: .app,
            row: [
                "instance_id": "'00000000-0000-0000-0000-000000000003'", "url": "'https://example.com/a'",
                "experience_url": "'https://example.com/a'", "location_identifier": "'a'",
                "launched_at": "now()", "confirmed_at": "now()",
            ],
            change: "confirmed_at = NULL", key: "instance_id = '00000000-0000-0000-0000-000000000003'"),
        Table(
            name: "push_tokens", login: .app,
            row: [
                "instance_id": "'00000000-0000-0000-0000-000000000003'", "kind": "'device'",
                "digest": "sha256('$tenant')", "sealed": "sha512('$tenant')", "registered_at": "now()",
            ],
            change: "retired_at = now()", key: "instance_id = '00000000-0000-0000-0000-000000000003'"),
        Table(
            name: "attest_keys", login: .app,
            row: [
                "key_id": "sha256('$tenant')", "bundle_id": "'com.example.App.Clip'",
                "environment": "'production'", "public_key": "'\\x04'::bytea || sha512('$tenant')",
                "attestation_digest": "sha256('a')", "attested_on": "'2026-01-02'",
                "last_used_on": "'2026-01-02'",
            ],
            change: "counter = 1", key: "attestation_digest = sha256('a')"),
        Table(
            name: "attestation_days", login: .app,
            row: [
                "bundle_id": "'com.example.App.Clip'", "operation": "'confirm'", "day": "'2026-01-02'",
                "by_token": "1", "signed": "2", "not_attested": "3",
            ],
            change: "signed = 4", key: "operation = 'confirm'"),
        Table(
            name: "launch_days", login: .app,
            row: [
                "day": "'2026-01-02'", "location_identifier": "'a'",
                "experience_url": "'https://example.com/a'", "source": "'nfc'", "lookups": "1",
                "launch_reports": "2",
            ],
            change: "lookups = 4", key: "day = '2026-01-02'"),
        Table(
            name: "refused_requests", login: .app,
            row: [
                "entry_id": "'00000000-0000-0000-0000-000000000009'", "at": "'2026-01-02'",
                "request_id": "'r'", "endpoint": "'GET /v1/lookup'", "status": "404",
                "code": "'does_not_match'", "key_id": "'00000000-0000-0000-0000-000000000002'",
            ],
            change: nil, key: "request_id = 'r'"),
        Table(
            name: "revoked_attest_keys", login: .admin, row: ["key_id": "sha256('$tenant')"], change: nil,
            key: "true"),
        Table(
            name: "channels", login: .app,
            row: [
                "bundle_id": "'com.example.App.Clip'", "environment": "'production'",
                "channel_id": "'dHN0LXNyY2gtY2hubA=='", "stores_last_message": "true",
            ],
            change: nil, key: "channel_id = 'dHN0LXNyY2gtY2hubA=='"),
        Table(
            name: "notifications", login: .app,
            row: [
                "created_at": midnight, "notification_id": "'00000000-0000-0000-0000-000000000004'",
                "bundle_id": "'com.example.App.Clip'", "url": "'https://example.com/a'",
                "experience_url": "'https://example.com/a'", "audience": "'{}'", "push_type": "'alert'",
                "priority": "10", "payload": "'{}'",
            ],
            change: "skipped = '{\"no_token\": 1}'",
            key: "notification_id = '00000000-0000-0000-0000-000000000004'"),
        Table(
            name: "audience_cursors", login: .app,
            row: [
                "created_at": midnight, "notification_id": "'00000000-0000-0000-0000-000000000004'",
                "launched_at": "now()", "url": "'https://example.com/a'",
                "instance_id": "'00000000-0000-0000-0000-000000000003'", "delivery_count": "10000",
            ],
            change: "delivery_count = 20000",
            key: "notification_id = '00000000-0000-0000-0000-000000000004'"),
        Table(
            name: "deliveries", login: .app,
            row: [
                "created_at": midnight, "notification_id": "'00000000-0000-0000-0000-000000000004'",
                "delivery_id": "'00000000-0000-0000-0000-000000000005'",
                "instance_id": "'00000000-0000-0000-0000-000000000003'", "token_kind": "'device'",
                "environment": "'production'", "state": "'queued'", "due_at": "now()",
            ],
            change: "state = 'sending', attempt = 1",
            key: "delivery_id = '00000000-0000-0000-0000-000000000005'"),
        Table(
            name: "idempotency_keys", login: .app,
            row: [
                "key": "'k'", "request_digest": "sha256('')", "claim_id": "gen_random_uuid()",
                "claimed_until": "now()",
            ],
            change: "performed_at = now()", key: "key = 'k'"),
        Table(
            name: "webhook_messages", login: .app,
            row: [
                "webhook_id": "'00000000-0000-0000-0000-000000000007'",
                "message_id": "'00000000-0000-0000-0000-000000000006'", "type": "'delivery.finished'",
                "body": "'{}'", "due_at": "now()",
            ],
            change: "attempt = 1", key: "message_id = '00000000-0000-0000-0000-000000000006'"),
        Table(
            name: "event_recordings", login: .admin,
            row: ["ends_at": "now()", "first_xid": "'1'"], change: "first_xid = '2'", key: "true"),
        Table(
            name: "events", login: .app,
            row: [
                "message_id": "'00000000-0000-0000-0000-000000000006'", "type": "'delivery.finished'",
                "body": "'{}'",
            ],
            change: nil, key: "type = 'delivery.finished'"),
        Table(
            name: "webhook_responses", login: .app,
            row: [
                "webhook_id": "'00000000-0000-0000-0000-000000000007'", "number": "1",
                "message_id": "'00000000-0000-0000-0000-000000000006'",
                "at": "'2026-03-01T12:30:00.000Z'", "body": "'r'",
            ],
            change: nil, key: "number = 1"),
        Table(
            name: "audit_log", login: .migrate,
            row: ["actor": "'x'", "action": "'insert'", "relation": "'x'", "after": "'{}'"],
            change: nil, key: "relation = 'x'"),
        Table(
            name: "tenant_usage", login: .migrate, row: ["kind": "'sample'"], change: nil,
            key: "kind = 'sample'"),
        Table(
            name: "row_counts", login: .migrate,
            row: ["kind": "'sample'", "counted_on": "current_date", "shard": "0", "row_count": "1"],
            change: nil, key: "kind = 'sample'"),
        Table(
            name: "changes", login: .migrate, row: ["relation": "'x'", "key": "'{a}'"], change: nil,
            key: "relation = 'x'"),
    ]

    /// Midnight UTC of today. A migrated database has a partition for this day.
    private static let midnight = "date_trunc('day', now(), 'UTC')"

    /// The statement that inserts a table's row, with changed values for some columns.
    static func insertion(
        into table: Table, of tenant: TenantID, with changes: [String: String] = [:]
    ) -> String {
        let row = table.row.merging(changes) { $1 }.sorted { $0.key < $1.key }
        return """
            INSERT INTO doorstep.\(table.name) (tenant_id, \(row.map(\.key).joined(separator: ", ")))
            VALUES ('$tenant', \(row.map(\.value).joined(separator: ", ")))
            """.replacing("$tenant", with: tenant.description)
    }
}

extension MigratedDatabase {
    /// Inserts a row into each table with the login that writes the table.
    func insertSampleRows(of tenant: TenantID) async throws {
        for login in [TestLogin.admin, .app, .migrate] {
            try await withPool(as: login) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    for table in SampleRows.tables where table.login == login {
                        try await transaction.execute(
                            script: SampleRows.insertion(into: table, of: tenant))
                    }
                }
            }
        }
    }
}

extension Transaction {
    /// Sets the tenant like the stores do. Accepts any text.
    func setTenant(_ tenant: String) async throws {
        try await execute("SELECT set_config('doorstep.tenant_id', \(tenant), true)")
    }

    func tenantTables() async throws -> [String] {
        try await execute(SchemaWalker.tenantTables).map { try $0.decode(at: 0) }
    }
}
