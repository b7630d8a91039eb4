import Cards
import Encodings
import Geodesy
import Invocation
public import JSON
import Lookups

extension LocationRecord: ImportableRow {
    /// The columns that an import needs and an export begins with.
    public static let requiredColumns = ["identifier", "name", "latitude", "longitude", "radius"]
    public static let namingColumn = "identifier"
    private static let ownColumns = Set(requiredColumns)
    /// What the columns of details begin with; their names follow.
    private static let detailsPrefix = "details."

    public static func read(_ fields: CSVFields) throws(RowRefusal) -> LocationRecord {
        let identifier = try RowRefusal.naming("identifier") { () throws(ExperienceError) in
            try LocationIdentifier(fields["identifier"])
        }
        try identifier.text.requireVisibleEdges(in: "identifier")
        let name = try RowRefusal.naming("name") { () throws(AdministrationError) in
            try DisplayName(fields["name"])
        }
        let latitude = try fields.number("latitude")
        let longitude = try fields.number("longitude")
        let radius = try fields.number("radius")
        let region = try RowRefusal.naming(\.column) { () throws(GeodesyError) in
            try CircularRegion(
                center: Coordinate(latitude: latitude, longitude: longitude), radius: Distance(meters: radius)
            )
        }
        var metadata = JSONObject()
        var details = JSONObject()
        var card: [(name: String, text: String)] = []
        try fields.forEachOther { column, value throws(RowRefusal) in
            // PostgreSQL's jsonb has no NUL (PostgreSQL, "JSON Types").
            guard !value.utf8.contains(0), !column.utf8.contains(0) else {
                throw RowRefusal(column, "holds a NUL character")
            }
            if column.isOfCard {
                card.append((column, value))
            } else if isMetadata(column) {
                metadata[metadataName(ofColumn: column)] = .string(value)
            } else {
                let name = column.utf8.dropFirst(detailsPrefix.utf8.count)
                details[String(decoding: name, as: UTF8.self)] = .string(value)
            }
        }
        return LocationRecord(
            identifier: identifier, name: name, region: region, metadata: metadata,
            details: try RowRefusal.naming("details") { () throws(LocationDetailsError) in
                try LocationDetails(details)
            }, card: try Card(columns: card))
    }

    public static func cleared(by header: CSVHeader) -> ClearedFields {
        var cleared = ClearedFields()
        for (column, _) in header.others {
            if column.isOfCard {
                cleared.card.append(Card.path(ofColumn: column))
            } else if isMetadata(column) {
                cleared.metadata.append(metadataName(ofColumn: column))
            } else {
                cleared.details.append(
                    String(decoding: column.utf8.dropFirst(detailsPrefix.utf8.count), as: UTF8.self))
            }
        }
        return cleared
    }

    /// Whether metadata can have a name: neither that of one of the location's own columns nor of one of its details.
    public static func isMetadata(_ column: String) -> Bool {
        !column.isEmpty && !ownColumns.contains(column) && !column.utf8.starts(with: detailsPrefix.utf8)
    }

    /// The column in which metadata of a name stands: `metadata.card.x` for `card.x`, which alone would be a card's.
    ///
    /// Metadata had such names before there were cards, and keeps them.
    public static func column(ofMetadata name: String) -> String {
        hasNameOfCard(name) ? metadataPrefix + name : name
    }

    private static func metadataName(ofColumn column: String) -> String {
        guard column.utf8.starts(with: metadataPrefix.utf8), hasNameOfCard(column) else { return column }
        return String(decoding: column.utf8.dropFirst(metadataPrefix.utf8.count), as: UTF8.self)
    }

    private static let metadataPrefix = "metadata."

    /// Whether a name is one of a card's columns, but for what is put before it so that it is none.
    private static func hasNameOfCard(_ name: String) -> Bool {
        var name = name.utf8[...]
        while name.starts(with: metadataPrefix.utf8) { name = name.dropFirst(metadataPrefix.utf8.count) }
        return name.starts(with: Card.columnPrefix.utf8)
    }

    /// What stands in the columns after ``requiredColumns``, by their names: the metadata, the details, and the card.
    public var furtherFields: JSONObject {
        var fields: JSONObject = [:]
        for (name, value) in metadata { fields[Self.column(ofMetadata: name)] = value }
        for (name, value) in details.texts { fields[Self.detailsPrefix + name] = value }
        for (name, text) in card.furtherFields { fields[name] = .string(text) }
        return fields
    }

    /// The values of ``requiredColumns``, numbers with the fewest digits that read back as the same.
    var ownFields: [String] {
        let numbers = [region.center.latitude, region.center.longitude, region.radius.meters]
        return [identifier.text, name.text] + numbers.map { JSONNumber(finite: $0).literal }
    }
}

extension CSVFields {
    func number(_ column: String) throws(RowRefusal) -> Double {
        try Self.number(self[column], in: column)
    }

    static func number(_ text: String, in column: String) throws(RowRefusal) -> Double {
        guard let number = Double(decimal: text) else { throw RowRefusal(column, "not a number") }
        return number
    }
}

extension GeodesyError {
    /// The column whose number is refused.
    var column: String {
        switch self {
        case .latitudeOutOfRange: "latitude"
        case .longitudeOutOfRange: "longitude"
        case .radiusOutOfRange: "radius"
        }
    }
}
