import Geodesy
public import Invocation
public import JSON
import Lookups

extension LocationRecord: WrittenItem {
    public static func key(named text: String) -> LocationIdentifier? { try? LocationIdentifier(text) }
    public static func name(of key: LocationIdentifier) -> String { key.text }
    public static func members(of key: LocationIdentifier) -> JSONObject { ["identifier": .string(key.text)] }
    public static func unknown(_ key: LocationIdentifier) -> AdministrationError { .unknownLocation(key) }
    public static func existing(_ key: LocationIdentifier) -> AdministrationError { .locationExists(key) }
    public static let collection = "locations"
    public static var defaults: JSONObject { ["metadata": [:]] }
    public static var omitted: Set<String> { ["card", "details"] }
    public var key: LocationIdentifier { identifier }

    /// Names and values are those of the columns of the table; details and card are left out where there are none.
    public var json: JSONObject {
        var json: JSONObject = [
            "identifier": .string(identifier.text), "name": .string(name.text),
            "latitude": JSONValue(finite: region.center.latitude),
            "longitude": JSONValue(finite: region.center.longitude),
            "radius": JSONValue(finite: region.radius.meters), "metadata": .object(metadata),
        ]
        if !details.isEmpty { json["details"] = .object(details.texts) }
        card.add(to: &json)
        return json
    }

    public init(_ fields: inout JSONObjectReader) throws {
        let (identifier, name) = (try fields.requiredString("identifier"), try fields.requiredString("name"))
        let (latitude, longitude) = (
            try fields.requiredDouble("latitude"), try fields.requiredDouble("longitude")
        )
        let radius = try fields.requiredDouble("radius")
        let metadata = try fields.requiredMembers("metadata")
        let details = try fields.optionalMembers("details") ?? [:]
        let card = try fields.card()
        try identifier.requireVisibleEdges(in: "identifier")
        self.init(
            identifier: try RowRefusal.naming("identifier") { () throws(ExperienceError) in
                try LocationIdentifier(identifier)
            },
            name: try RowRefusal.naming("name") { () throws(AdministrationError) in try DisplayName(name) },
            region: try RowRefusal.naming(\.column) { () throws(GeodesyError) in
                try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius))
            }, metadata: try Self.checked(metadata),
            details: try RowRefusal.naming("details") { () throws(LocationDetailsError) in
                try LocationDetails(details)
            }, card: card)
    }

    /// Metadata as an import of CSV writes it, so that it can be exported as CSV again: texts.
    private static func checked(_ metadata: JSONObject) throws(RowRefusal) -> JSONObject {
        for (column, value) in metadata {
            guard isMetadata(column), !column.utf8.contains(0),
                let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0)
            else { throw RowRefusal("metadata", "holds something else than named texts") }
        }
        return metadata
    }
}
