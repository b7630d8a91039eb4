import Geodesy
import PropertyTesting

extension SplitMix64 {
    /// A place anywhere, one time in five on a pole, the equator or the antimeridian.
    mutating func place() throws -> Coordinate {
        var latitude = Double.random(in: -90...90, using: &self)
        var longitude = Double.random(in: -180...180, using: &self)
        switch Int.random(in: 0..<20, using: &self) {
        case 0: latitude = 90
        case 1: latitude = 0
        case 2: longitude = 180
        case 3: longitude = -180
        default: break
        }
        return try Coordinate(latitude: latitude, longitude: longitude)
    }

    /// A place some 0 to 1,000 m away, or across the antimeridian if that is near.
    mutating func place(near place: Coordinate) throws -> Coordinate {
        let latitude = place.latitude + Double.random(in: -0.006...0.006, using: &self)
        let longitude = place.longitude + Double.random(in: -0.006...0.006, using: &self)
        return try Coordinate(
            latitude: min(90, max(-90, latitude)),
            longitude: longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude)
    }
}
