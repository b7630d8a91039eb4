import Geodesy
import Invocation
public import JSON

extension LocationRecord {
    public var json: JSONObject {
        [
            "identifier": .string(identifier.text), "name": .string(name.text),
            "latitude": JSONValue(finite: region.center.latitude),
            "longitude": JSONValue(finite: region.center.longitude),
            "radius": JSONValue(finite: region.radius.meters), "metadata": .object(metadata),
        ]
    }

    init(_ fields: inout JSONObjectReader) throws {
        let (identifier, name) = (try fields.requiredString("identifier"), try fields.requiredString("name"))
        let (latitude, longitude) = (
            try fields.requiredDouble("latitude"), try fields.requiredDouble("longitude")
        )
        let radius = try fields.requiredDouble("radius")
        let metadata = try fields.requiredMembers("metadata")
        self.init(
            identifier: try RowRefusal.naming("identifier") { () throws(ExperienceError) in
                try LocationIdentifier(identifier)
            },
            name: try RowRefusal.naming("name") { () throws(AdministrationError) in try DisplayName(name) },
            region: try RowRefusal.naming(\.column) { () throws(GeodesyError) in
                try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius))
            }, metadata: try Self.checked(metadata))
    }

    /// Metadata as an import of CSV writes it, so that it can be exported as CSV again: columns with other names than
    /// the location's own, and texts.
    private static func checked(_ metadata: JSONObject) throws(RowRefusal) -> JSONObject {
        for (column, value) in metadata {
            guard !column.isEmpty, !requiredColumns.contains(column), !column.utf8.contains(0),
                let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0)
            else { throw RowRefusal("metadata", "holds something else than named texts") }
        }
        return metadata
    }
}
