import Cards
public import Formats
import Lookups

/// Each name in metadata and details has its own column in CSV.
extension LocationRecord {
    /// The prefix of a detail's column. The name of the detail follows.
    private static let detailsPrefix = "details."
    private static let metadataPrefix = "metadata."
    private static let fieldColumns = Set(ownColumns)

    public static func place(ofColumn column: String) -> (field: String, name: String)? {
        if column.isOfCard { return ("card", Card.path(ofColumn: column)) }
        if isMetadata(column) { return ("metadata", metadataName(ofColumn: column)) }
        return ("details", String(decoding: column.utf8.dropFirst(detailsPrefix.utf8.count), as: UTF8.self))
    }

    /// Metadata that can be exported as CSV: texts.
    static func checked(_ metadata: JSONObject) throws(RowRefusal) -> JSONObject {
        for (column, value) in metadata {
            guard isMetadata(column), !column.utf8.contains(0) else {
                throw RowRefusal(
                    "metadata",
                    fieldColumns.contains(column)
                        ? "\(column) is the name of a field; set the field instead"
                        : "a name must not be empty, begin with \"details.\" or contain NUL")
            }
            guard let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0) else {
                throw RowRefusal("metadata", "each value must be a text of 1 or more characters without NUL")
            }
        }
        return metadata
    }

    /// Whether metadata can have this name: it is not the column of a field, and not the column of a detail.
    public static func isMetadata(_ column: String) -> Bool {
        !column.isEmpty && !fieldColumns.contains(column) && !column.utf8.starts(with: detailsPrefix.utf8)
    }

    /// The column of metadata with this name. For the name `card.x` it is `metadata.card.x`, because `card.x` is a column of the
    /// card.
    ///
    /// Such names are from versions without cards.
    public static func column(ofMetadata name: String) -> String {
        hasNameOfCard(name) ? metadataPrefix + name : name
    }

    private static func metadataName(ofColumn column: String) -> String {
        guard column.utf8.starts(with: metadataPrefix.utf8), hasNameOfCard(column) else { return column }
        return String(decoding: column.utf8.dropFirst(metadataPrefix.utf8.count), as: UTF8.self)
    }

    /// Whether a name is a column of the card after its `metadata.` prefixes are removed.
    private static func hasNameOfCard(_ name: String) -> Bool {
        var name = name.utf8[...]
        while name.starts(with: metadataPrefix.utf8) { name = name.dropFirst(metadataPrefix.utf8.count) }
        return name.starts(with: Card.columnPrefix.utf8)
    }

    /// The values of metadata, details and card by column. In CSV, these columns follow the columns of the fields.
    public var furtherFields: JSONObject {
        var fields: JSONObject = [:]
        for (name, value) in metadata { fields[Self.column(ofMetadata: name)] = value }
        for (name, value) in details.texts { fields[Self.detailsPrefix + name] = value }
        for (name, text) in card.furtherFields { fields[name] = .string(text) }
        return fields
    }
}
