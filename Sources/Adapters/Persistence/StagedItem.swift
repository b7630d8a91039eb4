import Administration
import Cards
import PostgreSQL
import Tenancy

/// An item of which whole files are imported: by COPY into a temporary table, where SQL finds what a row alone does not
/// show, then by one statement each for what goes and what comes.
protocol StagedItem: StoredItem, WrittenItem {
    static var relation: String { get }
    /// The columns of the key, texts in the order of their bytes.
    static var keyColumns: [String] { get }
    /// What a row is told by whose key comes twice.
    static var keyField: String { get }
    /// The other columns, with their types, and what their members in JSON are called.
    static var changeableColumns: [(column: String, type: String, field: String)] { get }
    /// Whether the columns of a card are among the changeable ones: they stay as they are where a row says nothing of its card.
    static var hasCard: Bool { get }
    /// Whatever refers to an item, by the first column of its key.
    static var reference: Reference? { get }
    /// Each adds line and reason of rows that cannot be merged to `pg_temp.refused`, where they are not there yet.
    /// - Parameter prunes: whether what is not staged goes.
    static func problems(of tenant: TenantID, prunes: Bool) -> [Query]
    /// - Parameter columns: those of the key.
    static func key(from columns: [String]) throws -> Key

    /// The key's columns and the others, as COPY's text format takes them.
    var fields: [String?] { get }
}

extension StagedItem {
    static var reference: Reference? { nil }
    static var hasCard: Bool { false }
    static func problems(of tenant: TenantID, prunes: Bool) -> [Query] { [] }

    /// The columns of an item, the key's first.
    static var columnList: String {
        (keyColumns + changeableColumns.map(\.column)).joined(separator: ", ")
    }

    /// The columns that can change, each with something before its name.
    static func changeable(_ prefix: String = "") -> String {
        changeableColumns.map { prefix + $0.column }.joined(separator: ", ")
    }

    private static func keyList(_ prefix: String = "") -> String {
        keyColumns.map { prefix + $0 }.joined(separator: ", ")
    }

