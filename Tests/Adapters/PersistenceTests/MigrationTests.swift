import Administration
import Foundation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct MigrationTests {
    @Test func repeatedMigrationAppliesOnce() async throws {
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { pool in
                #expect(try await Schema.status(pool).pending == Schema.migrations)
                #expect(try await Schema.migrate(pool) == Schema.migrations)
                #expect(try await Schema.migrate(pool) == [])
                let status = try await Schema.status(pool)
                #expect(status.isCurrent && status.version == Schema.migrations.count)
            }
        }
    }

    @Test func concurrentMigrationsApplyOnce() async throws {
        try await MigratedDatabase.withEmptyDatabase { database in
            let applied = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await database.withPool(as: .migrate) { try await Schema.migrate($0).count }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(applied.reduce(0, +) == Schema.migrations.count)
        }
    }

    @Test func newerDatabaseIsRejected() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .migrate) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.schema_migrations (version, name, checksum)
                        VALUES (\(Schema.migrations.count + 1), 'later', '')
                        """)
                }
                let count = Schema.migrations.count
                let newer = PostgreSQLError.databaseIsNewer(database: count + 1, binary: count)
                await #expect(throws: newer) { try await Schema.migrate(pool) }
                for login in [TestLogin.app, .admin] {
                    try await database.withPool(as: login) { pool in
                        await #expect(throws: newer) { try await Schema.status(pool) }
                    }
                }
            }
        }
    }

    @Test func otherRolesReadTheVersionButCannotMigrate() async throws {
        try await MigratedDatabase.withDatabase { database in
            for login in [TestLogin.app, .admin] {
                try await database.withPool(as: login) { pool in
                    #expect(try await Schema.status(pool).isCurrent)
                    let state = try await sqlState { _ = try await Schema.migrate(pool) }
                    #expect(state == "42501")
                }
            }
        }
    }

    /// Migrates an empty database to the schema of an older Doorstep.
    private static func migrate(_ pool: ConnectionPool, upTo version: Int) async throws {
        let roles = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../sql/roles.sql")
        _ = try await MigrationRunner(
            Array(Schema.migrations.prefix(version)), schema: "doorstep", lockKey: 1, role: "doorstep_owner",
            prelude: String(contentsOf: roles, encoding: .utf8)
        ).migrate(on: pool)
    }

    @Test func rowsThatExistAreCountedByTheMigration() async throws {
        let tenants = (0..<2).map { _ in TenantID(UUID()) }
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { try await Self.migrate($0, upTo: 21) }
            for (number, tenant) in tenants.enumerated() {
                try await database.withPool(as: .admin) { pool in
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        try await transaction.execute(
                            script: """
                                INSERT INTO doorstep.tenants (tenant_id, slug, name) VALUES ('\(tenant)', 't\(number)', 'T');
                                INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius, details)
                                SELECT '\(tenant)', 'l' || n, 'é', 1, 1, 1, '{"a": "b"}' FROM generate_series(0, \(number)) n;
                                INSERT INTO doorstep.card_images (tenant_id, sha256, media_type, byte_count)
                                VALUES ('\(tenant)', encode(sha256('1'), 'hex'), 'image/png', 7)
                                """)
                    }
                }
            }
            try await database.withPool(as: .migrate) { _ = try await Schema.migrate($0) }
            let usage = try await database.withPool(as: .admin) { pool in
                try await PostgresAdministrationStore(pool, actor: "t").tenants().map(\.usage)
            }
            // The first location has an identifier of 2 bytes, a name of 2 bytes, "{}" and {"a": "b"}.
            #expect(
                usage.map { $0[.locations]?.rows } == [1, 2]
                    && usage.map { $0[.locations]?.bytes } == [16, 32])
            #expect(usage.map { $0[.images]?.bytes } == [7, 7])
            #expect(usage.map { $0[.total]?.rows } == [2, 3] && usage.map { $0[.total]?.bytes } == [23, 39])
        }
    }

    @Test func keysAndInstancesAreCountedAgainByTheMigration() async throws {
        let tenants = (0..<2).map { _ in TenantID(UUID()) }
        try await MigratedDatabase.withEmptyDatabase { database in
            // Migration 25 shortens a scope.
            try await database.withPool(as: .migrate) { try await Self.migrate($0, upTo: 24) }
            try await database.withPool(as: .admin) { pool in
                for (number, tenant) in tenants.enumerated() {
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        try await transaction.execute(
                            script: """
                                INSERT INTO doorstep.tenants (tenant_id, slug, name) VALUES ('\(tenant)', 't\(number)', 'T');
                                INSERT INTO doorstep.clips (tenant_id, bundle_id, parent_bundle_id, team_id, app_id_prefix)
                                VALUES ('\(tenant)', 'com.example.A.Clip', 'com.example.A', 'TEAM123456', 'TEAM123456');
                                INSERT INTO doorstep.api_keys (tenant_id, key_id, kind, digest, hint, scopes)
                                SELECT '\(tenant)', gen_random_uuid(), 'secret', sha256(n::text::bytea), n, '{look_up,read}'
                                FROM generate_series(1, 3) AS n;
                                UPDATE doorstep.api_keys SET revoked_at = now() WHERE hint = '1'
                                """)
                    }
                }
            }
            try await database.withPool(as: .app) { pool in
                for (number, tenant) in tenants.enumerated() {
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        _ = try await transaction.execute(
                            """
                            INSERT INTO doorstep.instances
                                (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                            SELECT \(tenant.uuid), gen_random_uuid(), 'com.example.A.Clip', 'clip', 'production', 'denied', now()
                            FROM generate_series(1, \(number + 4))
                            """)
                    }
                }
            }
            try await database.withPool(as: .migrate) { _ = try await Schema.migrate($0) }
            try await database.withPool(as: .admin) { pool in
                let usage = try await PostgresAdministrationStore(pool, actor: "t").tenants().map(\.usage)
                #expect(usage.map { $0[.instances]?.rows } == [4, 5])
                #expect(usage.map { $0[.deliveries]?.rows } == [0, 0])
                #expect(usage.map { $0[.auditLog]?.bytes } == [0, 0])
                for usage in usage {
                    // Two keys, each of 6 bytes, a hint of 1 and "{lookup,read}".
                    #expect(usage[.keys]?.rows == 2 && usage[.keys]?.bytes == 40)
                    #expect(usage[.total]?.rows == 3)
                    #expect(usage[.total]?.bytes == 40 + (usage[.clips]?.bytes ?? 0))
                }
                // The counts go on from there.
                for tenant in tenants {
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        try await transaction.execute(
                            script: """
                                DELETE FROM doorstep.instances; DELETE FROM doorstep.clips; DELETE FROM doorstep.api_keys
                                """)
                    }
                }
                let empty = try await PostgresAdministrationStore(pool, actor: "t").tenants().map(\.usage)
                #expect(empty.allSatisfy { $0.values.allSatisfy { $0.rows == 0 && $0.bytes == 0 } })
            }
            try await database.withSuperuser { pool in
                let violations = try await pool.withTransaction(.readOnly) {
                    try await SchemaWalker.violations($0)
                }
                #expect(violations == [])
            }
        }
    }

    /// An operator asks for the status before an upgrade.
    @Test func statusOfOlderSchemaHasNoServers() async throws {
        let version = try #require(Schema.migrations.first { $0.name == "servers" }).version
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { try await Self.migrate($0, upTo: version - 1) }
            try await database.withSuperuser { pool in
                let status = try await PostgresInstallation(pool).status()
                #expect(status.schemaVersion == version - 1 && status.servers.isEmpty)
            }
        }
    }

    @Test func secretsOfExistingDataAreStoredByTheMigration() async throws {
        let version = try #require(Schema.migrations.first { $0.name == "token_secrets" }).version
        let secrets = ["a", "b"].map { String(repeating: $0, count: 32) }
        let keys = try secrets.map { try #require(SealingKeys(secrets: [$0])) }
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { try await Self.migrate($0, upTo: version - 1) }
            try await database.withSuperuser { pool in
                for number in 0..<4 {
                    let tenant = TenantID(UUID())
                    let sealed = try keys[number % 2].of(tenant).seal([1, 2, 3, 4], at: [])
                    try await pool.withTransaction { transaction in
                        try await transaction.execute("SET LOCAL session_replication_role = replica")
                        if number < 2 {
                            try await transaction.execute(
                                """
                                INSERT INTO doorstep.push_tokens
                                    (tenant_id, instance_id, kind, digest, sealed, registered_at)
                                VALUES (\(tenant.uuid), \(UUID()), 'device', sha256('t'), \(sealed), now())
                                """)
                        } else {
                            try await transaction.execute(
                                """
                                INSERT INTO doorstep.app_store_connections (tenant_id, bundle_id, key_id, sealed_secret)
                                VALUES (\(tenant.uuid), 'com.example.App.Clip', 'ABCDE12345', \(sealed))
                                """)
                        }
                    }
                }
            }
            try await database.withPool(as: .migrate) { _ = try await Schema.migrate($0) }
            try await database.withPool(as: .router) { pool in
                let stored = PostgresTokenSecrets(pool)
                #expect(try await stored.compare(with: keys[0]) == .init(readable: 1, unreadable: 1))
                let both = try #require(SealingKeys(secrets: secrets))
                #expect(try await stored.compare(with: both) == .init(readable: 2))
            }
            // Row-level security is forced again.
            try await database.withSuperuser { pool in
                let violations = try await pool.withTransaction(.readOnly) {
                    try await SchemaWalker.violations($0)
                }
                #expect(violations == [])
            }
        }
    }

    /// The audit log of each tenant records the change.
    @Test func migratedKeysKeepTheirFormerScopes() async throws {
        let tenants = (0..<2).map { _ in TenantID(UUID()) }
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { pool in
                try await Self.migrate(pool, upTo: 1)
            }
            try await database.withPool(as: .admin) { pool in
                for tenant in tenants {
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        try await transaction.execute(
                            script: """
                                INSERT INTO doorstep.tenants (tenant_id, slug, name)
                                VALUES ('\(tenant)', 't' || left('\(tenant)', 8), 'T');
                                INSERT INTO doorstep.api_keys (tenant_id, key_id, kind, digest, hint, scopes) VALUES
                                    ('\(tenant)', gen_random_uuid(), 'secret', sha256('1'), '1', NULL),
                                    ('\(tenant)', gen_random_uuid(), 'publishable', sha256('2'), '2', NULL),
                                    ('\(tenant)', gen_random_uuid(), 'secret', sha256('3'), '3', '{notify}')
                                """)
                    }
                }
            }
            try await database.withPool(as: .migrate) { _ = try await Schema.migrate($0) }
            try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    let kept = try await connection.execute(
                        """
                        SELECT tenant_id, string_agg(array_to_string(scopes, '+'), ' ' ORDER BY hint),
                            (SELECT count(*) FROM doorstep.audit_log a WHERE a.tenant_id = k.tenant_id
                                AND relation = 'api_keys' AND action = 'update' AND actor = 'migration:2')
                        FROM doorstep.api_keys k GROUP BY tenant_id
                        """
                    ).map { try $0.decode(UUID.self, String.self, Int.self) }
                    #expect(Set(kept.map(\.0)) == Set(tenants.map(\.uuid)))
                    for (_, scopes, entries) in kept {
                        #expect(
                            scopes
                                == "lookup+confirm+compose+register+notify lookup+confirm+register notify")
                        #expect(entries == 2)
                    }
                }
            }
        }
    }

    /// Its waiting messages and its events stay.
    @Test func migratedWebhookKeepsItsMessages() async throws {
        let tenants = (0..<2).map { _ in TenantID(UUID()) }
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { try await Self.migrate($0, upTo: 3) }
            for tenant in tenants {
                for (login, script) in [
                    (
                        TestLogin.admin,
                        """
                        INSERT INTO doorstep.tenants (tenant_id, slug, name)
                        VALUES ('$tenant', 't' || left('$tenant', 8), 'T');
                        INSERT INTO doorstep.webhooks (tenant_id, url, sealed_secret)
                        VALUES ('$tenant', 'https://example.com/hooks', sha512('s'))
                        """
                    ),
                    (
                        .app,
                        """
                        INSERT INTO doorstep.webhook_messages (tenant_id, message_id, body, due_at)
                        SELECT '$tenant', gen_random_uuid(), '{}', now() FROM generate_series(1, 2)
                        """
                    ),
                ] {
                    try await database.withPool(as: login) { pool in
                        try await pool.withTransaction { transaction in
                            try await transaction.setTenant(tenant.description)
                            try await transaction.execute(
                                script: script.replacing("$tenant", with: tenant.description))
                        }
                    }
                }
            }
            try await database.withPool(as: .migrate) { _ = try await Schema.migrate($0) }
            try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    let kept = try await connection.execute(
                        """
                        SELECT w.tenant_id, array_to_string(w.events, '+'), count(m.message_id)
                        FROM doorstep.webhooks w
                        LEFT JOIN doorstep.webhook_messages m ON m.tenant_id = w.tenant_id
                            AND m.webhook_id = w.webhook_id AND m.state = 'waiting' AND m.type = 'deliveries.finished'
                            AND m.queued_at = m.created_at
                        GROUP BY w.tenant_id, w.webhook_id
                        """
                    ).map { try $0.decode(UUID.self, String.self, Int.self) }
                    #expect(Set(kept.map(\.0)) == Set(tenants.map(\.uuid)) && kept.count == 2)
                    #expect(kept.allSatisfy { $0.1 == "delivery.finished" && $0.2 == 2 })
                }
            }
        }
    }

    /// Waiting messages keep the type in their body.
    @Test func migratedNamesFollowTheVocabulary() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { try await Self.migrate($0, upTo: 24) }
            try await database.withPool(as: .admin) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        script: """
                            INSERT INTO doorstep.tenants (tenant_id, slug, name) VALUES ('\(tenant)', 't', 'T');
                            INSERT INTO doorstep.clips (tenant_id, bundle_id, parent_bundle_id, team_id, app_id_prefix, attestation)
                            VALUES ('\(tenant)', 'com.example.A.Clip', 'com.example.A', 'TEAM123456', 'TEAM123456',
                                '{"lookUp": "require", "ramp": 50}');
                            INSERT INTO doorstep.api_keys (tenant_id, key_id, kind, digest, hint, scopes)
                            VALUES ('\(tenant)', gen_random_uuid(), 'secret', sha256('1'), '1', '{look_up,read}');
                            INSERT INTO doorstep.webhooks (tenant_id, webhook_id, url, sealed_secret, events)
                            VALUES ('\(tenant)', gen_random_uuid(), 'https://example.com/hooks', sha512('s'),
                                '{deliveries.finished,key.revoked}')
                            """)
                }
            }
            try await database.withPool(as: .migrate) { _ = try await Schema.migrate($0) }
            try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    let row = try await connection.execute(
                        """
                        SELECT (SELECT attestation::text FROM doorstep.clips),
                            (SELECT array_to_string(scopes, '+') FROM doorstep.api_keys),
                            (SELECT array_to_string(events, '+') FROM doorstep.webhooks)
                        """
                    ).map { try $0.decode(String.self, String.self, String.self) }[0]
                    #expect(row.0 == #"{"ramp": 50, "lookup": "require"}"#)
                    #expect(row.1 == "lookup+read" && row.2 == "delivery.finished+key.revoked")
                }
            }
        }
    }

    @Test func everyMigrationFileIsInTheBinary() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../sql/migrations")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let expected = try files.map { file in
            let name = file.dropLast(".sql".count)
            let underscore = try #require(name.firstIndex(of: "_"))
            let version = try #require(Int(name[..<underscore]))
            return Migration(
                version: version,
                name: String(name[name.index(after: underscore)...]),
                sql: try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8),
                // Only the list has this value.
                compatibleFrom: Schema.migrations.first { $0.version == version }?.compatibleFrom)
        }
        #expect(!files.isEmpty && files.allSatisfy { $0.hasSuffix(".sql") })
        #expect(Schema.migrations == expected)
    }
}
