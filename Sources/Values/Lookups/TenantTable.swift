public import Invocation
public import Tenancy

/// The part of a lookup index that belongs to one tenant: a query across tenants cannot be expressed.
///
/// ``lookUp(_:)`` is the only function that maps a URL to a location. It never blocks, and a refusal is a result, too. The table is
/// a value, safe to use from many threads, and a snapshot.
///
/// A table that is ``restricted(to:)`` locations behaves as if only these locations, and the experiences that lead to them,
/// existed.
public struct TenantTable: Sendable {
    public let tenant: TenantID
    /// Nil if the table is not restricted.
    private(set) var restriction: Set<LocationIdentifier>?
    let snapshot: IndexSnapshot
    /// Nil if the index does not have the tenant.
    let index: LookupIndex.TenantIndex?

    init(of tenant: TenantID, in snapshot: IndexSnapshot) {
        self.tenant = tenant
        self.snapshot = snapshot
        index = snapshot.table.index(of: tenant)
    }

    /// Returns this table for a key that is restricted to locations; nil for an unrestricted key.
    public func restricted(to locations: Set<LocationIdentifier>?) -> TenantTable {
        var table = self
        table.restriction = locations
        return table
    }

    /// The existing locations among those of the restriction; nil for an unrestricted table.
    public var visibleLocations: Set<LocationIdentifier>? {
        restriction.map { $0.filter { location($0) != nil } }
    }

    /// Whether the tenant lists a web origin. Pages of listed origins may use the tenant's publishable keys.
    public func allows(origin: String) -> Bool {
        index.map { snapshot.table.tenants[Int($0)].corsOrigins.contains(origin) } ?? false
    }

    /// An experience that an invocation URL launches.
    public struct Match: Sendable {
        fileprivate enum Choice: Sendable {
            case registered(LookupIndex.Found)
            /// The default experience of a clip without a registered one, because each clip has one at Apple. The associated value
            /// is the clip's index.
            case missingDefault(clip: Int)
        }

        fileprivate let snapshot: IndexSnapshot
        fileprivate let choice: Choice

        public var experience: IndexedExperience {
            switch choice {
            case .registered(let found): snapshot.table.experience(at: found.place)
            case .missingDefault(let clip): snapshot.table.missingDefaultExperience(of: clip)
            }
        }

        /// Whether the experience is a clip's default experience and the invocation is the clip's default link, not the registered
        /// URL.
        public var isByDefaultLink: Bool {
            switch choice {
            case .registered(let found): found.isByDefaultLink
            case .missingDefault: true
            }
        }

        /// Whether the clip has no registered default experience. The match then represents the default experience that each clip
        /// has at Apple.
        public var isUnregistered: Bool {
            if case .missingDefault = choice { true } else { false }
        }
    }

    /// Returns the experience that an invocation launches, or nil if none matches.
    ///
    /// More path components win, then more query items, then kind (advanced, default, demo), then the smaller URL. If no registered
    /// URL matches a default link, the default experience of the clip in the link is found, whatever its registered URL. If the
    /// clip has no registered one, the result is an experience without a location [ours]. [Apple: "the most specific matching
    /// prefix", and that the link opens the default experience; the order is ours]
    ///
    /// Allocates nothing, except for a default link and for a query with very many items.
    ///
    /// - Parameters:
    ///   - prefersAdvanced: Whether any matching advanced experience wins over experiences of other kinds.
    ///   - other: A match of this table, whose experience is excluded.
    public func match(
        _ url: InvocationURL, preferringAdvanced prefersAdvanced: Bool = false,
        otherThan other: Match? = nil
    ) -> Match? {
        var probesLeft = LookupIndex.mostProbes
        guard
            let match = matchOfAll(
                url, preferringAdvanced: prefersAdvanced, otherThan: other, probesLeft: &probesLeft)
        else { return nil }
        guard restriction != nil else { return match }
        let lookup = visible(lookUp(url, by: match, followingCodes: true, probesLeft: &probesLeft))
        return lookup.location == nil ? nil : match
    }

    private func matchOfAll(
        _ url: InvocationURL, preferringAdvanced prefersAdvanced: Bool = false,
        otherThan other: Match? = nil, probesLeft: inout Int
    ) -> Match? {
        guard let index else { return nil }
        var excluded: LookupIndex.Place?
        switch other?.choice {
        case .registered(let found): excluded = found.place
        case .missingDefault: return nil
        case nil: break
        }
        if let found = snapshot.table.find(
            url, of: index, preferringAdvanced: prefersAdvanced, otherThan: excluded,
            probesLeft: &probesLeft)
        {
            return Match(snapshot: snapshot, choice: .registered(found))
        }
        return snapshot.table.clipWithoutDefaultExperience(openedBy: url, of: index).map {
            Match(snapshot: snapshot, choice: .missingDefault(clip: $0))
        }
    }

