public import Invocation
import Lookups

/// The identity of a business: its location, or the experience if that has no location.
public enum Business: Sendable, Hashable {
    case location(LocationIdentifier)
    /// The registered URL, canonical.
    case experience(String)

    /// The business that a URL leads to.
    /// - Parameters:
    ///   - experience: The experience that a notification to a URL is for.
    ///   - lookup: The result of the lookup through this experience.
    init(_ experience: IndexedExperience, _ lookup: Lookup) {
        switch (experience.binding, lookup.location?.registeredIdentifier) {
        case (.location(let bound), _): self = .location(bound)
        case (_, let identifier?): self = .location(identifier)
        default: self = .experience(experience.url)
        }
    }

    public var location: LocationIdentifier? {
        if case .location(let identifier) = self { identifier } else { nil }
    }

    /// The texts from which a collapse ID is made. They differ for any two businesses.
    var text: String {
        switch self {
        case .location(let identifier): "location:\(identifier.text)"
        case .experience(let url): "experience:\(url)"
        }
    }
}
