import Geodesy
import Invocation
public import JSON
import Routing

extension LocationRecord: ImportableRow {
    /// The columns that an import needs and an export begins with.
    public static let requiredColumns = ["identifier", "name", "latitude", "longitude", "radius"]
    private static let ownColumns = Set(requiredColumns)
    /// What the columns of details begin with; their names follow.
    private static let detailsPrefix = "details."

    public static func read(_ fields: CSVFields) throws(RowRefusal) -> LocationRecord {
        let identifier = try RowRefusal.naming("identifier") { () throws(ExperienceError) in
            try LocationIdentifier(fields["identifier"])
        }
        let name = try RowRefusal.naming("name") { () throws(AdministrationError) in
            try DisplayName(fields["name"])
        }
        let latitude = try number("latitude", fields)
        let longitude = try number("longitude", fields)
        let radius = try number("radius", fields)
        let region = try RowRefusal.naming(\.column) { () throws(GeodesyError) in
            try CircularRegion(
                center: Coordinate(latitude: latitude, longitude: longitude), radius: Distance(meters: radius)
            )
        }
        var metadata = JSONObject()
        var details = JSONObject()
        try fields.forEachOther { column, value throws(RowRefusal) in
            // PostgreSQL's jsonb has no NUL (PostgreSQL, "JSON Types").
            guard !value.utf8.contains(0), !column.utf8.contains(0) else {
                throw RowRefusal(column, "holds a NUL character")
            }
            if isMetadata(column) {
                metadata[column] = .string(value)
            } else {
                let name = column.utf8.dropFirst(detailsPrefix.utf8.count)
                details[String(decoding: name, as: UTF8.self)] = .string(value)
            }
        }
        return LocationRecord(
            identifier: identifier, name: name, region: region, metadata: metadata,
            details: try RowRefusal.naming("details") { () throws(LocationDetailsError) in
                try LocationDetails(details)
            })
    }

    /// Whether a column of this name is metadata: neither one of the location's own nor one of its details.
    public static func isMetadata(_ column: String) -> Bool {
        !column.isEmpty && !ownColumns.contains(column) && !column.utf8.starts(with: detailsPrefix.utf8)
    }

    /// What stands in the columns after ``requiredColumns``, by their names: the metadata, and the details.
    public var furtherFields: JSONObject {
        details.texts.reduce(into: metadata) { $0[Self.detailsPrefix + $1.key] = $1.value }
    }

    /// The values of ``requiredColumns``, numbers with the fewest digits that read back as the same.
    var ownFields: [String] {
        let numbers = [region.center.latitude, region.center.longitude, region.radius.meters]
        return [identifier.text, name.text] + numbers.map { JSONNumber(finite: $0).literal }
    }

    /// Decimals as people and spreadsheets write them; `Double` also reads hexadecimal and names of
    /// non-numbers.
    private static func number(_ column: String, _ fields: CSVFields) throws(RowRefusal) -> Double {
        let text = fields[column]
        guard text.utf8.allSatisfy(\.isOfDecimal), let number = Double(text) else {
            throw RowRefusal(column, "not a number")
        }
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

extension UInt8 {
    /// Whether it is a digit, sign, point or exponent's letter in ASCII.
    fileprivate var isOfDecimal: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
