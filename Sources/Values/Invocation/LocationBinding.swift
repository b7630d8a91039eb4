/// The source of the location that an experience leads to.
public enum LocationBinding: Sendable, Hashable {
    /// It is bound to no location.
    case unbound

    /// It leads to this location, whatever the invocation URL.
    case location(LocationIdentifier)

    /// The invocation URL contains the location's identifier.
    case rule(IdentifierRule)
}
