/// The reason why numbers are no valid coordinate or region.
public enum GeodesyError: Error, Sendable, Hashable, CustomStringConvertible {
    case latitudeOutOfRange
    case longitudeOutOfRange
    case radiusOutOfRange

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .latitudeOutOfRange: "latitude_out_of_range"
        case .longitudeOutOfRange: "longitude_out_of_range"
        case .radiusOutOfRange: "radius_out_of_range"
        }
    }

    public var description: String {
        switch self {
        case .latitudeOutOfRange: "a latitude is a finite number of degrees from -90 to 90"
        case .longitudeOutOfRange: "a longitude is a finite number of degrees from -180 to 180"
        case .radiusOutOfRange: "a radius is more than 0 and at most 500 metres"
        }
    }
}
