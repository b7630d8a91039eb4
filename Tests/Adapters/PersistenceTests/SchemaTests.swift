import Lookups
import Persistence
import PostgreSQL
import TestSupport
import Testing

@Suite struct SchemaTests {
    @Test func schemaFollowsItsRules() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withSuperuser { pool in
                let violations = try await pool.withTransaction(.readOnly) {
                    try await SchemaWalker.violations($0)
                }
                #expect(violations == [])
            }
        }
    }

    private struct Undo: Error {}

    /// A change that breaks rules of the schema, and the violations that SchemaWalker must report, no others.
    struct Offence: Sendable {
        let sql: String
        let reported: Set<String>

        init(_ sql: String, _ reported: String...) {
            self.sql = sql
            self.reported = Set(reported)
        }
    }

    static let offences = [
        Offence(
            "CREATE TABLE doorstep.bad (id int PRIMARY KEY); ALTER TABLE doorstep.bad OWNER TO doorstep_owner",
            "bad: a table whose primary key is without tenant_id",
            "bad_pkey: a unique index without tenant_id",
            "bad: a table without row-level security enabled and forced",
            "bad: a table without the isolation policy"),
        Offence(
            "ALTER TABLE doorstep.clips ADD CONSTRAINT bad UNIQUE (team_id)",
            "bad: a unique index without tenant_id"),
        Offence(
            "ALTER TABLE doorstep.short_codes ADD CONSTRAINT bad FOREIGN KEY (code) REFERENCES doorstep.tenants (slug)",
            "bad: a foreign key that does not join tenant_id to tenant_id"),
        Offence(
            "ALTER TABLE doorstep.clips DISABLE ROW LEVEL SECURITY",
            "clips: a table without row-level security enabled and forced"),
        Offence(
            "ALTER TABLE doorstep.clips NO FORCE ROW LEVEL SECURITY",
            "clips: a table without row-level security enabled and forced"),
        Offence(
            "DROP POLICY tenant_isolation ON doorstep.clips", "clips: a table without the isolation policy"),
        Offence(
            "ALTER POLICY tenant_isolation ON doorstep.clips USING (true)",
            "clips: a table without the isolation policy"),
        Offence(
            "ALTER POLICY tenant_isolation ON doorstep.clips WITH CHECK (true)",
            "clips: a table without the isolation policy"),
        Offence(
            "ALTER POLICY tenant_isolation ON doorstep.clips TO doorstep_app",
            "clips: a table without the isolation policy"),
        Offence(
            "CREATE POLICY bad ON doorstep.clips USING (true)",
            "bad on clips: a policy that opens a table further"),
        Offence(
            "ALTER POLICY router_reads ON doorstep.clips TO doorstep_app",
            "router_reads on clips: a policy that opens a table further"),
        Offence(
            """
            CREATE VIEW doorstep.bad AS SELECT FROM doorstep.clips;
            ALTER VIEW doorstep.bad OWNER TO doorstep_owner
            """,
            "bad: a view that reads with its owner's rights"),
        Offence(
            """
            CREATE VIEW doorstep.good WITH (security_invoker = true) AS SELECT FROM doorstep.clips;
            ALTER VIEW doorstep.good OWNER TO doorstep_owner
            """),
        Offence(
            """
            CREATE FUNCTION doorstep.bad() RETURNS int LANGUAGE sql SECURITY DEFINER RETURN 1;
            ALTER FUNCTION doorstep.bad OWNER TO doorstep_owner
            """,
            "doorstep.bad(): a function that runs with its owner's rights"),
        Offence(
            "ALTER POLICY owner_prunes ON doorstep.changes USING (true)",
            "owner_prunes on changes: a policy that opens a table further"),
        Offence(
            "ALTER POLICY owner_finds_what_to_prune ON doorstep.changes TO doorstep_app",
            "owner_finds_what_to_prune on changes: a policy that opens a table further"),
        Offence(
            "ALTER POLICY owner_prunes ON doorstep.audit_log USING (at < now() - interval '6 days')",
            "owner_prunes on audit_log: a policy that opens a table further"),
        Offence(
            "ALTER POLICY owner_finds_what_to_prune ON doorstep.audit_log TO doorstep_admin",
            "owner_finds_what_to_prune on audit_log: a policy that opens a table further"),
        Offence(
            "ALTER POLICY owner_moves ON doorstep.confirmations_default TO doorstep_app",
            "owner_moves on confirmations_default: a policy that opens a table further"),
        Offence(
            """
            CREATE TABLE doorstep.deliveries_20000101 PARTITION OF doorstep.deliveries
            FOR VALUES FROM ('2000-01-01Z') TO ('2000-01-02Z');
            ALTER TABLE doorstep.deliveries_20000101 OWNER TO doorstep_owner;
            ALTER TABLE doorstep.deliveries_20000101 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
            CREATE POLICY owner_finds_what_is_due ON doorstep.deliveries_20000101 FOR SELECT TO doorstep_owner
                USING (true);
            """,
            "deliveries_20000101: a table without the isolation policy",
            "owner_finds_what_is_due on deliveries_20000101: a policy that opens a table further"),
        Offence(
            "ALTER POLICY router_reads ON doorstep.deliveries TO doorstep_app",
            "router_reads on deliveries: a policy that opens a table further"),
        Offence(
            "GRANT SELECT ON doorstep.confirmations_default TO doorstep_admin",
            "confirmations_default: a partition that somebody but the owner has a right to"),
        Offence(
            "GRANT SELECT (minute) ON doorstep.confirmations_default TO PUBLIC",
            "confirmations_default: a partition that somebody but the owner has a right to"),
        Offence(
            "ALTER FUNCTION doorstep.drop_confirmation_days RESET search_path",
            "doorstep.drop_confirmation_days(integer): a function that runs with its owner's rights"),
        Offence(
            "ALTER FUNCTION doorstep.prune_changes RESET search_path",
            "doorstep.prune_changes(): a function that runs with its owner's rights"),
        Offence(
            "ALTER FUNCTION doorstep.record_routing_change RESET search_path",
            "doorstep.record_routing_change(): a function that runs with its owner's rights"),
        Offence(
            "ALTER FUNCTION doorstep.record_change RESET search_path",
            "doorstep.record_change(): a function that runs with its owner's rights"),
        Offence(
            "ALTER TABLE doorstep.confirmations OWNER TO doorstep_app",
            "confirmations: an object that is not the owner's",
            "confirmations_pkey: an object that is not the owner's"),
        Offence(
            "ALTER ROLE doorstep_app BYPASSRLS", "doorstep_app: a role that may more than work as itself"),
        Offence(
            "ALTER ROLE doorstep_app SUPERUSER", "doorstep_app: a role that may more than work as itself"),
        Offence("ALTER ROLE doorstep_app LOGIN", "doorstep_app: a role that may more than work as itself"),
        Offence(
            "GRANT doorstep_router TO doorstep_app", "doorstep_app: a role that may more than work as itself"),
    ]

    /// Control: SchemaWalker reports each violation, and nothing else.
    @Test func violationsAreReported() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withSuperuser { pool in
                for offence in Self.offences {
                    await #expect(throws: Undo.self) {
                        try await pool.withTransaction { transaction in
                            try await transaction.execute(script: offence.sql)
                            let reported = try await SchemaWalker.violations(transaction)
                            #expect(Set(reported.map(\.description)) == offence.reported, "\(offence.sql)")
                            throw Undo()
                        }
                    }
                }
            }
        }
    }

    @Test func grantsMatchTheExpectedList() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withSuperuser { pool in
                let grants = try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        WITH grants (acl, object, part) AS (
                            SELECT nspacl, nspname::text, NULL FROM pg_namespace WHERE nspname = 'doorstep'
                            UNION ALL
                            SELECT relacl, relname::text, NULL FROM pg_class
                            WHERE relnamespace = 'doorstep'::regnamespace
                            UNION ALL
                            SELECT attacl, c.relname::text, attname::text
                            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                            WHERE relnamespace = 'doorstep'::regnamespace
                            UNION ALL
                            SELECT coalesce(proacl, acldefault('f', proowner)),
                                replace(oid::regprocedure::text, 'doorstep.', ''), NULL
                            FROM pg_proc WHERE pronamespace = 'doorstep'::regnamespace
                        )
                        SELECT CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END || ' '
                            || privilege_type || CASE WHEN is_grantable THEN ' WITH GRANT OPTION ' ELSE ' ' END
                            || object || coalesce(' (' || string_agg(part, ', ' ORDER BY part) || ')', '')
                            COLLATE "C" AS line
                        FROM grants, aclexplode(acl)
                        WHERE grantee <> 'doorstep_owner'::regrole
                        GROUP BY grantee, privilege_type, is_grantable, object, part IS NULL
                        ORDER BY line
                        """
                    ).map { try $0.decode(at: 0, as: String.self) }
                }
                #expect(grants == Grants.expected.split(separator: "\n").map(String.init))
            }
        }
    }

    /// The router may read exactly the declared columns of a relation and the columns in `others`. If a role may change rows of the relation,
    /// the triggers record each change with the row's primary key.
    @Test(arguments: IndexRelation.allCases)
    func grantsAndTriggersMatchTheRoutingRelation(relation: IndexRelation) async throws {
        let names = relation.columns.map(\.columnName)
        let keys = relation.keyColumns.map(\.columnName)
        let declared = Set(names + [relation.condition?.column].compactMap(\.self))
        #expect(names.first == "tenant_id" && Array(names.dropFirst().prefix(keys.count)) == keys)
        try await MigratedDatabase.withDatabase { database in
            try await database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    let table = "doorstep.\(relation.rawValue)"
                    let columns = try await connection.execute(
                        """
                        SELECT attname::text, has_column_privilege('doorstep_router', attrelid, attnum, 'SELECT'),
                            EXISTS (SELECT FROM pg_roles WHERE rolname LIKE 'doorstep\\_%'
                                AND rolname <> 'doorstep_owner' AND NOT rolcanlogin
                                AND has_column_privilege(oid, attrelid, attnum, 'UPDATE')),
                            EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary
                                AND attnum = ANY (indkey))
                        FROM pg_attribute
                        WHERE attrelid = \(table)::regclass AND attnum > 0 AND NOT attisdropped
                        """
                    ).map { try $0.decode(String.self, Bool.self, Bool.self, Bool.self) }
                    // Columns for lists, the retention job and checks of proofs.
                    let others: Set<String> =
                        switch relation {
                        case .revokedAttestKeys: ["revoked_at"]
                        case .domains: ["checked_at", "contested_at"]
                        case .tenants: ["slug", "quotas"]
                        default: ["slug"]
                        }
                    let readable = Set(columns.filter(\.1).map(\.0)).subtracting(others)
                    #expect(readable == declared)
                    #expect(Set(columns.filter(\.3).map(\.0)) == Set(keys + ["tenant_id"]))

                    let triggers = try await connection.execute(
                        """
                        SELECT tgname::text,
                            string_to_array(rtrim(encode(tgargs, 'escape'), '\\000'), '\\000') FROM pg_trigger
                        WHERE tgrelid = \(table)::regclass AND tgname LIKE 'record\\_routing\\_%' ORDER BY tgname
                        """
                    ).map { try $0.decode(String.self, [String].self) }
                    #expect(
                        triggers.map(\.0) == [
                            "record_routing_delete", "record_routing_insert", "record_routing_update",
                        ])
                    for (_, arguments) in triggers {
                        #expect((arguments.first ?? "") == keys.joined(separator: ", "))
                    }
                    let watched = Set(
                        (triggers.last?.1.dropFirst().last ?? "").split(separator: ", ").map(String.init))
                    #expect(watched.isSubset(of: declared.subtracting(keys)))
                    let changeable = Set(columns.filter(\.2).map(\.0))
                    #expect(declared.intersection(changeable).isSubset(of: watched))
                }
            }
        }
    }
}
