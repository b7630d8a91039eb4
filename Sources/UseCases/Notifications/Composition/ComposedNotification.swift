public import APNsPayload
public import Lookups

/// A notification as APNs takes it.
public struct ComposedNotification: Sendable, Hashable {
    public let payload: EncodedPayload
    public let headers: NotificationHeaders
    /// The experience that the URL matches: an advanced one, or that of a clip which needs no target.
    public let experience: IndexedExperience
    public let warnings: [CompositionWarning]
    /// The payload's `target-content-id`; nil where a clip of one business is reached by its default or demo experience.
    public let target: String?
}
