public import Invocation

/// A change of a webhook; nil members stay.
public struct WebhookChange: Sendable, Hashable {
    /// The new name, a nil value for none.
    public var name: DisplayName??
    public var url: WebhookURL?
    /// One at least.
    public var events: Set<WebhookEvent>?
    /// False switches it off, so that nothing is kept for it; true on again.
    public var isEnabled: Bool?

    public init(
        name: DisplayName?? = .none, url: WebhookURL? = nil, events: Set<WebhookEvent>? = nil,
        isEnabled: Bool? = nil
    ) {
        self.name = name
        self.url = url
        self.events = events
        self.isEnabled = isEnabled
    }
}
