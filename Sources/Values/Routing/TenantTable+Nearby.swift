public import Geodesy
public import Invocation
import Tenancy

/// A location that is near, and what leads there.
public struct NearbyLocation: Sendable, Hashable {
    public let location: Location
    /// The length of the geodesic.
    public let distance: Distance
    /// Launches the clip, and leads to the location.
    public let url: InvocationURL

    /// The farthest that is asked for. [ours]
    public static let maximumDistance = Distance(meters: 50_000)
    /// How far is looked unless it is said. [ours]
    public static let defaultDistance = Distance(meters: 5_000)
    /// How many are asked for. [ours]
    public static let limits = 1...50
    public static let defaultLimit = 20
}

extension TenantTable {
    /// The locations that the clip which a URL launches leads to, by their distance from a coordinate; of those at one
    /// distance by the bytes of their identifiers.
    ///
    /// Each has a URL of which ``lookUp(_:)`` finds it, by an experience of that clip: the one of an experience that is bound
    /// to it, or one made by an experience's rule `path:1` or `query:`. A location to which none of those leads is left out.
    /// Exact, but for an end that the work has [ours]: where 20,000 locations were looked at, those that were found are the
    /// nearest, and others may be missing behind them.
    /// - Throws: `does_not_match` when the URL launches nothing.
    public func nearby(
        _ url: InvocationURL, from coordinate: Coordinate,
        within reach: Distance = NearbyLocation.defaultDistance, limit: Int = NearbyLocation.defaultLimit
    ) throws(LookupRefusal) -> [NearbyLocation] {
        guard let index, let bundleID = clip(launchedBy: url) else { throw LookupRefusal(.doesNotMatch) }
        let name = RoutingTable.ClipName(tenant: index, bundleID: bundleID.text)
        guard let clip = snapshot.table.clipIndices[name] else { return [] }
        let readers = snapshot.table.readers(of: clip, index)
        var locations = LocationsByDistance(
            from: coordinate, within: reach, of: index, in: snapshot, among: restriction)
        var found: [NearbyLocation] = []

        /// Whether a URL leads to the location by the clip.
        func take(_ text: String?, _ identifier: LocationIdentifier, _ distance: Distance) -> Bool {
            locations.spend(LocationsByDistance.stepsOfTry)
            guard let text, let url = try? InvocationURL(text),
                case .found(let experience, let location) = lookUp(url),
                experience.clip == bundleID, location.registeredIdentifier == identifier
            else { return false }
            found.append(NearbyLocation(location: location, distance: distance, url: url))
            return true
        }

        while found.count < limit, let (identifier, distance) = locations.next() {
            let isBound = snapshot.table.urls(boundTo: identifier, of: clip, index)
                .contains { take($0, identifier, distance) }
            if isBound { continue }
            _ = readers.contains { reader in
                take(reader.rule.url(naming: identifier, at: reader.url), identifier, distance)
            }
        }
        return found
    }
}