    /// The clip that an invocation launches.
    public struct Launch: Sendable {
        public let clip: BundleID
        /// The number of combinations of query items that were tried to find the clip.
        let probes: Int
    }

    /// Returns the clip that an invocation launches, ignoring experiences of locations outside the table's
    /// restriction.
    public func launch(by url: InvocationURL) -> Launch? {
        guard let index else { return nil }
        let table = snapshot.table
        var probesLeft = LookupIndex.mostProbes
        let found = table.find(url, of: index, boundTo: restriction, probesLeft: &probesLeft)
        let clip =
            found.map { table.experience(at: $0.place).clip }
            ?? table.clipWithoutDefaultExperience(openedBy: url, of: index).map { table.clips[$0].bundleID }
        return clip.map { Launch(clip: $0, probes: LookupIndex.mostProbes - probesLeft) }
    }

    /// Returns the experience that the URL invokes, and the location that it leads to.
    public func lookUp(_ url: InvocationURL) -> Lookup {
        var probesLeft = LookupIndex.mostProbes
        return lookUp(url, probesLeft: &probesLeft)
    }

    /// - Parameter probesLeft: The number of combinations of query items that may still be tried.
    func lookUp(_ url: InvocationURL, probesLeft: inout Int) -> Lookup {
        visible(lookUp(url, followingCodes: true, probesLeft: &probesLeft))
    }

    /// Returns the destination of the URL through an experience that matches it.
    public func lookUp(_ url: InvocationURL, by match: Match) -> Lookup {
        var probesLeft = LookupIndex.mostProbes
        return visible(lookUp(url, by: match, followingCodes: true, probesLeft: &probesLeft))
    }

    /// Returns the destination of a short code's target URL. The target is looked up like a scanned URL, but cannot contain another
    /// code.
    public func lookUp(stored url: InvocationURL) -> Lookup {
        var probesLeft = LookupIndex.mostProbes
        return visible(lookUp(url, followingCodes: false, probesLeft: &probesLeft))
    }

    /// Applies the restriction to a result. If the result has none of the allowed locations, it does not even reveal that there is
    /// an experience.
    private func visible(_ lookup: Lookup) -> Lookup {
        guard let restriction else { return lookup }
        guard let identifier = lookup.location?.registeredIdentifier, restriction.contains(identifier)
        else { return .doesNotMatch }
        return lookup
    }

    /// The location with an identifier, which is compared byte by byte.
    public func location(_ identifier: LocationIdentifier) -> Location? {
        guard restriction?.contains(identifier) != false else { return nil }
        return index.flatMap { snapshot.table.location(identifier, of: $0) }
    }

    /// The URL that a short code stands for.
    public func url(ofShortCode code: String) -> InvocationURL? {
        guard let url = index.flatMap({ snapshot.table.url(ofShortCode: code, of: $0) }),
            restriction == nil || lookUp(stored: url).location != nil
        else { return nil }
        return url
    }

    private func lookUp(_ url: InvocationURL, followingCodes: Bool, probesLeft: inout Int) -> Lookup {
        guard let match = matchOfAll(url, probesLeft: &probesLeft) else { return .doesNotMatch }
        return lookUp(url, by: match, followingCodes: followingCodes, probesLeft: &probesLeft)
    }

    private func lookUp(
        _ url: InvocationURL, by match: Match, followingCodes: Bool, probesLeft: inout Int
    ) -> Lookup {
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
                // The caller applies the restriction to the result.
                guard let stored = index.flatMap({ snapshot.table.url(ofShortCode: code, of: $0) }) else {
                    return .unknownIdentifier(experience)
                }
                return lookUp(stored, followingCodes: false, probesLeft: &probesLeft)
            }
        }
        guard let location = location(identifier) else { return .unknownIdentifier(experience) }
        return .found(experience, location)
    }

    /// Returns the location whose coordinates a URL contains, if its signature is trusted.
    private func locate(_ place: EncodedLocation, by experience: IndexedExperience) -> Lookup {
        guard snapshot.trust.believes(place, of: tenant) else { return .unknownIdentifier(experience) }
        return Location(place).map { .found(experience, $0) } ?? .noIdentifier(experience)
    }
}

/// An index, with the trusted signatures of URLs. It is a class, because retaining all parts of an index would take longer than a
/// lookup.
final class IndexSnapshot: Sendable {
    let table: LookupIndex
    let trust: LocationTrust

    init(_ table: LookupIndex, trusting trust: LocationTrust) {
        self.table = table
        self.trust = trust
    }
}

extension LookupIndex {
    /// Returns the index's table of one tenant.
    ///
    /// - Parameter trust: The locations signed in URLs that are accepted.
    public func of(_ tenant: TenantID, trusting trust: LocationTrust = .nothing) -> TenantTable {
        TenantTable(of: tenant, in: IndexSnapshot(self, trusting: trust))
    }
}
