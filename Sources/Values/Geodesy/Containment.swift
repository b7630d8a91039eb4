/// The side of a region's boundary on which a coordinate of limited accuracy is.
public struct Containment: Sendable, Hashable {
    /// Whether the coordinate itself is in the region.
    public let isInside: Bool
    /// Whether every point in the circle of the coordinate's accuracy is on the same side.
    public let isCertain: Bool
}
