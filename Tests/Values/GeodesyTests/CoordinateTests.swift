import Geodesy
import Testing

@Suite struct CoordinateTests {
    @Test(arguments: [
        (90.0, 180.0), (-90, -180), (0, 0), (37.334722, -122.008889),
        (Double(90).nextDown, Double(180).nextDown),
        (.leastNonzeroMagnitude, -.leastNonzeroMagnitude),
    ])
    func coordinateInRangeIsKept(latitude: Double, longitude: Double) throws {
        let coordinate = try Coordinate(latitude: latitude, longitude: longitude)
        #expect(coordinate.latitude == latitude)
        #expect(coordinate.longitude == longitude)
    }

    @Test(arguments: [
        Double(90).nextUp, Double(-90).nextDown, 91, 1e300, .nan, .signalingNaN, .infinity, -.infinity,
    ])
    func latitudeOutOfRangeIsRejected(latitude: Double) {
        #expect(throws: GeodesyError.latitudeOutOfRange) { try Coordinate(latitude: latitude, longitude: 0) }
    }

    @Test(arguments: [
        Double(180).nextUp, Double(-180).nextDown, 181, 360, .nan, .signalingNaN, .infinity, -.infinity,
    ])
    func longitudeOutOfRangeIsRejected(longitude: Double) {
        #expect(throws: GeodesyError.longitudeOutOfRange) {
            try Coordinate(latitude: 0, longitude: longitude)
        }
    }

    @Test func negativeZeroBecomesZero() throws {
        let coordinate = try Coordinate(latitude: -0.0, longitude: -0.0)
        #expect(coordinate.latitude.sign == .plus)
        #expect(coordinate.longitude.sign == .plus)
    }

    @Test func descriptionContainsNoCoordinate() throws {
        let center = try Coordinate(latitude: 37.334722, longitude: -122.008889)
        let region = try CircularRegion(center: center, radius: Distance(meters: 100))
        #expect("\(center)" == "a coordinate")
        #expect(!String(reflecting: center).contains { $0.isNumber })
        #expect(!"\(region)".contains("37"))
    }

    @Test func errorsHaveStableCodesAndNameAllowedRange() {
        let errors: [(GeodesyError, String)] = [
            (.latitudeOutOfRange, "latitude_out_of_range"),
            (.longitudeOutOfRange, "longitude_out_of_range"),
            (.radiusOutOfRange, "radius_out_of_range"),
        ]
        for (error, code) in errors {
            #expect(error.code == code)
            #expect(error.description.contains(" a") && !error.description.hasSuffix("."))
        }
        #expect(GeodesyError.radiusOutOfRange.description.contains("500"))
    }
}
