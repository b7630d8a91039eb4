import Administration
import Formats
import PostgreSQL
import Tenancy

// The plan of an import, its growth, and the items that it removes.

extension ImportedResource {
    /// For each action (`added`, `changed`, `removed`): the first items by key, and the number of all items.
    static func plan(for tenant: TenantID, prunes: Bool) -> Query {
        // If nothing is removed, rows that are not staged need not be read.
        """
        WITH compared AS (
            SELECT ARRAY[\(unsafeSQL: keyList())]::text[] AS key,
                CASE WHEN s.line IS NULL THEN CASE WHEN \(prunes) THEN 'removed' END
                    WHEN t.tenant_id IS NULL THEN 'added'
                    WHEN \(unsafeSQL: isChanged) THEN 'changed' END AS action
            FROM \(compared: Self.self, of: tenant, join: prunes ? "FULL" : "LEFT")
        ), numbered AS (
            SELECT key, action, row_number() OVER (PARTITION BY action ORDER BY key) AS position,
                count(*) OVER (PARTITION BY action) AS total
            FROM compared WHERE action IS NOT NULL
        )
        SELECT action, key, total FROM numbered WHERE position <= \(ImportPlan.limit) ORDER BY action, position
        """
    }

    /// For the items with these keys: each changed field with its values before and after. For texts by name, the first hundred names
    /// with different texts. Long texts are cut.
    static func changes(of tenant: TenantID, _ keys: [[String]]) -> Query {
        let values = changeableColumns.map { column -> String in
            let (before, after) = ("t.\(column.column)", column.merged)
            guard case .names = column.merge else {
                return "('\(column.field)', to_jsonb(\(before)), to_jsonb(\(after)))"
            }
            return
                "('\(column.field)', \(names(of: before, otherThan: after)), \(names(of: after, otherThan: before)))"
        }.joined(separator: ", ")
        return """
            SELECT ARRAY[\(unsafeSQL: keyList())]::text[], c.field, c.before, c.after
            FROM \(compared: Self.self, of: tenant) CROSS JOIN LATERAL (VALUES \(unsafeSQL: values)) c (field, before, after)
            WHERE ARRAY[\(unsafeSQL: keyList())]::text[] IN (
                    SELECT ARRAY(SELECT jsonb_array_elements_text(k)) FROM jsonb_array_elements(\(JSONText(keysText(keys)))) k)
                AND c.before IS DISTINCT FROM c.after
            """
    }

    private static func keysText(_ keys: [[String]]) -> String {
        JSONValue.array(keys.map { .array($0.map(JSONValue.string)) }).text
    }

    private static func names(of object: String, otherThan other: String) -> String {
        """
        (SELECT jsonb_object_agg(key, CASE WHEN char_length(value) > 200 THEN left(value, 200) || '…' ELSE value END)
        FROM (SELECT key, value FROM jsonb_each_text(\(object)) e
            WHERE (\(other)) ->> key IS DISTINCT FROM value ORDER BY key COLLATE "C" LIMIT 100) first)
        """
    }

    /// The first hundred fields that changed items lose, each with the number of these items.
    static func clearings(of tenant: TenantID) -> Query {
        let fields = changeableColumns.compactMap { column -> String? in
            let (before, after) = ("t.\(column.column)", column.merged)
            switch (column.merge, column.type) {
            case (.required, _): return nil
            case (.names, _):
                return """
                    SELECT '\(column.field).' || key FROM jsonb_object_keys(\(before)) key
                    WHERE (\(after) ? key) IS NOT TRUE
                    """
            case (.card, "jsonb"):
                // Members, and the members of objects.
                return """
                    SELECT 'card.' || a.key || coalesce('.' || b.key, '') FROM jsonb_each(\(before)) a
                    LEFT JOIN LATERAL jsonb_object_keys(
                        CASE jsonb_typeof(a.value) WHEN 'object' THEN a.value END) b (key) ON true
                    WHERE (\(after) #> array_remove(ARRAY[a.key, b.key], NULL)) IS NULL
                    """
            case (.optional, _), (.either, _), (.card, _):
                return "SELECT '\(column.field)' WHERE \(before) IS NOT NULL AND \(after) IS NULL"
            }
        }
        guard !fields.isEmpty else { return "SELECT ''::text, 0::bigint WHERE false" }
        return """
            SELECT c.field, count(*) FROM \(compared: Self.self, of: tenant)
            CROSS JOIN LATERAL (\(unsafeSQL: fields.joined(separator: " UNION ALL "))) c (field)
            WHERE \(unsafeSQL: isChanged)
            GROUP BY c.field ORDER BY c.field COLLATE "C" LIMIT \(ImportPlan.limit)
            """
    }