    /// Creates `pg_temp.staged`, whose first column is the row's `line`.
    ///
    /// Not of the table's own columns: that would lock the table until the end of the transaction.
    static var stagingTable: Query {
        let columns =
            keyColumns.map { #"\#($0) text COLLATE "C""# }
            + changeableColumns.map { "\($0.column) \($0.type)" }
        return """
            CREATE TEMPORARY TABLE staged (line bigint, \(unsafeSQL: columns.joined(separator: ", "))) ON COMMIT DROP
            """
    }

    /// Creates `pg_temp.refused`: there it is found what is wrong with many rows, of which few are told.
    static var refusalTable: Query {
        "CREATE TEMPORARY TABLE refused (line bigint PRIMARY KEY, reason text NOT NULL) ON COMMIT DROP"
    }

    /// Refuses the rows whose key an earlier row has.
    static var repetitions: Query {
        """
        INSERT INTO pg_temp.refused
        SELECT line, '\(unsafeSQL: keyField): it is on line ' || first || ' already' FROM (
            SELECT line, min(line) OVER (PARTITION BY \(unsafeSQL: keyList())) AS first FROM pg_temp.staged
            WHERE (\(unsafeSQL: keyList())) IN (
                SELECT \(unsafeSQL: keyList()) FROM pg_temp.staged GROUP BY \(unsafeSQL: keyList()) HAVING count(*) > 1)
        ) repeated
        WHERE line > first
        """
    }

    /// The first rows that are refused, and how many are.
    static var refusals: Query {
        """
        SELECT line, reason, count(*) OVER () FROM pg_temp.refused
        ORDER BY line LIMIT \(ImportProblems.limit)
        """
    }

    /// Add and change rows, and give how many were added and how many changed: those that say what their card is, and those that
    /// do not.
    static func merges(into tenant: TenantID) -> [Query] {
        guard hasCard else { return [merge(into: tenant, changeableColumns.map(\.column), where: "true")] }
        let cards = Set(Card.stagedColumns.map(\.column))
        let columns = changeableColumns.map(\.column)
        return [
            merge(into: tenant, columns.filter { !cards.contains($0) }, where: "card IS NULL"),
            merge(into: tenant, columns, where: "card IS NOT NULL"),
        ]
    }

    private static func merge(into tenant: TenantID, _ columns: [String], where condition: String) -> Query {
        let (all, staged) = (
            (keyColumns + columns).joined(separator: ", "),
            (keyColumns + columns.map(Self.staged)).joined(separator: ", ")
        )
        let list = { (prefix: String) in columns.map { prefix + $0 }.joined(separator: ", ") }
        return """
            WITH merged AS (
            INSERT INTO doorstep.\(identifier: relation) AS t (tenant_id, \(unsafeSQL: all))
            SELECT \(tenant.uuid), \(unsafeSQL: staged) FROM pg_temp.staged AS s WHERE \(unsafeSQL: condition)
            ON CONFLICT (tenant_id, \(unsafeSQL: keyList())) DO UPDATE
            SET (\(unsafeSQL: list(""))) = ROW (\(unsafeSQL: list("excluded.")))
            WHERE (\(unsafeSQL: list("t."))) IS DISTINCT FROM (\(unsafeSQL: list("excluded.")))
            RETURNING xmax = 0 AS is_new)
            SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new) FROM merged
            """
    }

    /// What a column is to hold of a staged row: of a card that says nothing, nothing.
    private static func staged(_ column: String) -> String {
        column == "card" && hasCard ? "nullif(s.card, '{}')" : "s.\(column)"
    }

    /// Whether a column is to be changed.
    private static func differs(_ column: String) -> String {
        let differs = "\(staged(column)) IS DISTINCT FROM t.\(column)"
        return hasCard && Card.stagedColumns.contains { $0.column == column }
            ? "s.card IS NOT NULL AND \(differs)" : differs
    }

    /// What becomes of which items, of each kind the first by their keys, and how many there are.
    static func plan(for tenant: TenantID, prunes: Bool) -> Query {
        let fields = changeableColumns.map {
            "CASE WHEN \(differs($0.column)) THEN '\($0.field)' END"
        }.joined(separator: ", ")
        let isChanged = changeableColumns.map { "(\(differs($0.column)))" }.joined(separator: " OR ")
        // Where nothing is removed, what is not staged need not be read.
        return """
            WITH compared AS (
                SELECT ARRAY[\(unsafeSQL: keyList())]::text[] AS key,
                    CASE WHEN s.line IS NULL THEN CASE WHEN \(prunes) THEN 'removed' END
                        WHEN t.tenant_id IS NULL THEN 'added'
                        WHEN \(unsafeSQL: isChanged) THEN 'changed' END AS action,
                    array_remove(ARRAY[\(unsafeSQL: fields)], NULL) AS fields
                FROM pg_temp.staged s \(unsafeSQL: prunes ? "FULL" : "LEFT") JOIN (
                    SELECT tenant_id, \(unsafeSQL: columnList) FROM doorstep.\(identifier: relation)
                    WHERE tenant_id = \(tenant.uuid)
                ) t USING (\(unsafeSQL: keyList()))
            ), numbered AS (
                SELECT key, action, fields, row_number() OVER (PARTITION BY action ORDER BY key) AS position,
                    count(*) OVER (PARTITION BY action) AS total
                FROM compared WHERE action IS NOT NULL
            )
            SELECT action, key, CASE action WHEN 'changed' THEN fields END, total
            FROM numbered WHERE position <= \(ImportPlan.limit) ORDER BY action, position
            """
    }

    /// Of the rows that are staged. The other way round it is `NOT` before it, and only so: for the planner `NOT (NOT EXISTS …)` is no
    /// join, and each row of the table is looked at for it.
    private static var isStaged: String {
        "EXISTS (SELECT FROM pg_temp.staged s WHERE (\(keyList("s."))) = (\(keyList("t."))))"
    }

    /// A hash of the rows that are staged, as they are now, and where others are removed of all; how many these are, and of how
    /// many there is one staged.
    /// - Parameter locks: whether they stay so until the end.
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

    /// How many there are, and how many are not staged, which are locked: nobody begins to refer to one.
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

    /// Those that are not staged and that something refers to: the first by their keys, each with how much refers to it
    /// and the first of that, and how many they are.
    static func removalsInUse(of tenant: TenantID, by reference: Reference) -> Query {
        """
        SELECT ARRAY[\(unsafeSQL: keyList("t."))]::text[] AS key, r.count, r.first, count(*) OVER ()
        FROM doorstep.\(identifier: relation) t CROSS JOIN LATERAL (
            SELECT count(*), (array_agg(\(unsafeSQL: reference.name) ORDER BY \(unsafeSQL: reference.name))
                )[:\(unsafeSQL: String(Referents.limit))] AS first
            FROM doorstep.\(identifier: reference.relation)
            WHERE tenant_id = \(tenant.uuid)
                AND \(identifier: reference.column) = t.\(unsafeSQL: keyColumns.first ?? "")
        ) r
        WHERE t.tenant_id = \(tenant.uuid) AND r.count > 0 AND NOT \(unsafeSQL: isStaged)
        ORDER BY key LIMIT \(ImportPlan.limit)
        """
    }
}
