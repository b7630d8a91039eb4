import Administration
import Cards
import Formats

/// A column of a staged item outside its key.
struct StagedColumn {
    /// The rule that makes a value from the staged row `s` and the existing row `t`, if there is one.
    enum Merge {
        /// Each row has a value.
        case required
        /// NULL keeps the existing value, unless the row clears it.
        case optional
        /// Like ``optional``. In addition, a row that sets the other column clears this one.
        case either(or: String)
        /// Texts by name. A row sets, clears or keeps each name. The associated value is the column's value if no names remain.
        case names(empty: String)
        /// NULL keeps the card; any other value replaces the whole card. See `TenantTransaction.mergeCards`.
        case card(empty: String)
    }

    let column: String
    let type: String
    /// The name of the column's member in JSON.
    let field: String
    let merge: Merge

    /// The columns of a field; a card has two.
    static func columns<Item>(of field: Field<Item>, _ fields: [Field<Item>]) -> [StagedColumn] {
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
    /// The value in COPY's text format, before escaping.
    var copyText: String {
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
