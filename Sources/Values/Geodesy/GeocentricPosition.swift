/// A point in space, in metres from the centre of the Earth.
///
/// It has neither poles nor an antimeridian: two points are near on the Earth exactly if they are near in
/// space.
public struct GeocentricPosition: Sendable, Hashable {
    /// Towards longitude 0 on the equator.
    public let x: Double
    /// Towards 90 degrees east on the equator.
    public let y: Double
    /// Towards the North Pole.
    public let z: Double

    /// The maximum absolute value of each number, in metres.
    public static let greatestExtent = WGS84.equatorialRadius

    /// Returns the length of the straight line between two positions, a lower bound of every path over the
    /// Earth.
    public func chord(to other: GeocentricPosition) -> Distance {
        let (x, y, z) = (x - other.x, y - other.y, z - other.z)
        return Distance(meters: (x * x + y * y + z * z).squareRoot())
    }
}
