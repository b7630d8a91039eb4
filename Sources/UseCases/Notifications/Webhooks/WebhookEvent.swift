/// The events of webhooks; their names are the messages' types.
public enum WebhookEvent: String, Sendable, Hashable, CaseIterable {
    case deliveryFinished = "delivery.finished"
    case locationChanged = "location.changed"
    case experienceChanged = "experience.changed"
    /// A claim of a domain was proved.
    case domainProved = "domain.proved"
    /// Two tenants have a proof of one domain; both are notified.
    case domainContested = "domain.contested"
    case domainLapsed = "domain.lapsed"
    /// A domain's proof was still missing at the end of its grace.
    case domainWithdrawn = "domain.withdrawn"
    case keyRevoked = "key.revoked"
    case confirmationRecorded = "confirmation.recorded"
    /// Another webhook of the tenant was disabled, because it failed for days.
    case webhookDisabled = "webhook.disabled"
    /// The experiences of a clip at App Store Connect differ from the applied ones, or no longer do.
    case appStoreDrift = "appstore.drift"

    /// The default events of a webhook.
    public static let usual: Set<WebhookEvent> = [.deliveryFinished]

    /// The number of waiting messages from which a webhook receives no more such events, until some are accepted; nil for
    /// events without such a limit. [ours]
    public var waitingLimit: Int? { self == .confirmationRecorded ? 10_000 : nil }

    /// The type of messages that are sent to try a webhook, whatever it wants.
    public static let test = "doorstep.test"
}

extension Set<WebhookEvent> {
    /// The events by name, in a fixed order.
    public var names: [String] { WebhookEvent.allCases.filter(contains).map(\.rawValue) }
}
