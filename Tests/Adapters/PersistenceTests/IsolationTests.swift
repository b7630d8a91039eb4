import Foundation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Row-level security for each login that it restricts. Each test connects as such a login, never as a superuser.
@Suite struct IsolationTests {
    private struct Undo: Error {}

    private static let a = TenantID(UUID(uuid: (0xA, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    private static let b = TenantID(UUID(uuid: (0xB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))

    /// A database in which tenants A and B have a row in every table.
    private static func withTwoTenants(
        _ body: (MigratedDatabase) async throws -> Void
    ) async throws {
        try await MigratedDatabase.withDatabase { database in
            for tenant in [a, b] { try await database.insertSampleRows(of: tenant) }
            try await body(database)
        }
    }

    /// Runs the closure with the same database, once for each login.
    private static func withTwoTenants(
        _ logins: [TestLogin], _ body: (TestLogin, ConnectionPool) async throws -> Void
    ) async throws {
        try await withTwoTenants { database in
            for login in logins {
                try await database.withPool(as: login) { try await body(login, $0) }
            }
        }
    }

    /// Runs statements of one login in a transaction that is rolled back.
    private static func trying<R: Sendable>(
        _ pool: ConnectionPool, tenant: String?, _ body: (Transaction) async throws -> R
    ) async throws -> R {
        var result: R?
        do {
            try await pool.withTransaction { transaction in
                if let tenant { try await transaction.setTenant(tenant) }
                result = try await body(transaction)
                throw Undo()
            }
        } catch is Undo {}
        return try #require(result)
    }

    private static let denied = "42501"

    /// The number of rows that a statement changes or counts; nil if the role lacks the right.
    private static func rows(
        _ pool: ConnectionPool, tenant: String?, _ sql: String
    ) async throws -> Int? {
        do {
            return try await trying(pool, tenant: tenant) { transaction in
                let result = try await transaction.execute("\(unsafeSQL: sql)")
                return sql.hasPrefix("SELECT") ? try result.one().decode(at: 0) : result.affectedRows
            }
        } catch let error as PostgreSQLError where error.sqlState == denied {
            return nil
        }
    }

    @Test func everyTableHasSampleRowsOfBothTenants() async throws {
        try await Self.withTwoTenants { database in
            try await database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    let tables = try await transaction.tenantTables()
                    #expect(Set(tables) == Set(SampleRows.tables.map(\.name)))
                    for table in tables {
                        let tenants: Int = try await transaction.execute(
                            "SELECT count(DISTINCT tenant_id) FROM doorstep.\(identifier: table)"
                        ).one().decode(at: 0)
                        #expect(tenants == 2, "\(table)")
                    }
                }
            }
        }
    }

    @Test func rowsAreInvisibleWithoutTenant() async throws {
        try await Self.withTwoTenants([.app, .admin, .manager, .migrate]) { login, pool in
            var visible: [String] = []
            for table in SampleRows.tables.map(\.name) {
                for tenant in [nil, "", UUID().uuidString] {
                    let rows = try await Self.rows(
                        pool, tenant: tenant, "SELECT count(*) FROM doorstep.\(table)")
                    if rows ?? 0 > 0 { visible.append(table) }
                }
            }
            // An operator sees the list of tenants and their usage.
            #expect(Set(visible) == (login == .admin ? ["tenants", "tenant_usage", "row_counts"] : []))
        }
    }

    /// Control for the tests of refusals: with its tenant set, each role sees the tables that it was granted.
    @Test func ownRowsAreVisibleWithTenant() async throws {
        try await Self.withTwoTenants { database in
            let tables: [TestLogin: [String]] = [
                .app: SampleRows.tables.map(\.name).filter {
                    ![
                        "card_image_bytes", "confirmations", "audit_log", "changes", "tenant_usage",
                        "row_counts",
                    ].contains($0)
                },
                .admin: SampleRows.tables.map(\.name).filter { $0 != "changes" },
                .manager: SampleRows.tables.map(\.name).filter {
                    !["audience_cursors", "changes"].contains($0)
                        && (!$0.hasPrefix("app_store_") || $0 == "app_store_connections"
                            || $0.hasPrefix("app_store_check"))
                },
                .migrate: SampleRows.tables.map(\.name),
            ]
            for (login, tables) in tables {
                try await database.withPool(as: login) { pool in
                    for table in SampleRows.tables.map(\.name) {
                        let rows = try await Self.rows(
                            pool, tenant: Self.a.description,
                            "SELECT count(*) FROM doorstep.\(table) WHERE tenant_id = '\(Self.a)'")
                        #expect((rows ?? 0 > 0) == tables.contains(table), "\(login) \(table)")
                    }
                }
            }
        }
    }

    @Test func anotherTenantsRowsAreOutOfReach() async throws {
        try await Self.withTwoTenants([.app, .admin, .manager]) { login, pool in
            for table in SampleRows.tables {
                let name = "doorstep.\(table.name)"
                let ofB = "tenant_id = '\(Self.b)'"
                var statements = ["DELETE FROM \(name) WHERE \(ofB)"]
                if let change = table.change {
                    statements.append("UPDATE \(name) SET \(change) WHERE \(ofB)")
                }
                if login != .admin || !["tenants", "tenant_usage", "row_counts"].contains(table.name) {
                    statements.append("SELECT count(*) FROM \(name) WHERE \(ofB)")
                    statements.append("SELECT count(*) FROM \(name) WHERE tenant_id <> '\(Self.a)'")
                }
                for statement in statements {
                    let rows = try await Self.rows(pool, tenant: Self.a.description, statement)
                    #expect(rows ?? 0 == 0, "\(login): \(statement)")
                }
                // Inserting a row for the other tenant, and moving an own row to it.
                for statement in [
                    SampleRows.insertion(into: table, of: Self.b),
                    "UPDATE \(name) SET tenant_id = '\(Self.b)'",
                ] {
                    let rows = try await Self.rows(pool, tenant: Self.a.description, statement)
                    #expect(rows == nil, "\(login): \(statement)")
                }
            }
        }
    }

    /// Control: with the right tenant, the same statements change the rows.
    @Test func ownRowsCanBeChanged() async throws {
        try await Self.withTwoTenants { database in
            for login in [TestLogin.admin, .app] {
                try await database.withPool(as: login) { pool in
                    for table in SampleRows.tables where table.login == login {
                        guard let change = table.change else { continue }
                        let update =
                            "UPDATE doorstep.\(table.name) SET \(change) WHERE tenant_id = '\(Self.b)'"
                        #expect(
                            try await Self.rows(pool, tenant: Self.b.description, update) == 1, "\(update)")
                        let state = try await sqlState {
                            _ = try await Self.rows(
                                pool, tenant: Self.b.description,
                                SampleRows.insertion(into: table, of: Self.b))
                        }
                        // Row-level security let the row pass; only the primary key refuses the duplicate.
                        #expect(state == "23505", "\(table.name)")
                    }
                }
            }
            let deleted: [TestLogin: [String]] = [
                .admin: [
                    "app_store_experiences", "app_store_removals", "app_store_refusals", "app_store_images",
                    "app_store_runs", "app_store_budget",
                    "attest_keys", "revoked_attest_keys", "attestation_days", "experiences", "short_codes",
                    "domains", "api_keys",
                    "confirmations",
                    "push_tokens",
                    "launches", "instances", "channels", "audience_cursors", "notifications", "deliveries",
                    "idempotency_keys", "webhook_messages", "webhooks", "events",
                ],
                .manager: [
                    "experiences", "short_codes", "domains", "webhooks", "instances", "channels", "events",
                ],
                .app: [
                    "attest_keys", "revoked_attest_keys", "attestation_days", "launch_days",
                    "refused_requests", "push_tokens", "launches",
                    "instances", "channels", "audience_cursors",
                    "idempotency_keys",
                    "webhook_responses", "webhook_messages", "event_recordings",
                ],
            ]
            for (login, tables) in deleted {
                try await database.withPool(as: login) { pool in
                    for table in tables {
                        let delete = "DELETE FROM doorstep.\(table) WHERE tenant_id = '\(Self.b)'"
                        let rows = try await Self.rows(pool, tenant: Self.b.description, delete)
                        #expect(rows == 1, "\(delete)")
                    }
                }
            }
        }
    }

    @Test func anotherTenantsRowsCannotBeReferenced() async throws {
        try await Self.withTwoTenants { database in
            try await database.withPool(as: .admin) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(Self.b.description)
                    try await transaction.execute(
                        script: """
                            INSERT INTO doorstep.clips VALUES
                                ('\(Self.b)', 'com.example.B.Clip', 'com.example.B', 'ABCDE12345', false);
                            INSERT INTO doorstep.locations VALUES ('\(Self.b)', 'b', 'B', 1, 2, 3);
                            """)
                }
                let experiences = try #require(SampleRows.tables.first { $0.name == "experiences" })
                for (tenant, expected) in [(Self.a, "23503"), (Self.b, nil)] {
                    for change in [
                        ["bundle_id": "'com.example.B.Clip'"], ["location_identifier": "'b'"],
                    ] {
                        let insertion = SampleRows.insertion(
                            into: experiences, of: tenant,
                            with: change.merging(["url": "'https://example.com/a?'"]) { $1 })
                        let state = try await sqlState {
                            _ = try await Self.rows(pool, tenant: tenant.description, insertion)
                        }
                        #expect(state == expected, "\(change)")
                        let (column, value) = try #require(change.first)
                        let state2 = try await sqlState {
                            _ = try await Self.rows(
                                pool, tenant: tenant.description,
                                "UPDATE doorstep.experiences SET \(column) = \(value)")
                        }
                        #expect(state2 == expected, "\(change)")
                    }
                }
            }
        }
    }

    @Test func invalidTenantSettingShowsNothing() async throws {
        let (a, b) = (Self.a.description, Self.b.description)
        let settings = [
            "x", "*", "%", "null", "true", "' OR true --", "\(a),\(b)", "\(a) \(b)", "\(a)x", "{\(a)",
            String(a.dropLast()), "é", "(select tenant_id from doorstep.tenants)", "-1",
        ]
        try await Self.withTwoTenants([.app, .admin, .manager]) { login, pool in
            for setting in settings {
                for table in SampleRows.tables.map(\.name)
                where login != .admin || !["tenants", "tenant_usage", "row_counts"].contains(table) {
                    let state = try await sqlState {
                        let rows = try await Self.rows(
                            pool, tenant: setting, "SELECT count(*) FROM doorstep.\(table)")
                        #expect(rows ?? 0 == 0, "\(login) \(table) \(setting)")
                    }
                    #expect(state == nil || state == "22P02", "\(login) \(table) \(setting)")
                }
            }
        }
    }

    @Test func routerReadsOnlyTheRoutingColumnsOfAllTenants() async throws {
        let columns = [
            "tenants": [
                "tenant_id", "slug", "suspended_at", "key_rate", "key_burst", "client_rate", "client_burst",
                "new_instance_rate", "new_instance_burst", "client_new_instance_rate",
                "client_new_instance_burst", "name", "quotas", "cors_origins",
            ],
            "token_secrets": ["secret_id", "first_used_at"],
            "servers": ["server_id", "host", "version", "started_at", "seen_at", "ended_at"],
            "tenant_usage": ["tenant_id", "kind", "row_count", "byte_count"],
            "row_counts": ["tenant_id", "kind", "counted_on", "shard", "row_count"],
            "quota_defaults": ["kind", "maximum_rows", "maximum_bytes"],
            "clips": [
                "tenant_id", "bundle_id", "multi_business", "team_id", "parent_bundle_id", "app_id_prefix",
                "attestation", "app_store_id", "android_url", "site_name", "card", "card_image",
            ],
            "domains": [
                "tenant_id", "host", "proved_at", "checked_at", "contested_at", "content", "pages",
            ],
            "domain_checks": ["tenant_id", "host", "due_at", "began_at", "contested_at"],
            "locations": [
                "tenant_id", "identifier", "name", "latitude", "longitude", "radius", "details", "card",
                "card_image",
            ],
            "experiences": [
                "tenant_id", "kind", "url", "bundle_id", "location_identifier", "identifier_rule",
                "title", "subtitle", "card", "card_image",
            ],
            "short_codes": ["tenant_id", "code", "url"],
            "app_store_connections": ["tenant_id", "bundle_id"],
            "app_store_checks": [
                "tenant_id", "bundle_id", "due_at", "checked_at", "counts", "failure",
            ],
            "api_keys": [
                "tenant_id", "key_id", "kind", "digest", "expires_at", "revoked_at", "scopes", "locations",
            ],
            "revoked_attest_keys": ["tenant_id", "key_id", "revoked_at"],
            "attest_keys": ["tenant_id", "last_used_on"],
            "attestation_days": ["tenant_id", "day"],
            "launch_days": ["tenant_id", "day"],
            "refused_requests": ["tenant_id", "entry_id"],
            "changes": ["tenant_id", "change_id", "xid", "at", "relation", "key"],
            "change_horizon": ["is_only", "pruned_xid"],
            "instances": ["tenant_id", "launched_at"],
            "push_tokens": ["tenant_id", "kind", "registered_at"],
            "deliveries": ["tenant_id", "due_at"],
            "audience_cursors": ["tenant_id", "due_at"],
            "idempotency_keys": ["tenant_id", "created_at"],
            "webhook_messages": ["tenant_id", "webhook_id", "due_at", "created_at"],
            "event_recordings": ["tenant_id", "ends_at"],
        ]
        // `changes`: for each of the two tenants, eight rows from triggers and the sample row.
        let counts = [
            "changes": 18, "change_horizon": 1, "tenant_usage": 26, "row_counts": 6, "quota_defaults": 12,
            "token_secrets": 0, "servers": 0,
        ]
        try await Self.withTwoTenants { database in
            let all = try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT table_name::text, column_name::text FROM information_schema.columns
                        WHERE table_schema = 'doorstep'
                        """
                    ).map { try $0.decode(String.self, String.self) }
                }
            }
            try await database.withPool(as: .router) { pool in
                for (table, column) in all {
                    let rows = try await Self.rows(
                        pool, tenant: nil,
                        "SELECT count(*) FROM (SELECT \(column) FROM doorstep.\(table)) AS t")
                    let isGranted = columns[table]?.contains(column) == true
                    #expect(rows == (isGranted ? counts[table] ?? 2 : nil), "\(table).\(column)")
                }
                for table in SampleRows.tables {
                    for statement in [
                        "DELETE FROM doorstep.\(table.name)",
                        "UPDATE doorstep.\(table.name) SET tenant_id = tenant_id",
                        SampleRows.insertion(into: table, of: Self.a),
                    ] {
                        #expect(
                            try await Self.rows(pool, tenant: Self.a.description, statement) == nil,
                            "\(statement)")
                    }
                }
                #expect(
                    try await Self.rows(
                        pool, tenant: nil, "UPDATE doorstep.change_horizon SET pruned_xid = '0'") == nil)
            }
        }
    }

    @Test func loginsCannotBecomeAnotherRole() async throws {
        let roles = Set(TestLogin.allCases.flatMap(\.roles))
        try await Self.withTwoTenants([.app, .admin, .router, .manager, .serve]) { login, pool in
            for role in roles.subtracting(login.roles) {
                let state = try await sqlState {
                    try await pool.withTransaction { transaction in
                        _ = try await transaction.execute("SELECT set_config('role', \(role), true)")
                    }
                }
                #expect(state == Self.denied, "\(login) \(role)")
            }
            for statement in [
                "CREATE TABLE doorstep.x ()", "CREATE TABLE public.x ()", "CREATE SCHEMA x",
                "ALTER TABLE doorstep.clips DISABLE ROW LEVEL SECURITY",
                "SET row_security = off; TABLE doorstep.clips",
                "DROP POLICY tenant_isolation ON doorstep.clips", "TRUNCATE doorstep.clips",
            ] {
                let state = try await sqlState {
                    try await pool.withTransaction { try await $0.execute(script: statement) }
                }
                #expect(state == Self.denied, "\(login): \(statement)")
            }
        }
    }

    @Test func changesAreWrittenOnlyByTriggers() async throws {
        try await Self.withTwoTenants { database in
            for login in [TestLogin.app, .admin, .router, .serve] {
                try await database.withPool(as: login) { pool in
                    for statement in [
                        "INSERT INTO doorstep.changes (tenant_id, relation) VALUES ('\(Self.a)', 'x')",
                        "DELETE FROM doorstep.changes", "UPDATE doorstep.changes SET relation = 'x'",
                    ] {
                        let rows = try await Self.rows(pool, tenant: Self.a.description, statement)
                        #expect(rows == nil, "\(login): \(statement)")
                    }
                }
            }
            // Only the router may prune.
            for login in [TestLogin.app, .admin, .manager] {
                try await database.withPool(as: login) { pool in
                    let pruned = try await Self.rows(
                        pool, tenant: nil, "SELECT count(*) FROM doorstep.prune_changes()")
                    #expect(pruned == nil, "\(login)")
                }
            }
        }
    }

    @Test func foreignTriggerCannotWriteChanges() async throws {
        try await Self.withTwoTenants { database in
            try await database.withPool(as: .admin) { pool in
                let state = try await sqlState {
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(Self.a.description)
                        try await transaction.execute(
                            script: """
                                CREATE TEMPORARY TABLE locations (tenant_id uuid, identifier text) ON COMMIT DROP;
                                CREATE TRIGGER bad AFTER INSERT ON pg_temp.locations
                                REFERENCING NEW TABLE AS new_rows
                                FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('identifier');
                                """)
                    }
                }
                #expect(state == Self.denied)
            }
        }
    }

    /// TRUNCATE fires no row triggers, so servers would keep the deleted rows in their index.
    @Test func ownerCannotTruncateFollowedTables() async throws {
        try await Self.withTwoTenants([.migrate]) { _, pool in
            for table in [
                "tenants", "clips", "domains", "locations", "experiences", "short_codes", "api_keys",
            ] {
                let state = try await sqlState {
                    try await pool.withTransaction {
                        try await $0.execute(script: "TRUNCATE doorstep.\(table) CASCADE")
                    }
                }
                #expect(state == Self.denied, "\(table)")
            }
        }
    }
}
