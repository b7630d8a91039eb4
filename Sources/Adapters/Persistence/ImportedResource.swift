import Administration
import Cards
import Encodings
import JSON
import Lookups
import PostgreSQL
import Tenancy

/// A resource whose items are imported from whole files. COPY writes the rows into a temporary table, where SQL finds problems that
/// a single row does not show. Then one statement each removes, adds and changes items.
protocol ImportedResource: StoredResource, WritableResource {
    /// The quota that counts the items.
    static var quota: QuotaKind { get }
    /// The relation whose rows refer to an item by the first column of the item's key.
    static var reference: Reference? { get }
    /// Statements that find rows which cannot be merged, and add their lines with the reasons to `pg_temp.refused`, unless a line is
    /// there already.
    /// - Parameter prunes: whether items without a staged row are removed.
    static func problems(of tenant: TenantID, prunes: Bool) -> [Query]
    /// - Parameter columns: The columns of the key.
    static func key(from columns: [String]) throws -> Key
}

/// A column of a staged item outside its key.
struct StagedColumn {
    /// How a value results from the staged row `s` and the existing row `t`, if there is one.
    enum Merge {
        /// Each row has a value.
        case required
        /// NULL keeps the existing value, unless the row clears it.
        case optional
        /// As ``optional``; in addition, a row that sets the other column clears this one.
        case either(or: String)
        /// Texts by name. A row sets, clears or keeps each name. If no names remain, the column has this value.
        case names(empty: String)
        /// NULL keeps the card; any other value replaces the whole card. See `TenantTransaction.mergeCards`.
        case card(empty: String)
    }

    let column: String
    let type: String
    /// The name of its member in JSON.
    let field: String
    let merge: Merge

    /// The columns of a field; a card has two.
    fileprivate static func columns<Item>(of field: Field<Item>, _ fields: [Field<Item>]) -> [StagedColumn] {
        guard let column = field.column else { return [] }
        let merge: Merge =
            switch field.type {
            case .card: .card(empty: "'{}'")
            case .texts: .names(empty: field.defaultValue == nil ? "NULL::jsonb" : "'{}'::jsonb")
            default:
                if field.kind != .optional {
                    .required
                } else if let other = fields.first(where: { $0.name == field.alternative })?.column {
                    .either(or: other)
                } else {
                    .optional
                }
            }
        let first = StagedColumn(column: column, type: field.type.columnType, field: field.name, merge: merge)
        guard field.type == .card else { return [first] }
        let image = StagedColumn(
            column: Card.imageColumn, type: FieldType.imageType, field: "card.image",
            merge: .card(empty: "''"))
        return [first, image]
    }

    /// The value of the column for an existing item, in SQL.
    var merged: String {
        switch merge {
        case .required: "s.\(column)"
        case .optional: "coalesce(s.\(column), CASE WHEN NOT \(isCleared) THEN t.\(column) END)"
        case .either(let other):
            """
            CASE WHEN s.\(other) IS NULL
                THEN coalesce(s.\(column), CASE WHEN NOT \(isCleared) THEN t.\(column) END) END
            """
        case .names(let empty):
            """
            coalesce(nullif(coalesce(CASE WHEN NOT \(isCleared) THEN t.\(column) - s.\(column)_cleared END, '{}')
                || coalesce(s.\(column), '{}'), '{}'), \(empty))
            """
        case .card: "CASE WHEN s.card IS NULL THEN t.\(column) ELSE \(new) END"
        }
    }

    /// The value of the column for a new item, in SQL.
    var new: String {
        if case .card(let empty) = merge { "nullif(s.\(column), \(empty))" } else { "s.\(column)" }
    }

    private var isCleared: String { "'\(field)' = ANY (s.members_cleared)" }

    var differs: String { "\(merged) IS DISTINCT FROM t.\(column)" }
}

extension FieldType {
    fileprivate static let imageType = FieldType.identifier(64...64).columnType

