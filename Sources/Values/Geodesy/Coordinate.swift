/// A point on the WGS 84 ellipsoid.
///
/// Longitudes −180 and 180 are different values for the same meridian, as are all longitudes at a pole: the
/// given value is stored. Distances depend only on the point, so there they make no difference.
public struct Coordinate: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Degrees north of the equator, −90…90, finite.
    public let latitude: Double
    /// Degrees east of Greenwich, −180…180, finite.
    public let longitude: Double

    /// Refuses values that are out of range or not finite, and never clamps or wraps them.
    ///
    /// A negative zero becomes zero, so that it prints and compares as one.
    public init(latitude: Double, longitude: Double) throws(GeodesyError) {
        guard (-90...90).contains(latitude) else { throw .latitudeOutOfRange }
        guard (-180...180).contains(longitude) else { throw .longitudeOutOfRange }
        self.latitude = latitude == 0 ? 0 : latitude
        self.longitude = longitude == 0 ? 0 : longitude
    }

    /// A fixed text without numbers: a device's position must not reach a log through a value that contains
    /// it.
    public var description: String { "a coordinate" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
