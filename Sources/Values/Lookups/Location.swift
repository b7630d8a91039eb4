public import Geodesy
public import Invocation

/// A location of a tenant.
public struct Location: Sendable, Hashable {
    public let identifier: LocationIdentifier
    /// 1 to 128 characters; nil if the URL contains the location, as signed coordinates. Such a location has no name.
    public let name: String?
    public let region: CircularRegion
    public let details: LocationDetails
    /// Optional texts to show; see ``LocationColumn/texts``.
    let texts: LocationTexts

    public init(
        identifier: LocationIdentifier, name: String?, region: CircularRegion,
        details: LocationDetails = .none
    ) {
        self.init(identifier: identifier, name: name, region: region, details: details, texts: .none)
    }

    init(
        identifier: LocationIdentifier, name: String?, region: CircularRegion, details: LocationDetails,
        texts: LocationTexts
    ) {
        self.identifier = identifier
        self.name = name
        self.region = region
        self.details = details
        self.texts = texts
    }

    /// Creates the location that a URL contains; nil if its numbers are invalid for a location.
    init?(_ place: EncodedLocation) {
        let radius = place.radius.map { Distance(meters: $0) } ?? Self.radiusOfSignedPlaces
        guard let center = try? Coordinate(latitude: place.latitude, longitude: place.longitude),
            let region = try? CircularRegion(center: center, radius: radius)
        else { return nil }
        self.init(identifier: place.identifier, name: nil, region: region)
    }

    /// Whether the URL contains the location, as signed coordinates. The identifier is then the latitude and longitude.
    public var isEncodedInURL: Bool { name == nil }

    /// The identifier to store for a launch: the identifier that the tenant registered. Nil if the URL contains the location,
    /// as signed coordinates, because the identifier would be a coordinate.
    public var registeredIdentifier: LocationIdentifier? { isEncodedInURL ? nil : identifier }

    /// The radius in metres if a signed URL contains none [ours].
    private static let radiusOfSignedPlaces = Distance(meters: 100)
}
