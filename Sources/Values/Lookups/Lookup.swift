/// The result of a lookup: the location that an invocation URL leads to, or the reason why there is none.
public enum Lookup: Sendable, Hashable {
    case found(IndexedExperience, Location)
    /// No experience of the tenant matches the URL.
    case doesNotMatch
    /// An experience matches. Either the URL has no identifier at the position of the rule, or the experience has neither location
    /// nor rule.
    case noIdentifier(IndexedExperience)
    /// The URL names an unknown location, or a location with an invalid signature.
    case unknownIdentifier(IndexedExperience)
    /// The target of a short code contains another short code, which is not followed.
    case shortCodeAgain(IndexedExperience)

    /// The location, if one was found.
    public var location: Location? {
        if case .found(_, let location) = self { location } else { nil }
    }

    /// The experience that matches; nil if none does.
    public var experience: IndexedExperience? {
        switch self {
        case .found(let experience, _), .noIdentifier(let experience), .unknownIdentifier(let experience),
            .shortCodeAgain(let experience):
            experience
        case .doesNotMatch: nil
        }
    }

    /// The reason why there is no location, as a name that is stable across versions; nil if there is one.
    public var reason: String? {
        switch self {
        case .found: nil
        case .doesNotMatch: "does_not_match"
        case .noIdentifier: "no_identifier"
        case .unknownIdentifier: "unknown_identifier"
        case .shortCodeAgain: "short_code_again"
        }
    }
}
