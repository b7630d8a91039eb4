/// Messages that are lent, and where to.
public struct WebhookClaim: Sendable {
    /// Nil for one that is switched off: nothing is lent of it, and its secret is of no use.
    public let webhook: Webhook?
    public let messages: [WebhookMessage]
    /// How many were too old, or not wanted any more, and are given up.
    public let outdatedCount: Int

    public init(webhook: Webhook?, messages: [WebhookMessage], outdatedCount: Int = 0) {
        self.webhook = webhook
        self.messages = messages
        self.outdatedCount = outdatedCount
    }
}
