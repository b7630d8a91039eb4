public import Foundation
public import Invocation

/// A webhook as those see it who manage it: all but its secret.
public struct RegisteredWebhook: Sendable, Hashable {
    public let id: WebhookID
    /// The purpose of the webhook; nil for a webhook without a name.
    public let name: DisplayName?
    public let url: WebhookURL
    /// One at least.
    public let events: Set<WebhookEvent>
    public let createdAt: Date
    /// The time since when no message was accepted; nil if the last one was.
    public let failingSince: Date?
    /// Nil if the webhook is enabled.
    public let switchOff: SwitchOff?
    /// The number of waiting messages, up to ``countLimit``.
    public let waitingCount: Int
    /// The end of the overlap in which the previous secret signs messages too; nil without one.
    public let previousSecretEndsAt: Date?

    /// Since when a webhook has been disabled, and why.
    public struct SwitchOff: Sendable, Hashable {
        public let at: Date
        public let reason: String

        public init(at: Date, reason: String) {
            self.at = at
            self.reason = reason
        }

        /// The reason of a webhook that its tenant disabled.
        public static let asked = "disabled by request"
    }

    public init(
        id: WebhookID, name: DisplayName? = nil, url: WebhookURL, events: Set<WebhookEvent>,
        createdAt: Date, failingSince: Date?, switchOff: SwitchOff?, waitingCount: Int,
        previousSecretEndsAt: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.url = url
        self.events = events
        self.createdAt = createdAt
        self.failingSince = failingSince
        self.switchOff = switchOff
        self.waitingCount = waitingCount
        self.previousSecretEndsAt = previousSecretEndsAt
    }

    /// The allowed overlaps of a rotation, in hours. [ours]
    public static let overlaps = 0.0...8_760

    /// The maximum number of webhooks of a tenant. [ours]
    public static let limit = 16

    /// The number up to which waiting messages are counted, because counting reads each of them. [ours]
    public static let countLimit = 100_000
}
