public import Invocation
public import Tenancy

/// What a routing table holds of one tenant: a question across tenants cannot be written.
///
/// ``lookUp(_:)`` is the one place where a URL becomes a place. Answers without waiting for anything, and every refusal
/// is an answer. A value, safe to use from many threads, and good for as long as it is kept: it is of one moment.
public struct TenantTable: Sendable {
    public let tenant: TenantID
    let snapshot: RoutingSnapshot
    /// Nil when the table has no such tenant.
    let index: RoutingTable.TenantIndex?

    init(of tenant: TenantID, in snapshot: RoutingSnapshot) {
        self.tenant = tenant
        self.snapshot = snapshot
        index = snapshot.table.index(of: tenant)
    }

    /// An experience that an invocation URL launches.
    public struct Match: Sendable {
        fileprivate let snapshot: RoutingSnapshot
        fileprivate let found: RoutingTable.Found

        public var experience: RoutedExperience { snapshot.table.experience(at: found.place) }

        /// Whether it is its clip's default experience and the invocation is the clip's default link, at another URL
        /// than the one it is registered with.
        public var isByDefaultLink: Bool { found.isByDefaultLink }
    }

    /// The experience that an invocation launches, or nil when none matches.
    ///
    /// More path components win, then more query items, then kind (advanced, default, demo), then the smaller
    /// URL. When no registered URL matches a default link, the default experience of the clip that the link names is
    /// found, whatever URL it is registered with. [Apple: "the most specific matching prefix", and that the link opens
    /// the default experience; the order is ours]
    ///
    /// Allocates nothing, but for a default link and for a query of very many items.
    /// - Parameter prefersAdvanced: Whether any advanced experience that matches wins over those of other kinds.
    public func match(_ url: InvocationURL, preferringAdvanced prefersAdvanced: Bool = false) -> Match? {
        guard let index,
            let found = snapshot.table.find(url, of: index, preferringAdvanced: prefersAdvanced)
        else { return nil }
        return Match(snapshot: snapshot, found: found)
    }

    /// The experience that the URL invokes, and the location it leads to.
    public func lookUp(_ url: InvocationURL) -> Lookup {
        lookUp(url, followingCodes: true)
    }

    /// Where the URL leads by an experience that it matches.
    public func lookUp(_ url: InvocationURL, by match: Match) -> Lookup {
        lookUp(url, by: match, followingCodes: true)
    }

    /// Where the URL that a short code stands for leads: as if it had been scanned, but that it cannot hold a code again.
    public func lookUp(stored url: InvocationURL) -> Lookup {
        lookUp(url, followingCodes: false)
    }

    /// The location by its identifier, which is compared byte by byte.
    public func location(_ identifier: LocationIdentifier) -> Location? {
        index.flatMap { snapshot.table.location(identifier, of: $0) }
    }

    /// The URL that a short code stands for.
    public func url(ofShortCode code: String) -> InvocationURL? {
        index.flatMap { snapshot.table.url(ofShortCode: code, of: $0) }
    }

    private func lookUp(_ url: InvocationURL, followingCodes: Bool) -> Lookup {
        guard let match = match(url) else { return .doesNotMatch }
        return lookUp(url, by: match, followingCodes: followingCodes)
    }

    private func lookUp(_ url: InvocationURL, by match: Match, followingCodes: Bool) -> Lookup {
        let experience = match.experience
        let identifier: LocationIdentifier
        if case .location(let bound) = experience.binding {
            identifier = bound
        } else {
            switch experience.readIdentifier(in: url, by: match) {
            case .absent: return .noIdentifier(experience)
            case .identifier(let read): identifier = read
            case .place(let place): return locate(place, by: experience)
            case .shortCode(let code):
                guard followingCodes else { return .shortCodeAgain(experience) }
                guard let stored = self.url(ofShortCode: code) else { return .unknownIdentifier(experience) }
                return lookUp(stored: stored)
            }
        }
        guard let location = location(identifier) else { return .unknownIdentifier(experience) }
        return .found(experience, location)
    }

    /// The place that a URL carries in itself, if it is believed.
    private func locate(_ place: EncodedPlace, by experience: RoutedExperience) -> Lookup {
        guard snapshot.trust.believes(place, of: tenant) else { return .unknownIdentifier(experience) }
        return Location(place).map { .found(experience, $0) } ?? .noIdentifier(experience)
    }
}

/// A table with what is believed of URLs: one reference, where to count those of a table's parts would take longer than to
/// find something.
final class RoutingSnapshot: Sendable {
    let table: RoutingTable
    let trust: PlaceTrust

    init(_ table: RoutingTable, trusting trust: PlaceTrust) {
        self.table = table
        self.trust = trust
    }
}

extension RoutingTable {
    /// What the table holds of one tenant.
    /// - Parameter trust: Which places that URLs carry in themselves are believed.
    public func of(_ tenant: TenantID, trusting trust: PlaceTrust = .nothing) -> TenantTable {
        TenantTable(of: tenant, in: RoutingSnapshot(self, trusting: trust))
    }
}
