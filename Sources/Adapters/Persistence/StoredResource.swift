import Administration
import Cards
import Formats
import Foundation
import PostgreSQL
import Tenancy

/// A resource with its table. The statements follow from ``Resource/fields``. Conforming types replace statements that differ.
protocol StoredResource: Resource {
    static var relation: String { get }
    /// The columns of the key. Lists are sorted by these columns, texts in byte order.
    static var keyColumns: [String] { get }
    /// The values of ``keyColumns``.
    static func keyTexts(_ key: Key) -> [String]
    /// Columns without a field.
    static var furtherColumns: [String] { get }

    static func page(of tenant: TenantID, after: Key?, limit: Int, where filter: [String: String]) -> Query
    /// - Parameter lock: The clause that locks the row, or an empty text.
    static func selection(_ key: Key, of tenant: TenantID, lock: String) -> Query
    /// The statement that adds an item. It adds nothing if an item with this key exists.
    func insertion(into tenant: TenantID) -> Query
    /// The statement that changes all columns except the key.
    func update(of tenant: TenantID) -> Query
    /// Refuses items that contradict other rows of the tenant.
    /// - Parameters:
    ///   - before: The item that this one replaces.
    ///   - force: Whether to make the change even if a check advises against it.
    func check(replacing before: Self?, force: Bool, _ transaction: TenantTransaction) async throws
    /// Converts an error of the database into an error of the administration. Returns other errors unchanged.
    func refusal(_ error: PostgreSQLError) -> any Error
    /// Whether rows of a running import may refer to an item.
    static var canBeReferredTo: Bool { get }
    /// Deletes the item, whose row is locked, and with `cascade` its dependents.
    /// - Returns: The number of deleted rows, by relation.
    static func delete(_ key: Key, cascade: Bool, _ transaction: TenantTransaction) async throws -> [RowCount]
}

extension StoredResource {
    static var keyColumns: [String] { fields.filter { $0.kind == .key }.compactMap(\.column) }
    static func keyTexts(_ key: Key) -> [String] { [name(of: key)] }
    static var furtherColumns: [String] { [] }

    /// The fields with columns that can change.
    static var changeableFields: [Field<Self>] {
        let key = Set(keyColumns)
        return fields.filter { field in field.column.map { !key.contains($0) } ?? false }
    }

    /// The columns of an item, those of the key first.
    static var columnList: String {
        (keyColumns + changeableFields.flatMap(\.columns) + furtherColumns).joined(separator: ", ")
    }

    static func keyList(_ prefix: String = "") -> String {
        keyColumns.map { prefix + $0 }.joined(separator: ", ")
    }

    static func page(of tenant: TenantID, after: Key?, limit: Int, where filter: [String: String]) -> Query {
        """
        SELECT \(unsafeSQL: columnList) FROM doorstep.\(identifier: relation)
        WHERE tenant_id = \(tenant.uuid) AND (\(unsafeSQL: keyList())) > (\(values: after.map(keyTexts) ?? keyColumns.map { _ in "" }))
        ORDER BY \(unsafeSQL: keyList()) LIMIT \(limit)
        """
    }

