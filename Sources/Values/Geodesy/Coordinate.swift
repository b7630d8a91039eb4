/// A place on the WGS 84 ellipsoid.
///
/// Longitudes −180 and 180 are different values for the same meridian, as are all longitudes at a pole: what is
/// stored is what was given. Distances see the place, so there they make no difference.
public struct Coordinate: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Degrees north of the equator, −90…90, finite.
    public let latitude: Double
    /// Degrees east of Greenwich, −180…180, finite.
    public let longitude: Double

    /// Refuses what is out of range or not finite, and never clamps or wraps it.
    ///
    /// A negative zero becomes zero, so that it prints and compares as one.
    public init(latitude: Double, longitude: Double) throws(GeodesyError) {
        guard (-90...90).contains(latitude) else { throw .latitudeOutOfRange }
        guard (-180...180).contains(longitude) else { throw .longitudeOutOfRange }
        self.latitude = latitude == 0 ? 0 : latitude
        self.longitude = longitude == 0 ? 0 : longitude
    }

    /// Shows no number: where a device is must not reach a log by way of a value that holds it.
    public var description: String { "a coordinate" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
