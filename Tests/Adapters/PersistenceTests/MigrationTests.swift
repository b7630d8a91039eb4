import Foundation
import Locations
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct MigrationTests {
    @Test func twiceAppliesOnce() async throws {
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

    @Test func twoAtOnceApplyOnce() async throws {
        try await MigratedDatabase.withEmptyDatabase { database in
            let applied = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await database.withPool(as: .migrate) { try await Schema.migrate($0).count }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(applied.sorted() == [0, Schema.migrations.count])
        }
    }

    @Test func aNewerDatabaseIsRefused() async throws {
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

    @Test func theOthersSeeHowFarItIsAndCannotMigrate() async throws {
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

    /// What an earlier version recorded is there after the migration, is found by day, and is kept as long as the rest.
    @Test func earlierConfirmationsAreCarriedOver() async throws {
        let roles = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../sql/roles.sql"), encoding: .utf8)
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withEmptyDatabase { database in
            try await database.withPool(as: .migrate) { pool in
                let earlier = try MigrationRunner(
                    Array(Schema.migrations.prefix(3)), schema: "doorstep", lockKey: 0x646F_6F72,
                    role: "doorstep_owner", prelude: roles)
                try await earlier.migrate(on: pool)
            }
            for (login, statement) in [
                (
                    TestLogin.admin,
                    "INSERT INTO doorstep.tenants (tenant_id, slug, name) VALUES ('\(tenant)', 'acme', 'Acme')"
                ),
                (
                    .app,
                    """
                    INSERT INTO doorstep.confirmations
                        (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                    SELECT '\(tenant)', gen_random_uuid(), 'a', 'inRegion', 'nfc',
                        date_trunc('minute', now()) - n * interval '1 day'
                    FROM generate_series(0, 99) AS n
                    """
                ),
            ] {
                try await database.withPool(as: login) { pool in
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        try await transaction.execute(script: statement)
                    }
                }
            }
            try await database.withPool(as: .migrate) { pool in
                let applied = try await Schema.migrate(pool)
                #expect(applied == Array(Schema.migrations.dropFirst(3)))
            }
            try await database.withPool(as: .admin) { pool in
                let history = PostgresConfirmationHistory(pool)
                let before = try await history.latest(ConfirmationSelection(), of: tenant, limit: 1_000)
                #expect(before.count == 100)
                let upkeep = try await database.withPool(as: .router) {
                    try await ConfirmationDays($0, retention: 60).maintain()
                }
                #expect(upkeep.added == 61 + 7 && upkeep.dropped == 0)
                let after = try await history.latest(ConfirmationSelection(), of: tenant, limit: 1_000)
                #expect(after == Array(before.prefix(61)))
            }
        }
    }

    @Test func everyFileIsInTheBinary() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../sql/migrations")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let expected = try files.map { file in
            let name = file.dropLast(".sql".count)
            let underscore = try #require(name.firstIndex(of: "_"))
            return Migration(
                version: try #require(Int(name[..<underscore])),
                name: String(name[name.index(after: underscore)...]),
                sql: try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8))
        }
        #expect(!files.isEmpty && files.allSatisfy { $0.hasSuffix(".sql") })
        #expect(Schema.migrations == expected)
    }
}
