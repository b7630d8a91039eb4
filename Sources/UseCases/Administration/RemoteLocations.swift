import Foundation
import Geodesy
import Invocation

/// Finds locations far from all others of a tenant, whose coordinates may be wrong.
///
/// Two locations are near each other if their cells of one degree are: at most ``gap`` cells apart in latitude and in longitude, with
/// more cells of longitude near the poles. So the search takes time linear in the number of locations. [ours]
struct RemoteLocations {
    /// One degree of latitude has 111 km.
    private struct Cell: Hashable {
        let latitude: Int
        /// From -180 to 179.
        let longitude: Int

        init(_ coordinate: Coordinate) {
            self.init(
                latitude: Int(coordinate.latitude.rounded(.down)),
                longitude: Int(coordinate.longitude.rounded(.down)))
        }

        init(latitude: Int, longitude: Int) {
            self.latitude = latitude
            self.longitude = ((longitude + 180) % 360 + 360) % 360 - 180
        }
    }

    private static let gap = 3
    /// Few locations far from the others are probably mistakes. A tenant with more of them has locations far apart. [ours]
    private static let maximumShare = 0.01

    /// The number of locations in each cell, without the isolated ones, whose own coordinates may be wrong.
    private let evidence: [Cell: Int]
    /// The locations with no other location near them.
    let isolated: [CatalogueLint.Place]
    /// Whether so few locations are isolated that each of them may be a mistake.
    let areFew: Bool

    init(_ places: [CatalogueLint.Place]) {
        var counts: [Cell: Int] = [:]
        for place in places { counts[Cell(place.region.center), default: 0] += 1 }
        isolated = places.filter { place in
            let cell = Cell(place.region.center)
            return counts[cell] == 1 && !Self.hasLocation(near: cell, within: Self.gap, besides: cell, counts)
        }
        var evidence = counts
        for place in isolated { evidence[Cell(place.region.center)] = nil }
        self.evidence = evidence
        areFew = Double(isolated.count) <= Double(places.count) * Self.maximumShare
    }

    /// The usual mistake whose correction puts an isolated location near another one; nil if there is none.
    func mistake(at place: CatalogueLint.Place) -> String? {
        let center = place.region.center
        let (latitude, longitude) = (center.latitude, center.longitude)
        let candidates = [
            (longitude, latitude, "latitude and longitude are exchanged"),
            (latitude, -longitude, "the longitude has the wrong sign"),
            (-latitude, longitude, "the latitude has the wrong sign"),
        ]
        return candidates.first { latitude, longitude, _ in
            guard let corrected = try? Coordinate(latitude: latitude, longitude: longitude) else {
                return false
            }
            return Self.hasLocation(near: Cell(corrected), within: 1, besides: Cell(center), evidence)
        }?.2
    }

    /// Whether the cell, or one near it, has a location. A cell of one location is ignored.
    private static func hasLocation(
        near cell: Cell, within gap: Int, besides ignored: Cell, _ counts: [Cell: Int]
    ) -> Bool {
        for latitude in cell.latitude - gap...cell.latitude + gap {
            // The edge nearer to a pole, where degrees of longitude are shortest.
            let edge = max(latitude.magnitude, (latitude + 1).magnitude)
            let width = edge < 90 ? Double(gap) / cos(Double(edge) * .pi / 180) : 180
            let reach = min(Int(width.rounded(.up)), 180)
            for longitude in cell.longitude - reach...cell.longitude + reach {
                let other = Cell(latitude: latitude, longitude: longitude)
                if other != ignored, counts[other] != nil { return true }
            }
        }
        return false
    }
}
