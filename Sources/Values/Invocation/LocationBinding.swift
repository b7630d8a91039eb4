/// How an experience knows the location it is for.
public enum LocationBinding: Sendable, Hashable {
    /// It is for no one place.
    case unbound

    /// It is for this location, whatever the invocation URL.
    case location(LocationIdentifier)

    /// The invocation URL says which.
    case rule(IdentifierRule)
}
