import Invocation
import Lookups
import Tenancy

/// Finds out whether any registered URL leads to a location.
struct LocationReach {
    private let table: TenantTable
    private let counts: @Sendable (IndexedExperience) -> Bool
    private var reached: Set<LocationIdentifier> = []
    /// The experiences whose rule reads an identifier. The last useful one is first.
    private var readers: [Experience] = []
    private let readsCodes: Bool
    private var triesLeft = 2_000_000

    /// - Parameter counts: Whether a URL counts that this experience matches.
    init(
        _ experiences: [Experience], _ table: TenantTable,
        where counts: @escaping @Sendable (IndexedExperience) -> Bool = { _ in true }
    ) {
        self.table = table
        self.counts = counts
        readsCodes = experiences.contains { if case .rule(.hash) = $0.binding { true } else { false } }
        for experience in experiences {
            switch experience.binding {
            case .location:
                for url in [experience.url.canonical] + experience.defaultLinks {
                    if let location = resolve(url) { reached.insert(location) }
                }
            case .rule(.path), .rule(.query):
                readers.append(experience)
            default:
                break
            }
        }
    }

    /// Adds the location to which the URL of a short code leads; irrelevant if no rule reads codes.
    mutating func insert(byCode lookup: Lookup) {
        guard readsCodes, case .found(let experience, let location) = lookup, counts(experience) else {
            return
        }
        reached.insert(location.identifier)
    }

    mutating func reaches(_ identifier: LocationIdentifier) -> Bool {
        if reached.contains(identifier) { return true }
        for (index, reader) in readers.enumerated() {
            guard triesLeft > 0 else { return true }
            triesLeft -= 1
            if reader.urls(naming: identifier).contains(where: { resolve($0) == identifier }) {
                readers.swapAt(0, index)
                return true
            }
        }
        return false
    }

    private func resolve(_ text: String) -> LocationIdentifier? {
        guard let url = try? InvocationURL(text),
            case .found(let experience, let location) = table.lookUp(url),
            counts(experience)
        else { return nil }
        return location.identifier
    }
}

extension Experience {
    /// The link that Apple makes for the clip, for a default experience.
    fileprivate var defaultLinks: [String] {
        kind == .default ? [DefaultLink(to: clip).text] : []
    }

    /// Invocations in which the experience's rule reads the identifier.
    fileprivate func urls(naming identifier: LocationIdentifier) -> [String] {
        guard case .rule(let rule) = binding else { return [] }
        // The path of a default link is Apple's.
        let links = if case .query = rule { defaultLinks } else { [String]() }
        return ([url.canonical] + links).compactMap { rule.url(naming: identifier, at: $0) }
    }
}
