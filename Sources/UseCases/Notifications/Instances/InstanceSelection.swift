public import Invocation
public import Tenancy

/// A selection of instances. Without a condition, it selects all.
public struct InstanceSelection: Sendable, Hashable {
    public var clip: BundleID?
    /// Launched at this business.
    public var location: LocationIdentifier?
    /// Launched by this URL, or by one that extends it with a path component, a query or a query item.
    public var url: InvocationURL?
    /// Only their data at these locations, as in ``Instance/seen(at:)``; nil for all.
    public var locations: Set<LocationIdentifier>?

    public init(
        clip: BundleID? = nil, location: LocationIdentifier? = nil, url: InvocationURL? = nil,
        within locations: Set<LocationIdentifier>? = nil
    ) {
        self.clip = clip
        self.location = location
        self.url = url
        self.locations = locations
    }
}