    /// The type of a column in the staging table.
    fileprivate var columnType: String {
        switch self {
        case .text: "text"
        case .identifier, .url, .choice: #"text COLLATE "C""#
        case .number: "double precision"
        case .integer: "bigint"
        case .flag: "boolean"
        case .date: "timestamp with time zone"
        case .texts, .object, .card: "jsonb"
        }
    }
}

extension FieldValue {
    /// The value as COPY's text format takes it, before escaping.
    fileprivate var copyText: String {
        switch self {
        case .text(let text): text
        case .number(let number): number.description
        case .integer(let integer): integer.description
        case .flag(let flag): flag ? "t" : "f"
        case .date(let date): date.rfc3339
        case .members(let members): JSONValue.object(members).text
        case .list(let texts): JSONValue.array(texts.map(JSONValue.string)).text
        case .serialized(let bytes): String(decoding: bytes, as: UTF8.self)
        case .card(let card): JSONValue.object(card.json).text
        }
    }
}

extension ImportedResource {
    static var reference: Reference? { nil }
    static var hasCard: Bool { fields.contains { $0.type == .card } }
    static func problems(of tenant: TenantID, prunes: Bool) -> [Query] { [] }

    static func key(from columns: [String]) throws -> Key {
        guard columns.count == 1, let key = key(named: columns[0]) else {
            throw PersistenceError.unreadable(relation)
        }
        return key
    }

    /// The columns that an import can change.
    static var changeableColumns: [StagedColumn] {
        changeableFields.flatMap { StagedColumn.columns(of: $0, fields) }
    }

    /// The card that a row sets; nil if the resource has no cards.
    var stagedCard: Card? {
        guard let field = Self.fields.first(where: { $0.type == .card }) else { return nil }
        if case .card(let card) = field.value(of: self) { return card }
        return Card()
    }

    /// The values of the columns of `fields`, after those of the key, in COPY's text format.
    /// - Parameters:
    ///   - fields: ``changeableFields``.
    ///   - card: nil keeps the existing card.
    func copyTexts(_ fields: [Field<Self>], with card: Card?) -> [String?] {
        var texts: [String?] = Self.keyTexts(key)
        for field in fields {
            if field.type == .card {
                texts += Card.staged(card)
            } else {
                texts.append(field.value(of: self)?.copyText)
            }
        }
        return texts
    }

    /// The column of the key that names a row in messages.
    private static var namingColumn: String { fields.first { $0.kind == .key }?.column ?? "" }

