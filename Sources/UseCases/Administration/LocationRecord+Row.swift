import Geodesy
import Invocation
import JSON

extension LocationRecord: ImportableRow {
    /// The columns that an import needs and an export begins with.
    public static let requiredColumns = ["identifier", "name", "latitude", "longitude", "radius"]
    private static let ownColumns = Set(requiredColumns)

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
        for (column, value) in fields.others(than: ownColumns) {
            // PostgreSQL's jsonb has no NUL (PostgreSQL, "JSON Types").
            guard !value.utf8.contains(0), !column.utf8.contains(0) else {
                throw RowRefusal(column, "holds a NUL character")
            }
            metadata[column] = .string(value)
        }
        return LocationRecord(identifier: identifier, name: name, region: region, metadata: metadata)
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
        guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let number = Double(text) else {
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
