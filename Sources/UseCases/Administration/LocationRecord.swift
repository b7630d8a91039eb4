public import Cards
public import Formats
public import Geodesy
public import Invocation
public import Lookups

/// A location of the catalogue, as API, imports, exports and archives have it. Lookups return the smaller type `Location`.
public struct LocationRecord: Sendable, Hashable {
    public let identifier: LocationIdentifier
    public var name: DisplayName
    public var region: CircularRegion
    /// Further texts by name: the other columns of an import. Doorstep gives them no meaning.
    public var metadata: JSONObject
    /// Texts by name that lookups return.
    public var details: LocationDetails
    /// The location's experiences inherit the members of this card.
    public var card: Card

    public init(
        identifier: LocationIdentifier, name: DisplayName, region: CircularRegion, metadata: JSONObject,
        details: LocationDetails = .none, card: Card = Card()
    ) {
        self.identifier = identifier
        self.name = name
        self.region = region
        self.metadata = metadata
        self.details = details
        self.card = card
    }
}

extension LocationRecord: CollectionResource {
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
    public static let noun = "location"
    public static let example: JSONObject = [
        "identifier": "store-42", "name": "Donuts", "latitude": 37.33, "longitude": -122.01, "radius": 100,
        "metadata": [:],
    ]
    public static let fileNotes = """
        The radius is in metres, at most 500. Columns details.NAME are texts that lookups return, at most 4,096 bytes of a \
        location as JSON. Columns card.PATH are fields of the card. Others are stored as metadata. If the file lacks a column, \
        that field keeps its value; an empty cell clears it.
        """
    public var key: LocationIdentifier { identifier }
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
