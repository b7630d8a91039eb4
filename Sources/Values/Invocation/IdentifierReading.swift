/// What an identifier rule finds in an invocation URL.
public enum IdentifierReading: Sendable, Hashable {
    /// The URL holds no identifier where the rule looks, or none that a location can have.
    case absent
    case identifier(LocationIdentifier)

    /// A code that stands for a longer stored URL.
    case shortCode(String)

    /// A place in the URL itself, to be believed only once its signature is verified.
    case place(EncodedLocation)
}
