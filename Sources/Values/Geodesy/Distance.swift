/// A length along the surface of the Earth.
///
/// In metres, with no range of its own: what takes a distance states the one it accepts.
public struct Distance: Sendable, Hashable, Comparable {
    public let meters: Double

    public init(meters: Double) {
        self.meters = meters
    }

    public static func < (lhs: Distance, rhs: Distance) -> Bool {
        lhs.meters < rhs.meters
    }
}
