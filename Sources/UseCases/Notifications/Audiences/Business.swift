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
    ///   - lookup: Where the URL leads by it.
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

    /// What texts of a collapse ID are made of; no two businesses have the same.
    var text: String {
        switch self {
        case .location(let identifier): "location:\(identifier.text)"
        case .experience(let url): "experience:\(url)"
        }
    }
}