    /// The bytes of a row, as the triggers of `doorstep.count_usage` count them.
    /// - Parameter value: The value of a column.
    private static func size(_ value: (StagedColumn) -> String, _ key: String) -> String {
        let columns = changeableColumns.filter { ["text", "jsonb"].contains($0.type.prefix { $0 != " " }) }
        return "octet_length(concat(\(keyList(key)), \(columns.map(value).joined(separator: ", "))))"
    }

    /// An upper limit for the bytes of the staged rows.
    static var stagedBytes: Query {
        "SELECT coalesce(sum(octet_length(s::text)), 0)::bigint FROM pg_temp.staged s"
    }

    /// The numbers of rows and bytes that the import adds; negative if it removes more.
    static func growth(of tenant: TenantID, prunes: Bool) -> Query {
        """
        SELECT count(*) FILTER (WHERE t.tenant_id IS NULL) - count(*) FILTER (WHERE s.line IS NULL),
            coalesce(sum(
                CASE WHEN s.line IS NULL THEN 0
                    WHEN t.tenant_id IS NULL THEN \(unsafeSQL: size(\.new, "s."))
                    ELSE \(unsafeSQL: size(\.merged, "s.")) END
                - CASE WHEN t.tenant_id IS NULL THEN 0 ELSE \(unsafeSQL: size({ "t.\($0.column)" }, "t.")) END), 0)::bigint
        FROM \(compared: Self.self, of: tenant, join: prunes ? "FULL" : "LEFT")
        """
    }

    /// The state of the existing items that the import may change or remove: a hash, the number of these items, and the number of
    /// them that have a staged row. These are the items with a staged row, or with `prunes` all items.
    /// - Parameter locks: Whether to lock these items until the end of the transaction.
    static func state(of tenant: TenantID, prunes: Bool, locks: Bool) -> Query {
        """
        WITH concerned AS (
            SELECT t.*, \(unsafeSQL: isStaged) AS is_staged FROM doorstep.\(identifier: relation) t
            WHERE tenant_id = \(tenant.uuid)\(unsafeSQL: prunes ? "" : " AND \(isStaged)")
            ORDER BY \(unsafeSQL: keyList("t."))\(unsafeSQL: locks ? " FOR NO KEY UPDATE" : ""))
        SELECT encode(sha256(convert_to(coalesce(
                string_agg(md5(c::text), '' ORDER BY \(unsafeSQL: keyList("c."))), ''), 'UTF8')), 'hex'),
            count(*), count(*) FILTER (WHERE is_staged)
        FROM concerned c
        """
    }

    /// The number of all items, and the number of items without a staged row. Locks the items without a staged row, so that no new
    /// references to them appear.
    static func removals(of tenant: TenantID) -> Query {
        """
        WITH removed AS (
            SELECT FROM doorstep.\(identifier: relation) t
            WHERE tenant_id = \(tenant.uuid) AND NOT \(unsafeSQL: isStaged) FOR UPDATE
        )
        SELECT (SELECT count(*) FROM doorstep.\(identifier: relation) WHERE tenant_id = \(tenant.uuid)),
            (SELECT count(*) FROM removed)
        """
    }

    static func removal(of tenant: TenantID) -> Query {
        """
        DELETE FROM doorstep.\(identifier: relation) t
        WHERE tenant_id = \(tenant.uuid) AND NOT \(unsafeSQL: isStaged)
        """
    }

    /// Items without a staged row that have dependents: the first by key, each with the number of its dependents and the first of
    /// these, and the number of all such items.
    static func removalsInUse(of tenant: TenantID, by reference: Reference) -> Query {
        """
        SELECT ARRAY[\(unsafeSQL: keyList("t."))]::text[] AS key, r.count, r.first, count(*) OVER ()
        FROM doorstep.\(identifier: relation) t CROSS JOIN LATERAL (
            SELECT count(*), (array_agg(\(unsafeSQL: reference.name) ORDER BY \(unsafeSQL: reference.name))
                )[:\(unsafeSQL: String(Dependents.limit))] AS first
            FROM doorstep.\(identifier: reference.relation)
            WHERE tenant_id = \(tenant.uuid)
                AND \(identifier: reference.column) = t.\(unsafeSQL: keyColumns.first ?? "")
        ) r
        WHERE t.tenant_id = \(tenant.uuid) AND r.count > 0 AND NOT \(unsafeSQL: isStaged)
        ORDER BY key LIMIT \(ImportPlan.limit)
        """
    }
}
