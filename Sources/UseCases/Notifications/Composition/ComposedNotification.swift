public import APNsPayload
public import Lookups

/// A notification as APNs takes it.
public struct ComposedNotification: Sendable, Hashable {
    public let payload: EncodedPayload
    public let headers: NotificationHeaders
    /// The experience that the URL matches: an advanced one, or that of a clip which needs no target.
    public let experience: IndexedExperience
    public let warnings: [CompositionWarning]
    /// The payload's `target-content-id`; nil if the default or demo experience of a single-business clip is the target.
    public let target: String?
}
