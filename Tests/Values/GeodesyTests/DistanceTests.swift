import Foundation
import Geodesy
import PropertyTesting
import Testing

@Suite struct DistanceTests {
    private static let vectors = Result { try GeodesicVector.all() }

    /// The lines of the vectors, of those in a range, whose distance is off by more than a tolerance either way.
    private func failures(
        for meters: ClosedRange<Double>, atLeast count: Int, within tolerance: Double
    ) throws -> [Int] {
        let vectors = try Self.vectors.get().filter { meters.contains($0.meters) }
        #expect(vectors.count >= count)
        return
            vectors
            .filter { vector in
                let there = vector.start.distance(to: vector.end)
                let back = vector.end.distance(to: vector.start)
                return there != back || !(abs(there.meters - vector.meters) <= tolerance)
            }
            .map(\.line)
    }

    @Test func distanceUpTo1KilometerMatchesKarneyWithin1Millimeter() throws {
        #expect(try failures(for: 0...1000, atLeast: 12_000, within: 1e-3) == [])
    }

    @Test func distanceUpTo1KilometerMeetsDocumentedTolerance() throws {
        #expect(try failures(for: 0...1000, atLeast: 12_000, within: 15e-9) == [])
    }

    @Test func distanceUpToAntipodeMatchesKarneyWithin1Meter() throws {
        #expect(try failures(for: 1000...20_100_000, atLeast: 2_000, within: 1) == [])
    }

    @Test func distanceUpToAntipodeMeetsDocumentedTolerance() throws {
        #expect(try failures(for: 1000...20_100_000, atLeast: 2_000, within: 15e-6) == [])
        #expect(try failures(for: 10_001...20_100_000, atLeast: 1_500, within: 0.3e-6) == [])
    }

    @Test func sphericalDistanceDiffersFromEllipsoid() throws {
        let center = try Coordinate(latitude: 0, longitude: 0)
        let north = try Coordinate(latitude: 0.0045, longitude: 0)
        let onSphere = 0.0045 * .pi / 180 * 6_371_008.8
        #expect(onSphere - center.distance(to: north).meters > 2.5)
    }

    /// Figures from the definition of the ellipsoid, a = 6,378,137 m and 1/f = 298.257223563: the quarter of a
    /// meridian is 10,001,965.7293 m, and the equator is a circle.
    @Test func quarterMeridianEquatorAndAntipodesHaveKnownLengths() throws {
        let origin = try Coordinate(latitude: 0, longitude: 0)
        let north = try Coordinate(latitude: 90, longitude: 12)
        let south = try Coordinate(latitude: -90, longitude: -100)
        let east = try Coordinate(latitude: 0, longitude: 90)
        let opposite = try Coordinate(latitude: 0, longitude: 180)
        #expect(abs(origin.distance(to: north).meters - 10_001_965.7293) < 1e-4)
        #expect(abs(origin.distance(to: east).meters - 6_378_137 * .pi / 2) < 1e-6)
        // Antipodes are joined over the poles: around the equator it is 34 km farther.
        #expect(abs(origin.distance(to: opposite).meters - 2 * 10_001_965.7293) < 1e-4)
        #expect(abs(north.distance(to: south).meters - 2 * 10_001_965.7293) < 1e-4)
    }

    @Test func distanceIsZeroOnlyForSamePoint() throws {
        var random = SplitMix64(seed: 2)
        for _ in 0..<10_000 {
            let place = try random.place()
            let other = try random.place(near: place)
            guard place.distance(to: place).meters == 0 else {
                Issue.record("not 0")
                return
            }
            let isSame = place.latitude == other.latitude && abs(place.latitude) == 90
            guard isSame || place == other || place.distance(to: other).meters > 0 else {
                Issue.record("0 for two places")
                return
            }
        }
    }

    @Test func distanceResolvesHundredthOfMillimeter() throws {
        for (latitude, longitude) in [(0, 0), (45.5, -120.25), (89.999, 3), (-67.1, 179.9999)] {
            let place = try Coordinate(latitude: latitude, longitude: longitude)
            let north = try Coordinate(latitude: latitude + 1e-10, longitude: longitude)
            #expect(abs(place.distance(to: north).meters - 11.1e-6) < 0.1e-6)
        }
    }

