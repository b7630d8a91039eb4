import Administration
import Cards
import Lookups
import PostgreSQL
import Tenancy

/// A resource whose items are imported from whole files. COPY writes the rows into a temporary table, where SQL finds problems
/// between rows. Then one statement each removes, adds and changes items.
protocol ImportedResource: StoredResource, CollectionResource {
    /// The quota that counts the items; ``QuotaKind/total`` if the kind has none of its own.
    static var quota: QuotaKind { get }
    /// The columns by which exports are sorted.
    static var exportOrder: String { get }
    /// Statements that find rows which cannot be merged, and add their lines with the reasons to `pg_temp.refused`, unless a line is
    /// there already.
    /// - Parameter prunes: Whether items without a staged row are removed.
    static func problems(of tenant: TenantID, prunes: Bool) -> [Query]
    /// - Parameter columns: The columns of the key.
    static func key(from columns: [String]) throws -> Key
}

extension ImportedResource {
    static var quota: QuotaKind { .total }
    /// All quotas that count the items.
    static var quotas: [QuotaKind] { quota == .total ? [.total] : [quota, .total] }
    static var exportOrder: String { keyList() }
    static var hasCard: Bool { fields.contains { $0.type == .card } }
    static var canBeReferredTo: Bool { !dependents.isEmpty }
    static func problems(of tenant: TenantID, prunes: Bool) -> [Query] { unknownReferences(of: tenant) }

    func refusal(_ error: PostgreSQLError) -> any Error {
        guard error.isForeignKeyViolation(), !error.isOfTenantThatIsGone else { return error }
        for field in Self.fields {
            guard let type = field.references, let name = field.cell(of: self) else { continue }
            return AdministrationError.unknownItem(of: type, named: name)
        }
        return error
    }

    /// The rows of all kinds that refer to an item by the first column of its key.
    static var dependents: [Reference] {
        PostgresAdministrationStore.collections.flatMap { $0.references(to: typeName) }
    }

    private static func references(to type: String) -> [Reference] {
        fields.filter { $0.references == type }.compactMap(\.column).map { column in
            Reference(relation: relation, column: column, name: keyColumns.joined(separator: " || ' ' || "))
        }
    }

    /// Refuses rows that refer to an item that the tenant does not have.
    static func unknownReferences(of tenant: TenantID) -> [Query] {
        fields.compactMap { field -> Query? in
            guard let column = field.column,
                let kind = PostgresAdministrationStore.collections.first(where: {
                    $0.typeName == field.references
                }), let key = kind.keyColumns.first
            else { return nil }
            return """
                INSERT INTO pg_temp.refused
                SELECT line, \("\(field.cell): the tenant has no \(kind.noun) ") || \(unsafeSQL: column) FROM pg_temp.staged s
                WHERE \(unsafeSQL: column) IS NOT NULL AND NOT EXISTS (SELECT FROM doorstep.\(identifier: kind.relation) l
                    WHERE l.tenant_id = \(tenant.uuid) AND l.\(unsafeSQL: key) = s.\(unsafeSQL: column))
                ON CONFLICT DO NOTHING
                """
        }
    }

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
    ///   - card: Nil keeps the existing card.
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

    /// The key column that names a row in messages.
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

    /// Creates `pg_temp.cleared`. Its one row lists the fields to clear for staged rows whose column `cleared` is NULL. All rows from
    /// CSV files are such rows.
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
    static var stagedRows: String {
        let lists = ["members", "metadata", "details", "card"].map { name in
            """
            CASE WHEN s.cleared IS NULL THEN (SELECT \(name) FROM pg_temp.cleared)
                ELSE ARRAY(SELECT jsonb_array_elements_text(s.cleared -> '\(name)')) END AS \(name)_cleared
            """
        }
        return "(SELECT s.*, \(lists.joined(separator: ", ")) FROM pg_temp.staged s)"
    }

    /// The condition that an import changes an item.
    static var isChanged: String {
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
    /// runs. It only makes PostgreSQL use the staged rows as the outer side of the join.
    static func change(of tenant: TenantID) -> Query {
        """
        MERGE INTO doorstep.\(identifier: relation) t USING \(unsafeSQL: stagedRows) s
        ON t.tenant_id = \(tenant.uuid) AND (\(unsafeSQL: keyList("t."))) = (\(unsafeSQL: keyList("s.")))
        WHEN MATCHED AND (\(unsafeSQL: isChanged)) THEN
            UPDATE SET \(unsafeSQL: changeableColumns.map { "\($0.column) = \($0.merged)" }.joined(separator: ", "))
        WHEN NOT MATCHED AND false THEN INSERT (tenant_id) VALUES (\(tenant.uuid))
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

    /// Declares the cursor `cards`: each staged row that changes a part of a card, with the existing card. Rows without an existing
    /// card, or with an equal one, are left out.
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

    /// A condition on staged rows. For the opposite, write `NOT` before this condition. Do not define the opposite and negate it: the
    /// planner makes no join of `NOT (NOT EXISTS …)`, and would search for each row of the table.
    static var isStaged: String {
        "EXISTS (SELECT FROM pg_temp.staged s WHERE (\(keyList("s."))) = (\(keyList("t."))))"
    }
}

extension Query.StringInterpolation {
    /// The staged rows `s` with their existing rows `t`. Use no condition on `t` that is false for NULL. Then the staged rows stay the
    /// outer side of the join, whatever the planner's statistics are.
    mutating func appendInterpolation<Item: ImportedResource>(
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
