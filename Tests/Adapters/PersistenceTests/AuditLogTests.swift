import Administration
import Foundation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct AuditLogTests {
    private struct Entry: Sendable, Hashable {
        let actor: String
        let login: String
        let action: String
        let relation: String
        let before: String?
        let after: String?
    }

    /// Tables that operators write.
    private static let audited = SampleRows.tables.filter {
        // Images are identified by the digest of their file, so the files are not audited. Tables of App Store Connect are records
        // themselves. Recording of events is started by a listener, not by a person.
        $0.login == .admin && !["card_image_bytes", "event_recordings"].contains($0.name)
            && (!$0.name.hasPrefix("app_store_") || $0.name == "app_store_connections")
    }

    private static func entries(_ transaction: Transaction) async throws -> [Entry] {
        try await transaction.execute(
            """
            SELECT actor, login, action, relation, before::text, after::text
            FROM doorstep.audit_log ORDER BY entry_id
            """
        ).map { row in
            let (actor, login, action, relation, before, after) = try row.decode(
                String.self, String.self, String.self, String.self, String?.self, String?.self)
            return Entry(
                actor: actor, login: login, action: action, relation: relation, before: before, after: after)
        }
    }

    /// Each new table must be audited or listed as an exception.
    @Test func everyCatalogueTableIsAudited() async throws {
        try await MigratedDatabase.withDatabase { database in
            let triggers = try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT tgrelid::regclass::text || ' ' || tgname FROM pg_trigger
                        WHERE NOT tgisinternal AND tgfoid = 'doorstep.record_change'::regproc AND tgenabled = 'O'
                        """
                    ).map { try $0.decode(at: 0, as: String.self) }
                }
            }
            let expected = Self.audited.flatMap { table in
                (table.change == nil ? ["insert", "delete"] : ["insert", "update", "delete"]).map {
                    "doorstep.\(table.name) record_\($0)"
                }
            }
            #expect(Set(triggers) == Set(expected))
        }
    }

    @Test func eachChangeHasOneAuditEntry() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .admin) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute("SELECT set_config('doorstep.actor', 'operator:bob', true)")
                    var seen = 0

                    func row(_ table: SampleRows.Table) async throws -> String {
                        try await transaction.execute(
                            """
                            SELECT (to_jsonb(t) - '{digest,last_used_on,sealed_secret,previous_sealed_secret,failing_since,checked_at}'
                                ::text[])::text
                            FROM doorstep.\(identifier: table.name) t WHERE \(unsafeSQL: table.key)
                            """
                        ).one().decode(at: 0)
                    }

                    func expectOne(
                        _ action: String, _ table: SampleRows.Table, before: String?, after: String?
                    ) async throws {
                        let entries = try await Self.entries(transaction)
                        let entry = Entry(
                            actor: "operator:bob", login: TestLogin.admin.rawValue, action: action,
                            relation: table.name, before: before, after: after)
                        #expect(entries.dropFirst(seen) == [entry])
                        seen = entries.count
                    }

                    for table in Self.audited {
                        try await transaction.execute(script: SampleRows.insertion(into: table, of: tenant))
                        let first = try await row(table)
                        try await expectOne("insert", table, before: nil, after: first)

                        guard let change = table.change else { continue }
                        let update = "UPDATE doorstep.\(table.name) SET \(change) WHERE \(table.key)"
                        try await transaction.execute(script: update)
                        let second = try await row(table)
                        #expect(first != second)
                        try await expectOne("update", table, before: first, after: second)

                        // now() does not change within a transaction, so the second update changes nothing.
                        try await transaction.execute(script: update)
                        #expect(try await Self.entries(transaction).count == seen)
                    }
                    for table in Self.audited.reversed() {
                        let last = try await row(table)
                        try await transaction.execute(
                            script: "DELETE FROM doorstep.\(table.name) WHERE \(table.key)")
                        try await expectOne("delete", table, before: last, after: nil)
                    }
                    #expect(seen == Self.audited.reduce(0) { $0 + ($1.change == nil ? 2 : 3) })
                }
            }
        }
    }

    @Test func auditEntriesContainNoDigest() async throws {
        try await Stores.withTenant { stores, tenant in
            let key = APIKey.generate(.secret)
            let record = try await stores.administration.createKey(
                key, scopes: nil, expiresAt: nil, of: tenant)
            _ = try await stores.administration.revokeKey(record.id, of: tenant)
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    let digest: String = try await transaction.execute(
                        "SELECT encode(digest, 'hex') FROM doorstep.api_keys"
                    ).one().decode(at: 0)
                    let entries = try await Self.entries(transaction).filter { $0.relation == "api_keys" }
                    #expect(entries.map(\.action) == ["insert", "update"])
                    for text in entries.flatMap({ [$0.before, $0.after] }).compactMap(\.self) {
                        #expect(!text.contains(digest) && !text.contains("digest") && text.contains(key.hint))
                    }
                }
            }
        }
    }

    @Test func auditEntryNamesTheStoresActor() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            try await stores.importLocations([.sample("a"), .sample("b", radius: 5)], of: tenant)
            try await stores.administration.createExperience(.sample("https://example.com"), of: tenant)
            _ = try await stores.administration.setSuspended(true, TenantSlug("acme"))
            _ = try await stores.administration.setSuspended(true, TenantSlug("acme"))
            try await stores.database.withSuperuser { pool in
                let entries = try await pool.withTransaction { try await Self.entries($0) }
                #expect(Set(entries.map(\.actor)) == ["operator:alice"])
                #expect(
                    entries.map { "\($0.action) \($0.relation)" } == [
                        "insert tenants", "insert clips", "insert locations", "insert locations",
                        "update locations", "insert experiences", "update tenants",
                    ])
            }
        }
    }

    @Test func auditEntryWithoutActorNamesTheLogin() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .admin) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        script: SampleRows.insertion(into: Self.audited[0], of: tenant))
                    let actors = try await Self.entries(transaction).map(\.actor)
                    #expect(actors == [TestLogin.admin.rawValue])
                }
            }
        }
    }

    @Test func auditEntriesCannotBeWrittenOrChanged() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            try await database.insertSampleRows(of: tenant)
            for login in TestLogin.allCases {
                try await database.withPool(as: login) { pool in
                    for statement in [
                        "UPDATE doorstep.audit_log SET actor = 'nobody'", "DELETE FROM doorstep.audit_log",
                        "TRUNCATE doorstep.audit_log",
                        """
                        INSERT INTO doorstep.audit_log (tenant_id, actor, action, relation, after)
                        VALUES ('\(tenant)', 'x', 'insert', 'x', '{}')
                        """,
                    ] where login != .migrate || !statement.hasPrefix("INSERT") {
                        let state = try await sqlState {
                            try await pool.withTransaction { transaction in
                                try await transaction.setTenant(tenant.description)
                                try await transaction.execute(script: statement)
                            }
                        }
                        #expect(state == "42501", "\(login): \(statement)")
                    }
                }
            }
        }
    }

    /// The audit function runs as the owner, so a trigger of another role must not be able to call it.
    @Test func foreignTriggerCannotUseTheAuditFunction() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .admin) { pool in
                let state = try await sqlState {
                    try await pool.withTransaction { transaction in
                        try await transaction.setTenant(tenant.description)
                        try await transaction.execute(
                            script: """
                                CREATE TEMPORARY TABLE locations (tenant_id uuid, identifier text);
                                CREATE TRIGGER record_insert AFTER INSERT ON pg_temp.locations
                                REFERENCING NEW TABLE AS new_rows
                                FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_change();
                                """)
                    }
                }
                #expect(state == "42501")
            }
        }
    }

    /// A temporary table with the same name must not replace the tables of the audit function.
    @Test func temporaryTableDoesNotReplaceTheAuditLog() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .admin) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        script: """
                            CREATE TEMPORARY TABLE new_rows (tenant_id uuid) ON COMMIT DROP;
                            CREATE TEMPORARY TABLE audit_log (LIKE doorstep.audit_log) ON COMMIT DROP;
                            """)
                    try await transaction.execute(
                        script: SampleRows.insertion(into: Self.audited[0], of: tenant))
                    let entries = try await Self.entries(transaction)
                    #expect(entries.map(\.relation) == ["tenants"])
                    #expect(entries.map(\.login) == [TestLogin.admin.rawValue])
                }
            }
        }
    }
}
