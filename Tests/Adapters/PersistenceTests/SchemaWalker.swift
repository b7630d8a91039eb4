import PostgreSQL

/// Finds violations of Doorstep's schema rules in the system catalogues.
///
/// Each rule is a statement that selects the violations. The rules therefore also apply to tables of later migrations.
struct SchemaWalker {
    struct Violation: Hashable, CustomStringConvertible {
        let rule: String
        let object: String
        var description: String { "\(object): \(rule)" }
    }

    static func violations(_ transaction: Transaction) async throws -> Set<Violation> {
        var violations: Set<Violation> = []
        for (rule, query) in rules {
            for row in try await transaction.execute(query) {
                violations.insert(Violation(rule: rule, object: try row.decode(at: 0)))
            }
        }
        return violations
    }

    /// The tables whose rows belong to the whole installation, not to tenants.
    private static let installationTables =
        """
        'schema_migrations', 'change_horizon', 'console_links', 'console_sessions', 'console_events', 'console_key', 'token_secrets', \
        'quota_defaults', 'usage_settlements', 'servers'
        """

    /// The tables whose rows belong to tenants. A partition is part of its table.
    static let tenantTables: Query = """
        SELECT relname::text FROM pg_class
        WHERE relnamespace = 'doorstep'::regnamespace AND relkind IN ('r', 'p')
            AND NOT relispartition AND relname NOT IN (\(unsafeSQL: installationTables))
        ORDER BY relname
        """

