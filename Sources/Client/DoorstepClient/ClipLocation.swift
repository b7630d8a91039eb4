/// A location with the data to show.
public struct ClipLocation: Sendable, Hashable, Codable {
    /// The arguments of `CLCircularRegion(center:radius:identifier:)`.
    public struct Region: Sendable, Hashable, Codable {
        /// The center.
        public var center: Coordinate
        /// In metres, above 0 and at most 500 [Apple: "Responding to invocations"].
        public var radius: Double
        /// The location's identifier, so that a region can be matched to its location.
        public var identifier: String

        /// Creates a circular region.
        public init(center: Coordinate, radius: Double, identifier: String) {
            self.center = center
            self.radius = radius
            self.identifier = identifier
        }
    }

    /// On WGS 84, in degrees.
    public struct Coordinate: Sendable, Hashable, Codable, CustomStringConvertible {
        /// From -90 to 90.
        public var latitude: Double
        /// From -180 to 180.
        public var longitude: Double
        /// The accuracy of a fix, in metres.
        public var horizontalAccuracy: Double?
        /// Whether software on the device simulated the fix; nil if the system does not report it. It
        /// changes no outcome. If App Attest signed the confirmation, its receipt contains this value.
        public var simulated: Bool?

        /// Creates a point, or a fix if the accuracy is known.
        public init(
            latitude: Double, longitude: Double, horizontalAccuracy: Double? = nil, simulated: Bool? = nil
        ) {
            self.latitude = latitude
            self.longitude = longitude
            self.horizontalAccuracy = horizontalAccuracy
            self.simulated = simulated
        }

        /// A fixed text without the values, because logs must not contain coordinates.
        public var description: String { "coordinate" }
    }

    /// The tenant's own identifier, such as `restaurant_a`.
    public var identifier: String
    /// Nil if the URL contains signed coordinates instead of an identifier (identifier rule `coordinates:`).
    public var name: String?
    /// Texts to show, such as a telephone number.
    public var details: [String: String]?
    /// The location's region.
    public var region: Region

    /// Creates a location from a response's members: for previews and tests.
    public init(identifier: String, name: String?, details: [String: String]? = nil, region: Region) {
        self.identifier = identifier
        self.name = name
        self.details = details
        self.region = region
    }
}

/// A location near a person, and the URL that launches the App Clip there.
public struct NearbyLocation: Sendable, Hashable, Codable {
    /// The tenant's own identifier.
    public var identifier: String
    /// The name to show.
    public var name: String
    /// Texts to show.
    public var details: [String: String]?
    /// The location's region.
    public var region: ClipLocation.Region
    /// The geodesic distance, in metres.
    public var distance: Double
    /// The invocation URL of the location: open it as if it had launched the clip.
    public var url: String

    /// The location, as a lookup returns it.
    public var place: ClipLocation {
        ClipLocation(identifier: identifier, name: name, details: details, region: region)
    }
}

/// The destination of an invocation URL.
public struct ClipLookup: Sendable, Hashable, Codable {
    /// The registered experience that matches the URL.
    public struct Experience: Sendable, Hashable, Codable {
        /// The registered URL.
        public var url: String
        /// `default`, `advanced` or `demo`.
        public var kind: String
        /// The App Clip's bundle ID.
        public var clip: String

        /// Creates an experience from a response's members: for previews and tests.
        public init(url: String, kind: String, clip: String) {
            self.url = url
            self.kind = kind
            self.clip = clip
        }
    }

    /// The invocation URL in canonical form.
    public var url: String
    /// The experience that matched the URL.
    public var experience: Experience
    /// The location.
    public var location: ClipLocation

    /// Creates a lookup from a response's members: for previews and tests.
    public init(url: String, experience: Experience, location: ClipLocation) {
        self.url = url
        self.experience = experience
        self.location = location
    }
}
