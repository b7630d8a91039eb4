/// The attribute by which statistics group their counts.
public enum StatisticsGrouping: String, Sendable, CaseIterable {
    /// A day of UTC.
    case day
    case location
    case source
    case experience
}

/// Counts of one day, location, source or experience. A count is nil if its events have no such attribute.
public struct Statistics: Sendable, Hashable {
    /// The day such as `2026-03-01`, the location's identifier, the source or the experience's URL. Empty for events without a location.
    public let group: String
    /// Lookups of URLs that an experience matches.
    public var lookups = 0
    /// Nil by experience.
    public var confirmations: Int?
    /// The confirmations with the outcome `inRegion`; nil by experience.
    public var inRegion: Int?
    /// Launches that instances registered.
    public var launchReports = 0
    /// Deliveries that APNs accepted, by the day of their notification; nil by source.
    public var delivered: Int?

    public init(
        group: String, lookups: Int = 0, confirmations: Int? = nil, inRegion: Int? = nil,
        launchReports: Int = 0, delivered: Int? = nil
    ) {
        self.group = group
        self.lookups = lookups
        self.confirmations = confirmations
        self.inRegion = inRegion
        self.launchReports = launchReports
        self.delivered = delivered
    }
}

/// The order of statistics.
public enum StatisticsOrder: Sendable, Hashable {
    /// By group, after a group; nil from the beginning.
    case group(after: String?)
    /// The greatest number of lookups and confirmations first.
    case busiest
    /// The greatest number of confirmations outside the region first. Groups without one are omitted.
    case mostOutsideRegion
}
