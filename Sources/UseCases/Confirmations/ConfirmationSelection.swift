public import Foundation
public import Invocation

/// Selects some of a tenant's confirmations, or what else happened at its locations.
public struct ConfirmationSelection: Sendable, Hashable {
    /// Nil for all, including those without a location.
    public var location: LocationIdentifier?
    /// Only confirmations at these locations; nil for all.
    public var locations: Set<LocationIdentifier>?
    /// The first minute.
    public var start: Date
    /// The minute after the last.
    public var end: Date

    public init(
        location: LocationIdentifier? = nil, within locations: Set<LocationIdentifier>? = nil,
        start: Date = .distantPast, end: Date = .distantFuture
    ) {
        self.location = location
        self.locations = locations
        self.start = start
        self.end = end
    }
}

/// A stored confirmation.
public struct RecordedConfirmation: Sendable, Hashable {
    public let id: UUID
    public let record: ConfirmationRecord

    public init(id: UUID, record: ConfirmationRecord) {
        self.id = id
        self.record = record
    }
}

/// The number of confirmations of each outcome on one day.
public struct ConfirmationCounts: Sendable, Hashable {
    /// The first moment of the day in UTC.
    public let day: Date
    public let counts: [Confirmation.Outcome: Int]

    public init(day: Date, counts: [Confirmation.Outcome: Int]) {
        self.day = day
        self.counts = counts
    }
}
