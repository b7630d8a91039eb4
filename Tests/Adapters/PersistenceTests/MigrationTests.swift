import Foundation
import Persistence
import PostgreSQL
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
