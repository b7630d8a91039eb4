public import Foundation
public import Invocation

/// What an authentic receipt says of where the person was.
public struct PresenceProof: Sendable, Hashable {
    /// Nil for a place that came signed in its URL.
    public let location: LocationIdentifier?
    public let isInRegion: Bool
    /// Whether that rests on a device's own result or on a coordinate. One that rests on neither confirms nothing.
    public let hasEvidence: Bool
    /// A whole minute.
    public let minute: Date

    public init(location: LocationIdentifier?, isInRegion: Bool, hasEvidence: Bool, minute: Date) {
        self.location = location
        self.isInRegion = isInRegion
        self.hasEvidence = hasEvidence
        self.minute = minute
    }
}
