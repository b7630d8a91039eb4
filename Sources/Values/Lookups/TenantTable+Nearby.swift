public import Geodesy
public import Invocation
import Tenancy

/// A nearby location, and the URL that leads to it.
public struct NearbyLocation: Sendable, Hashable {
    public let location: Location
    /// The length of the geodesic.
    public let distance: Distance
    /// A URL that launches the clip and leads to the location.
    public let url: InvocationURL

    /// The maximum distance of a search, in metres. [ours]
    public static let maximumDistance = Distance(meters: 50_000)
    /// The default distance of a search, in metres. [ours]
    public static let defaultDistance = Distance(meters: 5_000)
    /// The allowed numbers of results. [ours]
    public static let limits = 1...50
    public static let defaultLimit = 20
}

/// The result of a search for locations around a coordinate.
public struct NearbySearch: Sendable, Hashable {
    /// The locations in order of distance; at equal distance, in order of their identifiers' bytes.
    public fileprivate(set) var locations: [NearbyLocation] = []
    /// Whether the search reached its work limit. Locations may then be missing: distant ones, and some of very many within the
    /// same eight metres.
    public fileprivate(set) var isTruncated = false
    /// The cost of the search, as a number of lookups: from 1 to ``mostLookups``.
    public fileprivate(set) var lookups = 1

    /// The maximum cost of a search. [ours]
    public static let mostLookups = 10
}

extension TenantTable {
    /// Returns the locations to which a clip leads, in order of their distance from a coordinate. At equal distance, the order of
    /// their identifiers' bytes decides.
    ///
    /// Each location has a URL for which ``lookUp(_:)`` finds it, through an experience of that clip. The URL is the URL of an
    /// experience that is bound to the location, or is made by an experience's rule `path:1` or `query:`. Locations without such an
    /// experience are omitted. The result is exact unless it is truncated, because the work is limited [ours].
    ///
    /// - Parameter launch: The launch of the invocation, from ``launch(by:)``.
    /// - Throws: `does_not_match` if the invocation launches nothing.
    public func nearby(
        _ launch: Launch?, from coordinate: Coordinate,
        within reach: Distance = NearbyLocation.defaultDistance, limit: Int = NearbyLocation.defaultLimit
    ) throws(LookupRefusal) -> NearbySearch {
        try nearby(
            launch, from: coordinate, within: reach, limit: limit, mostSteps: LocationsByDistance.mostSteps
        ).search
    }

    /// - Parameter mostSteps: The number of steps after which the search ends.
    /// - Returns: The result, and the number of steps, which exceeds the limit by a few at most.
    func nearby(
        _ launch: Launch?, from coordinate: Coordinate, within reach: Distance, limit: Int, mostSteps: Int
    ) throws(LookupRefusal) -> (search: NearbySearch, steps: Int) {
        guard let index, let launch else { throw LookupRefusal(.doesNotMatch) }
        let bundleID = launch.clip
        var search = NearbySearch()
        let name = LookupIndex.ClipName(tenant: index, bundleID: bundleID.text)
        guard let clip = snapshot.table.clipIndices[name] else { return (search, 0) }
        let readers = snapshot.table.readers(of: clip, index)
        var locations = LocationsByDistance(
            from: coordinate, within: reach, of: index, in: snapshot,
            snapshot.table.nearby[Int(index)].candidates(of: clip, hasReaders: !readers.isEmpty),
            among: restriction, mostSteps: mostSteps)
        guard locations.spend(launch.probes / LocationsByDistance.probesOfStep) else {
            search.isTruncated = true
            search.lookups = NearbySearch.mostLookups
            return (search, locations.steps)
        }

        /// Whether a URL leads to the location through the clip.
        func take(_ text: String?, _ identifier: LocationIdentifier, _ distance: Distance) -> Bool {
            guard locations.spend(LocationsByDistance.stepsOfTry), let text,
                let url = try? InvocationURL(text)
            else { return false }
            let mostProbes = min(
                LookupIndex.mostProbes,
                min(locations.stepsLeft, LookupIndex.mostProbes) * LocationsByDistance.probesOfStep)
            var probesLeft = mostProbes
            let lookup = lookUp(url, probesLeft: &probesLeft)
            guard locations.spend((mostProbes - probesLeft) / LocationsByDistance.probesOfStep) else {
                return false
            }
            // A lookup outside the search would have had more probes left.
            guard probesLeft > 0 || mostProbes == LookupIndex.mostProbes else {
                locations.end()
                return false
            }
            guard case .found(let experience, let location) = lookup, experience.clip == bundleID,
                location.registeredIdentifier == identifier
            else { return false }
            search.locations.append(NearbyLocation(location: location, distance: distance, url: url))
            return true
        }

        while search.locations.count < limit, !locations.isTruncated,
            let (identifier, distance) = locations.next()
        {
            let isBound = snapshot.table.urls(boundTo: identifier, of: clip, index)
                .contains { take($0, identifier, distance) }
            if isBound { continue }
            _ = readers.contains { reader in
                take(reader.rule.url(naming: identifier, at: reader.url), identifier, distance)
            }
        }
        search.isTruncated =
            locations.isIncomplete || search.locations.count < limit && locations.isTruncated
        search.lookups = min(
            1 + locations.steps / LocationsByDistance.stepsOfLookup, NearbySearch.mostLookups)
        return (search, locations.steps)
    }
}