    /// Creates `pg_temp.staged`, whose first column is the row's `line`.
    ///
    /// The statement lists the columns with their types: `LIKE` would lock the item's table until the end of the transaction.
    static var stagingTable: Query {
        let columns =
            keyColumns.map { #"\#($0) text COLLATE "C""# }
            + changeableColumns.map { "\($0.column) \($0.type)" }
        return """
            CREATE TEMPORARY TABLE staged (line bigint, cleared jsonb, \(unsafeSQL: columns.joined(separator: ", "))) ON COMMIT DROP
            """
    }

    /// Creates `pg_temp.refused`, which collects the errors of rows; only the first ones are reported.
    static var refusalTable: Query {
        "CREATE TEMPORARY TABLE refused (line bigint PRIMARY KEY, reason text NOT NULL) ON COMMIT DROP"
    }

    /// Refuses rows with the key of an earlier row.
    static var repetitions: Query {
        """
        INSERT INTO pg_temp.refused
        SELECT line, '\(unsafeSQL: namingColumn): it is on line ' || first || ' already' FROM (
            SELECT line, min(line) OVER (PARTITION BY \(unsafeSQL: keyList())) AS first FROM pg_temp.staged
            WHERE (\(unsafeSQL: keyList())) IN (
                SELECT \(unsafeSQL: keyList()) FROM pg_temp.staged GROUP BY \(unsafeSQL: keyList()) HAVING count(*) > 1)
        ) repeated
        WHERE line > first
        """
    }

    /// The first refused rows, and the number of all refused rows.
    static var refusals: Query {
        """
        SELECT r.line, r.reason, r.total, s.\(unsafeSQL: namingColumn) FROM (
            SELECT line, reason, count(*) OVER () AS total FROM pg_temp.refused
            ORDER BY line LIMIT \(ImportProblems.limit)) r LEFT JOIN pg_temp.staged s USING (line)
        ORDER BY r.line
        """
    }

    /// Creates `pg_temp.cleared` with one row: the fields that a staged row clears if its own `cleared` is NULL, as in all rows from a
    /// CSV file.
    static func clearedTable(_ cleared: ClearedFields) -> [Query] {
        [
            """
            CREATE TEMPORARY TABLE cleared (members text[], metadata text[], details text[], card text[]) ON COMMIT DROP
            """,
            """
            INSERT INTO pg_temp.cleared
            VALUES (\(cleared.members), \(cleared.metadata), \(cleared.details), \(cleared.card))
            """,
        ]
    }

    /// The staged rows, with the fields that each of them clears.
    fileprivate static var stagedRows: String {
        let lists = ["members", "metadata", "details", "card"].map { name in
            """
            CASE WHEN s.cleared IS NULL THEN (SELECT \(name) FROM pg_temp.cleared)
                ELSE ARRAY(SELECT jsonb_array_elements_text(s.cleared -> '\(name)')) END AS \(name)_cleared
            """
        }
        return "(SELECT s.*, \(lists.joined(separator: ", ")) FROM pg_temp.staged s)"
    }

    private static var isChanged: String {
        changeableColumns.map { "(\($0.differs))" }.joined(separator: " OR ")
    }

    /// Adds an item for each staged row without an existing item.
    static func addition(to tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.\(identifier: relation) (tenant_id, \(unsafeSQL: columnList))
        SELECT \(tenant.uuid), \(unsafeSQL: (keyList("s.") + ", " + changeableColumns.map(\.new).joined(separator: ", ")))
        FROM pg_temp.staged s
        WHERE NOT EXISTS (SELECT FROM doorstep.\(identifier: relation) t
            WHERE t.tenant_id = \(tenant.uuid) AND (\(unsafeSQL: keyList("t."))) = (\(unsafeSQL: keyList("s."))))
        ON CONFLICT (tenant_id, \(unsafeSQL: keyList())) DO NOTHING
        """
    }

    /// Changes existing items by their staged rows.
    ///
    /// MERGE instead of UPDATE: if another transaction has just changed an item, MERGE uses the item's new state. The INSERT never
    /// runs, but because of it the staged rows are the outer side of the join.
    static func change(of tenant: TenantID) -> Query {
        """
        MERGE INTO doorstep.\(identifier: relation) t USING \(unsafeSQL: stagedRows) s
        ON t.tenant_id = \(tenant.uuid) AND (\(unsafeSQL: keyList("t."))) = (\(unsafeSQL: keyList("s.")))
        WHEN MATCHED AND (\(unsafeSQL: isChanged)) THEN
            UPDATE SET \(unsafeSQL: changeableColumns.map { "\($0.column) = \($0.merged)" }.joined(separator: ", "))
        WHEN NOT MATCHED AND false THEN INSERT (tenant_id) VALUES (\(tenant.uuid))
        """
    }

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

    /// Refuses rows that would make the details of a location too long.
    static func longDetails(of tenant: TenantID) -> Query {
        let details = changeableColumns.first { $0.column == "details" }?.merged ?? "NULL::jsonb"
        return """
            INSERT INTO pg_temp.refused
            SELECT line, \("details: \(LocationDetailsError.tooLong)") FROM (
                SELECT s.line, \(unsafeSQL: details) AS details FROM \(compared: Self.self, of: tenant)
                WHERE s.details IS NOT NULL
            ) merged
            -- As the table's own check measures it: without the blanks that PostgreSQL writes.
            WHERE octet_length(details::text) + 1 - 2 * (SELECT count(*) FROM jsonb_object_keys(details))
                > \(LocationDetails.maximumLength)
            ON CONFLICT DO NOTHING
            """
    }

    /// Whether a staged row sets or clears a part of a card. A row that clears the whole card replaces the card instead.
    private static var setsPartOfCard: String { "s.card IS NOT NULL AND 'card' <> ALL (s.members_cleared)" }

    /// Finds whether any staged row changes a part of a card.
    static var hasPartialCards: Query {
        "SELECT EXISTS (SELECT FROM \(unsafeSQL: stagedRows) s WHERE \(unsafeSQL: setsPartOfCard))"
    }

    /// Locks the existing rows of all staged rows, in key order, and counts them.
    static func lock(of tenant: TenantID) -> Query {
        """
        WITH locked AS (
            SELECT FROM doorstep.\(identifier: relation) t
            WHERE tenant_id = \(tenant.uuid) AND \(unsafeSQL: isStaged)
            ORDER BY \(unsafeSQL: keyList("t.")) FOR NO KEY UPDATE)
        SELECT count(*) FROM locked
        """
    }

    /// Declares the cursor `cards`: staged rows that change a part of a card, with the existing card if the two differ.
    static func partialCards(of tenant: TenantID) -> Query {
        """
        DECLARE cards NO SCROLL CURSOR FOR
        SELECT s.line, s.card, s.card_image, s.card_cleared, t.card, t.card_image
        FROM \(unsafeSQL: stagedRows) s CROSS JOIN LATERAL (
            SELECT card, card_image FROM doorstep.\(identifier: relation) t
            WHERE t.tenant_id = \(tenant.uuid) AND (\(unsafeSQL: keyList("t."))) = (\(unsafeSQL: keyList("s.")))
                AND (t.card, t.card_image) IS DISTINCT FROM (nullif(s.card, '{}'), s.card_image)
                AND (t.card IS NOT NULL OR t.card_image IS NOT NULL)
            OFFSET 0
        ) t
        WHERE \(unsafeSQL: setsPartOfCard)
        """
    }

    /// The bytes of a row, as the triggers of `doorstep.count_usage` count them.
    /// - Parameter value: the value of a column.
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

    /// A condition on staged rows. Write `NOT` before it for the opposite: the planner does not treat `NOT (NOT EXISTS …)` as a
    /// join, and would search for each row of the table.
    private static var isStaged: String {
        "EXISTS (SELECT FROM pg_temp.staged s WHERE (\(keyList("s."))) = (\(keyList("t."))))"
    }

    /// The state of the existing items that the import may change or remove: a hash, the number of these items, and the number of
    /// them that have a staged row. These are the items with a staged row, or with `prunes` all items.
    /// - Parameter locks: whether to lock these items until the end of the transaction.
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

    /// The number of all items, and the number of items without a staged row. Locks the latter, so that no new reference to them
    /// appears.
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

extension Query.StringInterpolation {
    /// Joins the staged rows `s` with their existing rows `t`. If no condition on `t` is strict, the staged rows are the outer side of
    /// the join, whatever statistics the planner has of the table.
    fileprivate mutating func appendInterpolation<Item: ImportedResource>(
        compared _: Item.Type, of tenant: TenantID, join: String = "LEFT"
    ) {
        appendInterpolation(unsafeSQL: Item.stagedRows)
        appendLiteral(" s ")
        appendInterpolation(unsafeSQL: join)
        appendLiteral(" JOIN (SELECT tenant_id, ")
        appendInterpolation(unsafeSQL: Item.columnList)
        appendLiteral(" FROM doorstep.")
        appendInterpolation(identifier: Item.relation)
        appendLiteral(" WHERE tenant_id = ")
        appendInterpolation(tenant.uuid)
        appendLiteral(") t USING (")
        appendInterpolation(unsafeSQL: Item.keyList())
        appendLiteral(")")
    }
}
