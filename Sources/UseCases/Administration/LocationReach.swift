import Invocation
import Lookups
import Tenancy

/// Finds out whether any registered URL leads to a location.
struct LocationReach {
    private let table: TenantTable
    private var reached: Set<LocationIdentifier> = []
    /// The experiences whose rule reads an identifier. The last useful one is first.
    private var readers: [Experience] = []
    private let readsCodes: Bool
    private var triesLeft = 2_000_000

    init(_ experiences: [Experience], _ table: TenantTable) {
        self.table = table
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

    /// A short code leads to the location; irrelevant if no rule reads codes.
    mutating func insertByCode(_ identifier: LocationIdentifier) {
        if readsCodes { reached.insert(identifier) }
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
        (try? InvocationURL(text)).flatMap { table.lookUp($0).location?.identifier }
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
