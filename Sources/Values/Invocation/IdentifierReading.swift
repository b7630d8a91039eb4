/// The result of an identifier rule for an invocation URL.
public enum IdentifierReading: Sendable, Hashable {
    /// The URL contains no identifier at the rule's position, or an invalid one.
    case absent
    case identifier(LocationIdentifier)

    /// A code that stands for a longer stored URL.
    case shortCode(String)

    /// A location in the URL itself, to be trusted only after its signature is verified.
    case place(EncodedLocation)
}
