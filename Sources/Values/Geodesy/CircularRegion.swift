/// All points at most a radius away from a center.
///
/// It corresponds to `CLCircularRegion(center:radius:identifier:)` on a device.
public struct CircularRegion: Sendable, Hashable {
    /// The largest region that an App Clip can confirm a location in, 500 metres [Apple].
    ///
    /// Source: Apple, "Confirming a person's physical location".
    public static let maximumRadius = Distance(meters: 500)

    public let center: Coordinate
    /// More than 0 and at most ``maximumRadius``.
    public let radius: Distance

    /// Refuses a radius out of range or not finite, and never clamps it.
    public init(center: Coordinate, radius: Distance) throws(GeodesyError) {
        guard radius.meters > 0, radius <= Self.maximumRadius else { throw .radiusOutOfRange }
        self.center = center
        self.radius = radius
    }

    /// Whether a coordinate is in the region; its boundary belongs to it [observed].
    public func contains(_ coordinate: Coordinate) -> Bool {
        center.distance(to: coordinate) <= radius
    }

    /// Whether a coordinate is in the region, and whether its accuracy leaves a doubt [ours].
    ///
    /// `horizontalAccuracy` is the radius of the circle around the coordinate that contains the device. With a
    /// negative value or NaN, nothing is certain. The accuracy
    /// never changes on which side the coordinate is.
    public func containment(of coordinate: Coordinate, horizontalAccuracy: Distance) -> Containment {
        let distance = center.distance(to: coordinate)
        let accuracy = horizontalAccuracy.meters
        // Certainty requires the whole circle on one side; the boundary counts as inside.
        let isWhollyInside = distance.meters + accuracy <= radius.meters
        let isWhollyOutside = distance.meters - accuracy > radius.meters
        return Containment(
            isInside: distance <= radius, isCertain: accuracy >= 0 && (isWhollyInside || isWhollyOutside))
    }
}
