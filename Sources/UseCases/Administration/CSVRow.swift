import Cards
import Formats
import Foundation

extension WritableResource {
    /// The CSV columns that each file must have.
    public static var requiredColumns: [String] {
        fields.filter { $0.isCell && $0.isRequired }.map(\.cell)
    }

    /// The CSV columns of fields with exactly one column, in the order of exports.
    static var ownColumns: [String] { fields.filter(\.isCell).map(\.cell) }

    /// The values of ``ownColumns``; empty for none.
    var ownCells: [String] { Self.fields.filter(\.isCell).map { $0.value(of: self)?.cell ?? "" } }

    static var csvColumns: CSVColumns {
        let required = requiredColumns
        return CSVColumns(required: required, optional: ownColumns.filter { !required.contains($0) })
    }

    /// The CSV column that names a row in messages: the first of the key.
    static var namingColumn: String { fields.first { $0.kind == .key }?.cell ?? "" }

    static func read(_ fields: CSVFields, _ layout: CSVLayout) throws -> Self {
        var row = CSVRow(layout: layout, fields: fields)
        return try Self(&row)
    }
}

/// The columns of one file by the fields of a resource.
struct CSVLayout: Sendable {
    fileprivate struct Cell {
        let field: String
        let column: String
        let position: Int?
        /// Whether an empty cell is a value and not an absent field.
        let isRequired: Bool
        /// The value of an empty cell.
        let defaultText: String?
    }

    /// A column that is a part of a field.
    fileprivate struct Part {
        let column: String
        let position: Int
        let field: String
        let name: String
    }

    fileprivate var cells: [Cell] = []
    fileprivate var parts: [Part] = []
    /// The fields with a column, which a row sets or clears. Other fields do not change.
    private(set) var cleared = ClearedFields()

    init<Item: WritableResource>(_ header: CSVHeader, _: Item.Type) {
        for field in Item.fields where field.isCell {
            cells.append(
                Cell(
                    field: field.name, column: field.cell, position: header.position(of: field.cell),
                    isRequired: field.isRequired, defaultText: field.defaultValue?.stringValue))
        }
        for (column, position) in header.others {
            if let field = Item.fields.first(where: { $0.isCell && $0.cell == column }) {
                if field.kind == .optional { cleared.members.append(field.name) }
            } else if let (field, name) = Item.place(ofColumn: column) {
                parts.append(Part(column: column, position: position, field: field, name: name))
                switch field {
                case "metadata": cleared.metadata.append(name)
                case "details": cleared.details.append(name)
                default: cleared.card.append(name)
                }
            }
        }
    }
}

/// A row of a CSV file as values of fields.
struct CSVRow: FieldValues {
    fileprivate let layout: CSVLayout
    fileprivate let fields: CSVFields

    let isStored = false

    func optionalText(_ field: String) throws -> String? {
        guard let cell = layout.cells.first(where: { $0.field == field }) else { return nil }
        let text = cell.position.map { fields.values[$0] } ?? ""
        return text.isEmpty && !cell.isRequired ? cell.defaultText : text
    }

    func optionalNumber(_ field: String) throws -> Double? {
        try optionalText(field).map { try CSVFields.number($0, in: name(of: field)) }
    }

    // No imported resource has such fields.
    func optionalInteger(_ field: String) throws -> Int? { nil }
    func optionalFlag(_ field: String) throws -> Bool? { nil }
    func optionalDate(_ field: String) throws -> Date? { nil }

    func optionalMembers(_ field: String) throws -> JSONObject? {
        var members: JSONObject = [:]
        try forEachPart(of: field) { part, value in members[part.name] = .string(value) }
        return members.isEmpty ? nil : members
    }

    func card() throws -> Card {
        var columns: [(name: String, text: String)] = []
        try forEachPart(of: "card") { columns.append(($0.column, $1)) }
        return try Card(columns: columns)
    }

    private func forEachPart(of field: String, _ body: (CSVLayout.Part, String) -> Void) throws {
        for part in layout.parts where part.field == field {
            let value = fields.values[part.position]
            if value.isEmpty { continue }
            // PostgreSQL's jsonb has no NUL (PostgreSQL, "JSON Types").
            guard !value.utf8.contains(0), !part.column.utf8.contains(0) else {
                throw RowRefusal(part.column, "holds a NUL character")
            }
            body(part, value)
        }
    }

    func name(of field: String) -> String {
        layout.cells.first { $0.field == field }?.column ?? field
    }

    func missing(_ field: String) -> any Error { RowRefusal(name(of: field), "is missing") }

    func invalidChoice(_ field: String, _ choices: [String]) -> any Error {
        RowRefusal(name(of: field), "not one of \(choices.joined(separator: ", "))")
    }
}

extension CSVFields {
    static func number(_ text: String, in column: String) throws(RowRefusal) -> Double {
        guard let number = Double(decimal: text) else { throw RowRefusal(column, "not a number") }
        return number
    }
}