    private static let rules: [(String, Query)] = [
        (
            "a table whose primary key is without tenant_id",
            """
            SELECT c.relname::text FROM pg_class c
            WHERE c.relnamespace = 'doorstep'::regnamespace AND c.relkind IN ('r', 'p')
                AND c.relname NOT IN (\(unsafeSQL: installationTables))
                AND NOT EXISTS (SELECT FROM pg_constraint k
                    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
                    WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attname = 'tenant_id')
            """
        ),
        (
            "a unique index without tenant_id",
            """
            SELECT x.relname::text FROM pg_index i
            JOIN pg_class c ON c.oid = i.indrelid
            JOIN pg_class x ON x.oid = i.indexrelid
            WHERE c.relnamespace = 'doorstep'::regnamespace AND i.indisunique
                AND c.relname NOT IN (\(unsafeSQL: installationTables))
                AND NOT EXISTS (SELECT FROM pg_attribute a
                    WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey) AND a.attname = 'tenant_id')
                -- What an operator alone writes, and what is proved to the world.
                AND x.relname NOT IN ('tenants_slug_key', 'domains_proved_host')
            """
        ),
        (
            "a foreign key that does not join tenant_id to tenant_id",
            """
            SELECT k.conname::text FROM pg_constraint k
            JOIN pg_class c ON c.oid = k.conrelid
            WHERE c.relnamespace = 'doorstep'::regnamespace AND k.contype = 'f'
                AND NOT EXISTS (SELECT FROM unnest(k.conkey, k.confkey) AS pair (here, there)
                    JOIN pg_attribute h ON h.attrelid = k.conrelid AND h.attnum = pair.here
                    JOIN pg_attribute t ON t.attrelid = k.confrelid AND t.attnum = pair.there
                    WHERE h.attname = 'tenant_id' AND t.attname = 'tenant_id')
            """
        ),
        (
            "a table without row-level security enabled and forced",
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'doorstep'::regnamespace AND relkind IN ('r', 'p')
                AND relname NOT IN (\(unsafeSQL: installationTables))
                AND NOT (relrowsecurity AND relforcerowsecurity)
            """
        ),
        (
            "a table without the isolation policy",
            """
            SELECT c.relname::text FROM pg_class c
            WHERE c.relnamespace = 'doorstep'::regnamespace AND c.relkind IN ('r', 'p')
                AND c.relname NOT IN (\(unsafeSQL: installationTables))
                AND NOT EXISTS (SELECT FROM pg_policies p
                    WHERE p.schemaname = 'doorstep' AND p.tablename = c.relname AND p.policyname = 'tenant_isolation'
                        AND p.cmd = 'ALL' AND p.roles = '{public}' AND p.qual = p.with_check
                        AND p.qual =
                            '(tenant_id = ( SELECT doorstep.current_tenant_id() AS current_tenant_id))')
            """
        ),
        (
            // Permissive policies are combined with OR, so each additional policy permits more rows.
            "a policy that opens a table further",
            """
            SELECT p.policyname || ' on ' || p.tablename FROM pg_policies p
            WHERE p.schemaname = 'doorstep' AND p.permissive = 'PERMISSIVE' AND p.policyname <> 'tenant_isolation'
                AND NOT (p.cmd = 'SELECT' AND (p.tablename::text, p.policyname::text, p.roles::text) IN (
                    ('tenants', 'admin_lists_tenants', '{doorstep_admin}'),
                    ('tenants', 'router_reads', '{doorstep_router}'),
                    ('tenant_usage', 'admin_lists_usage', '{doorstep_admin}'),
                    ('tenant_usage', 'router_reads', '{doorstep_router}'),
                    ('row_counts', 'admin_lists_usage', '{doorstep_admin}'),
                    ('row_counts', 'router_reads', '{doorstep_router}'),
                    ('clips', 'router_reads', '{doorstep_router}'),
                    ('domains', 'router_reads', '{doorstep_router}'),
                    ('domain_checks', 'router_reads', '{doorstep_router}'),
                    ('locations', 'router_reads', '{doorstep_router}'),
                    ('experiences', 'router_reads', '{doorstep_router}'),
                    ('short_codes', 'router_reads', '{doorstep_router}'),
                    ('app_store_connections', 'router_reads', '{doorstep_router}'),
                    ('app_store_checks', 'router_reads', '{doorstep_router}'),
                    ('api_keys', 'router_reads', '{doorstep_router}'),
                    ('revoked_attest_keys', 'router_reads', '{doorstep_router}'),
                    ('attest_keys', 'router_reads', '{doorstep_router}'),
                    ('attestation_days', 'router_reads', '{doorstep_router}'),
                    ('launch_days', 'router_reads', '{doorstep_router}'),
                    ('refused_requests', 'router_reads', '{doorstep_router}'),
                    ('changes', 'router_reads', '{doorstep_router}'),
                    ('instances', 'router_reads', '{doorstep_router}'),
                    ('push_tokens', 'router_reads', '{doorstep_router}'),
                    ('deliveries', 'router_reads', '{doorstep_router}'),
                    ('audience_cursors', 'router_reads', '{doorstep_router}'),
                    ('idempotency_keys', 'router_reads', '{doorstep_router}'),
                    ('webhook_messages', 'router_reads', '{doorstep_router}'),
                    ('event_recordings', 'router_reads', '{doorstep_router}')))
                -- What is old enough to be pruned, and no more.
                AND NOT (p.tablename = 'changes' AND p.roles = '{doorstep_owner}' AND p.with_check IS NULL
                    AND (p.policyname::text, p.cmd) IN
                        (('owner_prunes', 'DELETE'), ('owner_finds_what_to_prune', 'SELECT'))
                    AND p.qual = '(at < (now() - ''01:00:00''::interval))')
                AND NOT (p.tablename = 'audit_log' AND p.roles = '{doorstep_owner}' AND p.with_check IS NULL
                    AND (p.policyname::text, p.cmd) IN
                        (('owner_prunes', 'DELETE'), ('owner_finds_what_to_prune', 'SELECT'))
                    AND p.qual = '(at < (now() - ''7 days''::interval))')
                AND NOT (p.tablename = 'row_counts' AND p.roles = '{doorstep_owner}' AND p.with_check IS NULL
                    AND (p.policyname::text, p.cmd) IN
                        (('owner_prunes', 'DELETE'), ('owner_finds_what_to_prune', 'SELECT'))
                    AND p.qual = '((kind = ''deliveries''::text) AND (counted_on < CURRENT_DATE))')
                -- What came before its day had a partition, and is moved there.
                AND NOT (p.tablename = 'confirmations_default' AND p.roles = '{doorstep_owner}'
                    AND p.with_check IS NULL AND p.qual = 'true'
                    AND (p.policyname::text, p.cmd) IN
                        (('owner_finds_what_to_move', 'SELECT'), ('owner_moves', 'DELETE')))
                -- That a day has something to send, for which it is not dropped.
                AND NOT (p.tablename ~ '^deliveries_[0-9]{8}$' AND p.roles = '{doorstep_owner}'
                    AND p.policyname = 'owner_finds_what_is_due' AND p.cmd = 'SELECT'
                    AND p.qual = '(due_at IS NOT NULL)')
            """
        ),
        (
            // A role with rights to a partition could bypass the policies and triggers of the whole table.
            "a partition that somebody but the owner has a right to",
            """
            SELECT DISTINCT c.relname::text FROM pg_class c
            CROSS JOIN LATERAL (
                SELECT g.grantee FROM aclexplode(c.relacl) g
                UNION ALL
                SELECT g.grantee FROM pg_attribute a CROSS JOIN LATERAL aclexplode(a.attacl) g
                WHERE a.attrelid = c.oid) AS granted
            WHERE c.relnamespace = 'doorstep'::regnamespace AND c.relispartition
                AND granted.grantee <> 'doorstep_owner'::regrole
            """
        ),
        (
            "a view that reads with its owner's rights",
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'doorstep'::regnamespace AND (relkind = 'm' OR relkind = 'v'
                AND NOT coalesce('security_invoker=true' = ANY (reloptions), false))
            """
        ),
        (
            "a function that runs with its owner's rights",
            """
            SELECT p.oid::regprocedure::text FROM pg_proc p
            WHERE p.pronamespace = 'doorstep'::regnamespace AND p.prosecdef
                AND NOT (p.oid::regprocedure::text IN (
                        'doorstep.record_change()', 'doorstep.record_routing_change()', 'doorstep.prune_changes()',
                        'doorstep.require_confirmed_tenant()', 'doorstep.delete_confirmations_of_tenant()',
                        'doorstep.add_confirmation_days()', 'doorstep.drop_confirmation_days(integer)',
                        'doorstep.index_confirmation_days()', 'doorstep.require_notifying_tenant()',
                        'doorstep.delete_notifications_of_tenant()', 'doorstep.add_notification_days()',
                        'doorstep.drop_notification_days(integer)', 'doorstep.prune_audit_log(integer)',
                        'doorstep.tell_webhooks()', 'doorstep.prune_console_events(integer)',
                        'doorstep.record_act(text,text,jsonb,jsonb)', 'doorstep.begin_usage()',
                        'doorstep.count_usage()', 'doorstep.settle_usage()',
                        'doorstep.note_token_secret()', 'doorstep.count_rows()', 'doorstep.trim_audit_log(uuid)')
                    AND coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false))
            """
        ),
        (
            "an object that is not the owner's",
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'doorstep'::regnamespace AND relowner <> 'doorstep_owner'::regrole
            UNION ALL
            SELECT oid::regprocedure::text FROM pg_proc
            WHERE pronamespace = 'doorstep'::regnamespace AND proowner <> 'doorstep_owner'::regrole
            """
        ),
        (
            "a role that may more than work as itself",
            """
            SELECT rolname::text FROM pg_roles
            WHERE rolname IN
                    ('doorstep_owner', 'doorstep_app', 'doorstep_admin', 'doorstep_router', 'doorstep_manager')
                AND (rolbypassrls OR rolsuper OR rolcanlogin OR rolcreatedb OR rolcreaterole OR rolreplication
                    OR EXISTS (SELECT FROM pg_auth_members m WHERE m.member = pg_roles.oid))
            """
        ),
    ]
}
