public import Invocation
import Routing
import Tenancy

/// What one business is told from others by: its location, or the experience where that is bound to none.
public enum Business: Sendable, Hashable {
    case location(LocationIdentifier)
    /// The registered URL, canonical.
    case experience(String)

    /// The business that a URL leads to.
    /// - Parameter experience: The experience that a notification to the URL is for.
    init(
        of url: InvocationURL, _ experience: RoutedExperience, of tenant: TenantID, in table: RoutingTable
    ) {
        let location = Self.location(url, experience, of: tenant, in: table)
        self = location.map(Business.location) ?? .experience(experience.url)
    }

    private static func location(
        _ url: InvocationURL, _ experience: RoutedExperience, of tenant: TenantID, in table: RoutingTable,
        followingCodes: Bool = true
    ) -> LocationIdentifier? {
        if case .location(let bound) = experience.binding { return bound }
        guard let match = table.match(url, of: tenant) else { return nil }
        switch experience.readIdentifier(in: url, by: match) {
        case .identifier(let identifier):
            return table.location(identifier, of: tenant).map(\.identifier)
        case .shortCode(let code):
            guard followingCodes, let stored = table.url(ofShortCode: code, of: tenant),
                let match = table.match(stored, of: tenant)
            else { return nil }
            return location(
                stored, table.experience(match), of: tenant, in: table, followingCodes: false)
        case .absent, .place:
            return nil
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
