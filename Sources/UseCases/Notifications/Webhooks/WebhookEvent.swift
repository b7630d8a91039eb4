/// What a webhook is told of; the names are the messages' types.
public enum WebhookEvent: String, Sendable, Hashable, CaseIterable {
    case deliveryFinished = "delivery.finished"
    case locationChanged = "location.changed"
    case experienceChanged = "experience.changed"
    /// A claim of a domain was proved.
    case domainProved = "domain.proved"
    /// Two tenants have a proof of one domain; both are told.
    case domainContested = "domain.contested"
    case domainLapsed = "domain.lapsed"
    /// A domain's proof was still missing at the end of its grace.
    case domainWithdrawn = "domain.withdrawn"
    case keyRevoked = "key.revoked"
    case confirmationRecorded = "confirmation.recorded"
    /// That another webhook of the tenant was switched off, since it failed for days.
    case webhookDisabled = "webhook.disabled"
    /// That what App Store Connect has of a clip's experiences is other than it should be, or not any more.
    case appStoreDrift = "appstore.drift"

    /// What a webhook wants where nothing is said.
    public static let usual: Set<WebhookEvent> = [.deliveryFinished]

    /// A webhook for which so many messages wait is told of no more such events, until it has taken some; nil for those of which
    /// it is told whatever waits. [ours]
    public var waitingLimit: Int? { self == .confirmationRecorded ? 10_000 : nil }

    /// The type of messages that are sent to try a webhook, whatever it wants.
    public static let test = "doorstep.test"
}

extension Set<WebhookEvent> {
    /// By their names, in one order.
    public var names: [String] { WebhookEvent.allCases.filter(contains).map(\.rawValue) }
}
