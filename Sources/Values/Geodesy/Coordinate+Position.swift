import Foundation

extension Coordinate {
    /// The position in space, accurate to a few nanometres.
    public var position: GeocentricPosition {
        let parallel = ReducedLatitude(geographic: latitude)
        let radius = WGS84.equatorialRadius * parallel.cosine
        let longitude = longitude * .pi / 180
        return GeocentricPosition(
            x: radius * cos(longitude), y: radius * sin(longitude), z: WGS84.polarRadius * parallel.sine)
    }
}
