public import Foundation
public import Invocation
public import Tenancy

/// A lookup or a launch report, as statistics count it: without a person, an address or a coordinate.
public struct CountedLaunch: Sendable, Hashable {
    public enum Kind: Sendable {
        case lookup
        /// A clip reported a launch that it had not reported before.
        case report
    }

    /// Nil if the URL leads to no location. Also nil for a location signed in the URL, because its identifier is its coordinate.
    public let location: LocationIdentifier?
    /// The URL of the experience that matches.
    public let experience: String
    public let source: InvocationSource

    public init(location: LocationIdentifier?, experience: String, source: InvocationSource) {
        self.location = location
        self.experience = experience
        self.source = source
    }

    /// The result of a lookup; nil if no experience matches.
    public init?(_ lookup: Lookup, source: InvocationSource) {
        guard let experience = lookup.experience else { return nil }
        self.init(
            location: lookup.location?.registeredIdentifier, experience: experience.url, source: source)
    }
}

/// Counts lookups and launch reports of tenants. Never waits. Safe to use from many threads.
public protocol LaunchCounter: Sendable {
    func count(_ kind: CountedLaunch.Kind, _ launch: CountedLaunch, of tenant: TenantID, at now: Date)
}
