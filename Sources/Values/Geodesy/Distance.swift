/// A length along the surface of the Earth.
///
/// In metres, without a range of its own: a function with a distance as parameter states the range that it
/// accepts.
public struct Distance: Sendable, Hashable, Comparable {
    public let meters: Double

    public init(meters: Double) {
        self.meters = meters
    }

    public static func < (lhs: Distance, rhs: Distance) -> Bool {
        lhs.meters < rhs.meters
    }
}
