import Geodesy
import PropertyTesting
import Testing

@Suite struct CircularRegionTests {
    private let center: Coordinate

    init() throws {
        center = try Coordinate(latitude: 37.334722, longitude: -122.008889)
    }

    @Test(arguments: [500, 100, 0.001, .leastNonzeroMagnitude])
    func radiusUpTo500MetersIsKept(meters: Double) throws {
        let region = try CircularRegion(center: center, radius: Distance(meters: meters))
        #expect(region.radius.meters == meters)
        #expect(region.center == center)
    }

    @Test(arguments: [0, -0.0, -1, Double(500).nextUp, 1000, .nan, .signalingNaN, .infinity, -.infinity])
    func radiusOutOfRangeIsRejected(meters: Double) {
        #expect(throws: GeodesyError.radiusOutOfRange) {
            try CircularRegion(center: center, radius: Distance(meters: meters))
        }
    }

    @Test func boundaryBelongsToRegion() throws {
        var random = SplitMix64(seed: 7)
        for _ in 0..<4_000 {
            let center = try random.place()
            let place = try random.place(near: center)
            let distance = center.distance(to: place)
            guard distance.meters > 0.001, distance <= CircularRegion.maximumRadius else { continue }
            let region = try CircularRegion(center: center, radius: distance)
            let smaller = try CircularRegion(
                center: center, radius: Distance(meters: distance.meters.nextDown))
            #expect(region.contains(place))
            #expect(!smaller.contains(place))
            #expect(region.contains(center))
        }
    }

    @Test func regionSpansAntimeridianAndPole() throws {
        let fiji = try CircularRegion(
            center: Coordinate(latitude: -16.8, longitude: 179.999), radius: Distance(meters: 500))
        #expect(try fiji.contains(Coordinate(latitude: -16.8, longitude: -179.999)))
        #expect(try !fiji.contains(Coordinate(latitude: -16.8, longitude: -179.99)))
        let pole = try CircularRegion(
            center: Coordinate(latitude: 89.999, longitude: 0), radius: Distance(meters: 250))
        #expect(try pole.contains(Coordinate(latitude: 89.999, longitude: 180)))
        #expect(try !pole.contains(Coordinate(latitude: 89.998, longitude: 180)))
    }

    @Test func antipodeIsOutsideRegion() throws {
        let region = try CircularRegion(center: center, radius: CircularRegion.maximumRadius)
        #expect(try !region.contains(Coordinate(latitude: -37.334722, longitude: 57.991111)))
    }

    /// A place 100 m from the center, with regions whose boundary is `gap` metres beyond it (before it if negative).
    @Test(arguments: [
        (gap: 10.0, accuracy: 0.0, isInside: true, isCertain: true),
        (10, 9.9, true, true),
        (10, 10.1, true, false),
        (10, 1e9, true, false),
        (-10, 0, false, true),
        (-10, 9.9, false, true),
        (-10, 10.1, false, false),
        (-10, 1e9, false, false),
        (-10, .infinity, false, false),
        (10, -1, true, false),
        (-10, -1, false, false),
        (10, .nan, true, false),
        (-10, .nan, false, false),
    ])
    func accuracyReachingBoundaryMakesContainmentUncertain(
        gap: Double, accuracy: Double, isInside: Bool, isCertain: Bool
    ) throws {
        let place = try Coordinate(latitude: 37.334722, longitude: -122.007760)
        let distance = center.distance(to: place).meters
        #expect((99.9...100.1).contains(distance))
        let region = try CircularRegion(center: center, radius: Distance(meters: distance + gap))
        let containment = region.containment(of: place, horizontalAccuracy: Distance(meters: accuracy))
        #expect(containment.isInside == isInside)
        #expect(containment.isCertain == isCertain)
    }

    @Test func onlyPerfectAccuracyIsCertainOnBoundary() throws {
        let place = try Coordinate(latitude: 37.334722, longitude: -122.007760)
        let region = try CircularRegion(center: center, radius: center.distance(to: place))
        let perfect = region.containment(of: place, horizontalAccuracy: Distance(meters: 0))
        let good = region.containment(of: place, horizontalAccuracy: Distance(meters: 0.001))
        #expect(perfect.isInside && perfect.isCertain)
        #expect(good.isInside && !good.isCertain)
    }

    @Test func accuracyTouchingBoundaryIsCertainOnlyFromInside() throws {
        let region = try CircularRegion(center: center, radius: Distance(meters: 100))
        let touching = region.containment(of: center, horizontalAccuracy: Distance(meters: 100))
        let crossing = region.containment(
            of: center, horizontalAccuracy: Distance(meters: Double(100).nextUp))
        #expect(touching.isCertain)
        #expect(!crossing.isCertain)

        // Half the distance is left to the boundary, which is exact in binary.
        let place = try Coordinate(latitude: 37.334722, longitude: -122.007760)
        let half = Distance(meters: center.distance(to: place).meters / 2)
        let beside = try CircularRegion(center: center, radius: half)
        let short = Distance(meters: half.meters - 1e-9)
        #expect(!beside.containment(of: place, horizontalAccuracy: half).isCertain)
        #expect(beside.containment(of: place, horizontalAccuracy: short).isCertain)
    }
}
