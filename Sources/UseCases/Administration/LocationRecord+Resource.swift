import Cards
import Geodesy
public import Invocation
public import JSON
import Lookups

extension LocationRecord: WritableResource {
    public static let fields: [Field<LocationRecord>] = [
        Field("identifier", .identifier(1...128), .key, "The location's identifier.") {
            .text($0.identifier.text)
        },
        Field("name", .text(1...128), .required, "Name for people.") { .text($0.name.text) },
        Field("latitude", .number(-90...90), .required, "Centre, in degrees.") {
            .number($0.region.center.latitude)
        },
        Field("longitude", .number(-180...180), .required, "Centre, in degrees.") {
            .number($0.region.center.longitude)
        },
        Field("radius", .number(0...500), .required, "Radius in metres, at most 500.") {
            .number($0.region.radius.meters)
        },
        Field(
            "metadata", .texts, .optional,
            "Further texts by name: the other columns of an import. Doorstep gives them no meaning.",
            default: [:]
        ) { .members($0.metadata) },
        Field(
            "details", .texts, .optional,
            "Texts by name that lookups show to people: at most 4,096 bytes as JSON.", isOmitted: true
        ) { $0.details.isEmpty ? nil : .serialized($0.details.json) },
        Field("card", .card, .optional, "The card of the location's experiences.", isOmitted: true) {
            FieldValue($0.card)
        },
    ]

    public init(_ values: inout some FieldValues) throws {
        let identifier = try values.text("identifier") { text throws(ExperienceError) in
            try LocationIdentifier(text)
        }
        try values.requireVisibleEdges(identifier.text, in: "identifier")
        let name = try values.displayName("name")
        let (latitude, longitude) = (try values.number("latitude"), try values.number("longitude"))
        let radius = try values.number("radius")
        let metadata = try values.optionalMembers("metadata") ?? [:]
        let details = try values.optionalMembers("details") ?? [:]
        let isStored = values.isStored
        self.init(
            identifier: identifier, name: name,
            region: try values.naming(\.field) { () throws(GeodesyError) in
                try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius))
            }, metadata: isStored ? metadata : try Self.checked(metadata),
            details: try values.naming("details") { () throws(LocationDetailsError) in
                try LocationDetails(details)
            }, card: try values.card())
    }

    public static func key(named text: String) -> LocationIdentifier? { try? LocationIdentifier(text) }
    public static func name(of key: LocationIdentifier) -> String { key.text }
    public static func members(of key: LocationIdentifier) -> JSONObject { ["identifier": .string(key.text)] }
    public static func unknown(_ key: LocationIdentifier) -> AdministrationError { .unknownLocation(key) }
    public static func existing(_ key: LocationIdentifier) -> AdministrationError { .locationExists(key) }
    public static let collection = "locations"
    public var key: LocationIdentifier { identifier }
}

// MARK: - Special: metadata and details as columns of CSV

extension LocationRecord {
    /// The prefix of the columns of details; the names follow.
    private static let detailsPrefix = "details."
    private static let metadataPrefix = "metadata."
    private static let fieldColumns = Set(ownColumns)

    public static func place(ofColumn column: String) -> (field: String, name: String)? {
        if column.isOfCard { return ("card", Card.path(ofColumn: column)) }
        if isMetadata(column) { return ("metadata", metadataName(ofColumn: column)) }
        return ("details", String(decoding: column.utf8.dropFirst(detailsPrefix.utf8.count), as: UTF8.self))
    }

    /// Metadata that can be exported as CSV: texts.
    private static func checked(_ metadata: JSONObject) throws(RowRefusal) -> JSONObject {
        for (column, value) in metadata {
            guard isMetadata(column), !column.utf8.contains(0),
                let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0)
            else { throw RowRefusal("metadata", "holds something else than named texts") }
        }
        return metadata
    }

    /// Whether metadata can have a name: neither the column of a field nor that of a detail.
    public static func isMetadata(_ column: String) -> Bool {
        !column.isEmpty && !fieldColumns.contains(column) && !column.utf8.starts(with: detailsPrefix.utf8)
    }

    /// The column of metadata of a name: `metadata.card.x` for `card.x`, which alone would be a card's.
    ///
    /// Metadata had such names before there were cards, and keeps them.
    public static func column(ofMetadata name: String) -> String {
        hasNameOfCard(name) ? metadataPrefix + name : name
    }

    private static func metadataName(ofColumn column: String) -> String {
        guard column.utf8.starts(with: metadataPrefix.utf8), hasNameOfCard(column) else { return column }
        return String(decoding: column.utf8.dropFirst(metadataPrefix.utf8.count), as: UTF8.self)
    }

    /// Whether a name is a column of a card after any number of metadata prefixes.
    private static func hasNameOfCard(_ name: String) -> Bool {
        var name = name.utf8[...]
        while name.starts(with: metadataPrefix.utf8) { name = name.dropFirst(metadataPrefix.utf8.count) }
        return name.starts(with: Card.columnPrefix.utf8)
    }

    /// The values of the columns after those of the fields, by column: metadata, details and card.
    public var furtherFields: JSONObject {
        var fields: JSONObject = [:]
        for (name, value) in metadata { fields[Self.column(ofMetadata: name)] = value }
        for (name, value) in details.texts { fields[Self.detailsPrefix + name] = value }
        for (name, text) in card.furtherFields { fields[name] = .string(text) }
        return fields
    }
}

extension GeodesyError {
    /// The field whose number is refused.
    fileprivate var field: String {
        switch self {
        case .latitudeOutOfRange: "latitude"
        case .longitudeOutOfRange: "longitude"
        case .radiusOutOfRange: "radius"
        }
    }
}
