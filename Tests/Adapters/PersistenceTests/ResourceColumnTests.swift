import Administration
import PostgreSQL
import TestSupport
import Testing

@testable import Persistence

/// Compares the fields of resources with the columns of their tables.
@Suite struct ResourceColumnTests {
    /// Name, type and collation of the columns of a relation, without the columns in `others`.
    private func columns(
        of relation: String, except others: Set<String>, _ transaction: Transaction
    ) async throws -> Set<String> {
        Set(
            try await transaction.execute(
                """
                SELECT attname::text, format_type(atttypid, atttypmod)
                    || coalesce(' ' || (SELECT collname FROM pg_collation c WHERE c.oid = attcollation), '')
                FROM pg_attribute WHERE attrelid = \(relation)::regclass AND attnum > 0 AND NOT attisdropped
                """
            ).map { try $0.decode(String.self, String.self) }.filter { !others.contains($0.0) }.map {
                "\($0.0) \($0.1)"
            })
    }

    private func expectEachColumnHasField<Item: StoredResource>(
        _: Item.Type, _ transaction: Transaction
    ) async throws {
        let names = try await transaction.execute(
            """
            SELECT attname::text FROM pg_attribute
            WHERE attrelid = \("doorstep.\(Item.relation)")::regclass AND attnum > 0 AND NOT attisdropped
                AND attname <> 'tenant_id'
            """
        ).map { try $0.decode(at: 0, as: String.self) }
        #expect(Item.columnList.split(separator: ", ").map(String.init).sorted() == names.sorted())
    }

    private func expectStagedColumnsHaveTypesOfTable<Item: ImportedResource>(
        _: Item.Type, _ transaction: Transaction
    ) async throws {
        try await transaction.execute(Item.stagingTable)
        let staged = try await columns(of: "pg_temp.staged", except: ["line", "cleared"], transaction)
        let stored = try await columns(
            of: "doorstep.\(Item.relation)", except: ["tenant_id"], transaction)
        #expect(staged == stored)
        try await transaction.execute("DROP TABLE pg_temp.staged")
    }

    @Test func eachColumnOfResourceTableHasField() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    try await expectEachColumnHasField(Clip.self, transaction)
                    try await expectEachColumnHasField(CardImage.self, transaction)
                    try await expectEachColumnHasField(DomainRecord.self, transaction)
                    for kind in PostgresAdministrationStore.collections {
                        try await expectEachColumnHasField(kind, transaction)
                    }
                }
            }
        }
    }

    @Test func stagedColumnsHaveTypesOfTable() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    for kind in PostgresAdministrationStore.collections {
                        try await expectStagedColumnsHaveTypesOfTable(kind, transaction)
                    }
                }
            }
        }
    }

    @Test func collectionsHaveTablesInOrderOfArchive() {
        #expect(
            PostgresAdministrationStore.collections.map { $0.typeName }
                == TenantArchive.collections.map { $0.typeName })
    }

    @Test func dependentsFollowFromReferencesOfFields() {
        #expect(
            LocationRecord.dependents.map { "\($0.relation) \($0.column) \($0.name)" }
                == ["experiences location_identifier kind || ' ' || url"])
        #expect(ExperienceRecord.dependents.isEmpty && ShortCode.dependents.isEmpty)
    }
}
