/// Where a place is in space, in metres from the centre of the Earth.
///
/// It knows neither poles nor an antimeridian: what is near on the Earth is near in space, and nothing else is.
public struct GeocentricPosition: Sendable, Hashable {
    /// Towards longitude 0 on the equator.
    public let x: Double
    /// Towards 90 degrees east on the equator.
    public let y: Double
    /// Towards the North Pole.
    public let z: Double

    /// None of the numbers is farther from 0, in metres.
    public static let greatestExtent = WGS84.equatorialRadius

    /// The length of the straight line between two positions, which no path over the Earth is shorter than.
    public func chord(to other: GeocentricPosition) -> Distance {
        let (x, y, z) = (x - other.x, y - other.y, z - other.z)
        return Distance(meters: (x * x + y * y + z * z).squareRoot())
    }
}