    static func selection(_ key: Key, of tenant: TenantID, lock: String) -> Query {
        """
        SELECT \(unsafeSQL: columnList) FROM doorstep.\(identifier: relation)
        WHERE tenant_id = \(tenant.uuid) AND (\(unsafeSQL: keyList())) = (\(values: keyTexts(key)))
        \(unsafeSQL: lock)
        """
    }

    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.\(identifier: Self.relation)
            (tenant_id, \(unsafeSQL: (Self.keyColumns + Self.changeableFields.flatMap(\.columns)).joined(separator: ", ")))
        VALUES (\(tenant.uuid), \(values: Self.keyTexts(key)), \(values: self, of: Self.changeableFields))
        ON CONFLICT (tenant_id, \(unsafeSQL: Self.keyList())) DO NOTHING
        """
    }

    func update(of tenant: TenantID) -> Query {
        """
        UPDATE doorstep.\(identifier: Self.relation)
        SET (\(unsafeSQL: Self.changeableFields.flatMap(\.columns).joined(separator: ", "))) =
            ROW (\(values: self, of: Self.changeableFields))
        WHERE tenant_id = \(tenant.uuid) AND (\(unsafeSQL: Self.keyList())) = (\(values: Self.keyTexts(key)))
        """
    }

    func check(replacing before: Self?, force: Bool, _ transaction: TenantTransaction) async throws {}
    func refusal(_ error: PostgreSQLError) -> any Error { error }
    static var canBeReferredTo: Bool { false }

    static func delete(
        _ key: Key, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        let deleted = try await transaction.execute(
            """
            DELETE FROM doorstep.\(identifier: relation)
            WHERE tenant_id = \(transaction.tenant.uuid) AND (\(unsafeSQL: keyList())) = (\(values: keyTexts(key)))
            """)
        return [RowCount(relation: relation, count: deleted.affectedRows)]
    }

    /// Reads rows that have the columns of all fields, in any order.
    /// - Throws: `PersistenceError.unreadable` for a row that no version of Doorstep writes.
    static func items(in rows: some Sequence<Row>) throws -> [Self] {
        var layout: StoredRow.Layout?
        return try rows.map { row in
            let columns = try layout ?? StoredRow.Layout(Self.self, row)
            layout = columns
            var values = StoredRow(layout: columns, row: row)
            return try PersistenceError.reading(relation) { try Self(&values) }
        }
    }
}

extension Field {
    /// The columns in the database. See `Card+Stored` for the two columns of a card.
    var columns: [String] {
        guard let column else { return [] }
        return type == .card ? Card.storedColumnNames : [column]
    }
}

/// A row of a resource's table as values of fields.
struct StoredRow: FieldValues {
    /// The position of each field's column in the rows of one statement.
    struct Layout {
        fileprivate let relation: String
        fileprivate let positions: [(field: String, position: Int)]

        fileprivate init<Item: StoredResource>(_: Item.Type, _ row: Row) throws {
            relation = Item.relation
            let columns = row.columns.map(\.name)
            func position(of column: String) throws -> Int {
                guard let position = columns.firstIndex(of: column) else {
                    throw PostgreSQLError.noColumn(name: column)
                }
                return position
            }
            var positions: [(field: String, position: Int)] = []
            for field in Item.fields {
                guard let column = field.column else { continue }
                positions.append((field.name, try position(of: column)))
                if field.type == .card {
                    positions.append((Card.imageColumn, try position(of: Card.imageColumn)))
                }
            }
            for column in Item.furtherColumns { positions.append((column, try position(of: column))) }
            self.positions = positions
        }
    }

    fileprivate let layout: Layout
    fileprivate let row: Row

    let isStored = true

    private func value<Value: PostgreSQLDecodable>(_ field: String, _: Value.Type) throws -> Value? {
        guard let (_, position) = layout.positions.first(where: { $0.field == field }) else { return nil }
        return try row.decode(at: position, as: Value?.self)
    }

    func optionalText(_ field: String) throws -> String? { try value(field, String.self) }
    func optionalNumber(_ field: String) throws -> Double? { try value(field, Double.self) }
    func optionalInteger(_ field: String) throws -> Int? { try value(field, Int32.self).map(Int.init) }
    func optionalFlag(_ field: String) throws -> Bool? { try value(field, Bool.self) }
    func optionalDate(_ field: String) throws -> Date? { try value(field, Date.self) }
    func optionalMembers(_ field: String) throws -> JSONObject? {
        guard let json = try value(field, JSONText.self) else { return nil }
        guard let members = try JSONValue(parsing: json.text.utf8).objectValue else { throw missing(field) }
        return members
    }
    func card() throws -> Card {
        try Card(stored: value("card", JSONText.self), image: value(Card.imageColumn, String.self))
    }

    func name(of field: String) -> String { field }
    func missing(_ field: String) -> any Error { PersistenceError.unreadable(layout.relation) }
    func invalidChoice(_ field: String, _ choices: [String]) -> any Error {
        PersistenceError.unreadable(layout.relation)
    }
}

extension Query.StringInterpolation {
    /// Binds texts, with commas between them.
    mutating func appendInterpolation(values texts: [String]) {
        for (index, text) in texts.enumerated() {
            if index > 0 { appendLiteral(", ") }
            appendInterpolation(text)
        }
    }

    /// Binds the values of an item's fields, with commas between them.
    mutating func appendInterpolation<Item>(values item: Item, of fields: [Field<Item>]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { appendLiteral(", ") }
            append(field.value(of: item), of: field.type)
        }
    }

    private mutating func append(_ value: FieldValue?, of type: FieldType) {
        switch value {
        case nil where type == .card: appendLiteral("NULL, NULL")
        case nil: appendLiteral("NULL")
        case .text(let text): appendInterpolation(text)
        case .number(let number): appendInterpolation(number)
        case .integer(let integer): appendInterpolation(integer)
        case .flag(let flag): appendInterpolation(flag)
        case .date(let date): appendInterpolation(date)
        case .members(let members): appendInterpolation(JSONText(JSONValue.object(members).text))
        case .list(let texts): appendInterpolation(texts)
        case .serialized(let bytes): appendInterpolation(JSONText(String(decoding: bytes, as: UTF8.self)))
        case .card(let card):
            let stored = card.stored
            appendInterpolation(stored.json.map(JSONText.init))
            appendLiteral("::jsonb, ")
            appendInterpolation(stored.image)
        }
    }
}

extension TenantTransaction {
    func items<Item: StoredResource>(
        after: Item.Key?, limit: Int, where filter: [String: String] = [:]
    ) async throws -> [Item] {
        try Item.items(in: await execute(Item.page(of: tenant, after: after, limit: limit, where: filter)))
    }

    func item<Item: StoredResource>(_ key: Item.Key, lock: String = "") async throws -> Item? {
        try Item.items(in: await execute(Item.selection(key, of: tenant, lock: lock))).first
    }

    /// Adds an item, unless an item has its key.
    func add(_ item: some StoredResource) async throws -> Bool {
        try await refusing(item) { try await execute(item.insertion(into: tenant)).affectedRows == 1 }
    }

    /// Replaces the item with the same key, whose row is locked.
    func replace(by item: some StoredResource) async throws {
        try await refusing(item) { _ = try await execute(item.update(of: tenant)) }
    }

    private func refusing<Result>(
        _ item: some StoredResource, _ write: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await write()
        } catch let error as PostgreSQLError {
            throw item.refusal(error)
        }
    }

    /// Deletes an item, and with `cascade` its dependents.
    ///
    /// Waits for running imports, because their rows may refer to the item.
    /// - Parameter check: Throws if the item must not be deleted.
    /// - Returns: The number of deleted rows, by relation.
    func delete<Item: StoredResource>(
        _ key: Item.Key, cascade: Bool, _ check: (Item) throws -> Void
    ) async throws -> [RowCount] {
        if Item.canBeReferredTo { try await waitForImports() }
        // A transaction that adds a reference to the item locks the item. If it commits before this transaction, the check below finds
        // its row. If it comes later, it fails, because the item no longer exists.
        guard let item: Item = try await item(key, lock: "FOR UPDATE") else { throw Item.unknown(key) }
        try check(item)
        return try await Item.delete(key, cascade: cascade, self)
    }
}
