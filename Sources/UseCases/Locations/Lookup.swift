public import Routing

/// The answer to "which business does this invocation URL stand for".
public enum Lookup: Sendable, Hashable {
    case found(RoutedExperience, Location)
    /// No experience of the tenant matches the URL.
    case doesNotMatch
    /// An experience matches, but no identifier is where its rule looks, or it has neither location nor rule.
    case noIdentifier(RoutedExperience)
    /// The URL names a location that the tenant does not have, or one whose signature does not hold.
    case unknownIdentifier(RoutedExperience)

    /// The location, if one was found.
    public var location: Location? {
        if case .found(_, let location) = self { location } else { nil }
    }
}
