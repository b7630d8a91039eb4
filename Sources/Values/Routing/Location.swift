public import Geodesy
public import Invocation

/// One business's place.
public struct Location: Sendable, Hashable {
    public let identifier: LocationIdentifier
    /// 1 to 128 characters; nil for a place that came signed in its URL, which has no name.
    public let name: String?
    public let region: CircularRegion

    public init(identifier: LocationIdentifier, name: String?, region: CircularRegion) {
        self.identifier = identifier
        self.name = name
        self.region = region
    }

    /// Whether the place came signed in its URL, so that its identifier is its latitude and longitude.
    public var isEncodedInURL: Bool { name == nil }
}