    /// At these latitudes rounding makes the parallel of the next number, which is nearer to the pole, the wider.
    @Test(arguments: [16.057201846580927, 29.549440400150566, 42.91594507383314, 53.715635425928845])
    func neighboringLatitudesHaveEqualDistancesUpToRounding(latitude: Double) throws {
        let start = try Coordinate(latitude: latitude, longitude: 0)
        for longitude in stride(from: 1.0, to: 180, by: 1) {
            let level = try start.distance(to: Coordinate(latitude: latitude, longitude: longitude))
            let beside = try start.distance(to: Coordinate(latitude: latitude.nextUp, longitude: longitude))
            #expect(abs(level.meters - beside.meters) < 1e-6)
        }
    }

    @Test func tinyLatitudesGiveCorrectDistances() throws {
        let start = try Coordinate(latitude: -8.1e-179, longitude: 0)
        let antipode = try start.distance(to: Coordinate(latitude: 1.5e-181, longitude: 180))
        let quarter = try start.distance(to: Coordinate(latitude: 1.5e-181, longitude: 90))
        #expect(abs(antipode.meters - 2 * 10_001_965.7293) < 1e-4)
        #expect(abs(quarter.meters - 6_378_137 * .pi / 2) < 1e-6)
    }

    @Test func longitudeDoesNotMatterAtPole() throws {
        for latitude in [-90.0, 90] {
            let pole = try Coordinate(latitude: latitude, longitude: 0)
            let again = try Coordinate(latitude: latitude, longitude: 137.5)
            #expect(pole.distance(to: again).meters == 0)
            let place = try Coordinate(latitude: latitude * 0.99999, longitude: 20)
            #expect(pole.distance(to: place) == again.distance(to: place))
        }
    }

    @Test func longitudes180AndMinus180AreSameMeridian() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<2_000 {
            let latitude = Double.random(in: -90...90, using: &random)
            let east = try Coordinate(latitude: latitude, longitude: 180)
            let west = try Coordinate(latitude: latitude, longitude: -180)
            #expect(east.distance(to: west).meters == 0)
            let far = try random.place()
            let near = try random.place(near: east)
            #expect(abs(east.distance(to: far).meters - west.distance(to: far).meters) < 1e-6)
            #expect(abs(east.distance(to: near).meters - west.distance(to: near).meters) < 1e-8)
        }
    }

    @Test func distanceIsInvariantUnderRotation() throws {
        var random = SplitMix64(seed: 4)
        for _ in 0..<4_000 {
            let start = try random.place()
            let end = try Bool.random(using: &random) ? random.place() : random.place(near: start)
            let turn = Double.random(in: -180...180, using: &random)
            let turned = try (start.turned(by: turn), end.turned(by: turn))
            #expect(abs(start.distance(to: end).meters - turned.0.distance(to: turned.1).meters) < 1e-6)
        }
    }

    @Test func distanceIsSymmetricAndInvariantUnderReflection() throws {
        var random = SplitMix64(seed: 5)
        for _ in 0..<4_000 {
            let start = try random.place()
            let end = try Bool.random(using: &random) ? random.place() : random.place(near: start)
            let distance = start.distance(to: end)
            #expect(distance == end.distance(to: start))
            #expect(try distance == start.mirrored(1, -1).distance(to: end.mirrored(1, -1)))
            #expect(try distance == start.mirrored(-1, 1).distance(to: end.mirrored(-1, 1)))
        }
    }

    @Test func distanceSatisfiesTriangleInequality() throws {
        var random = SplitMix64(seed: 6)
        for _ in 0..<4_000 {
            let start = try random.place()
            let end = try Bool.random(using: &random) ? random.place() : random.place(near: start)
            let stop = try Bool.random(using: &random) ? random.place() : random.place(near: end)
            let detour = start.distance(to: stop).meters + stop.distance(to: end).meters
            // The local method may err by 12 µm.
            #expect(start.distance(to: end).meters <= detour + 40e-6)
        }
    }

    @Test func distancesAreOrderedByLength() {
        #expect(Distance(meters: 1) < Distance(meters: 2))
        #expect(!(Distance(meters: 2) < Distance(meters: 2)))
        #expect(Distance(meters: 0) == Distance(meters: -0.0))
    }
}

extension Coordinate {
    fileprivate func turned(by degrees: Double) throws -> Coordinate {
        try Coordinate(
            latitude: latitude, longitude: (longitude + degrees).remainder(dividingBy: 360))
    }

    fileprivate func mirrored(_ latitudeSign: Double, _ longitudeSign: Double) throws -> Coordinate {
        try Coordinate(latitude: latitude * latitudeSign, longitude: longitude * longitudeSign)
    }
}
