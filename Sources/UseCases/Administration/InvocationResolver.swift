public import Invocation

/// Tells where an invocation leads, as the API answers it.
public protocol InvocationResolver: Sendable {
    func resolve(_ url: InvocationURL) -> Resolution
    /// Where the URL that a short code stands for leads: a code in it is not followed again.
    func resolveStored(_ url: InvocationURL) -> Resolution
}

/// Where an invocation leads.
public enum Resolution: Sendable, Hashable {
    case location(LocationIdentifier)
    /// To no location, for this reason.
    case nothing(Reason)

    public enum Reason: String, Sendable {
        case doesNotMatch = "does_not_match"
        case noIdentifier = "no_identifier"
        case unknownIdentifier = "unknown_identifier"
        /// The URL that a short code stands for holds a short code again, which is not followed.
        case shortCodeAgain = "short_code_again"
    }
}
