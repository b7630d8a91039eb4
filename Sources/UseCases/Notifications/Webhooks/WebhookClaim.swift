/// Leased messages, and their receiver.
public struct WebhookClaim: Sendable {
    /// Nil for a disabled webhook: its messages are not leased, and its secret is not needed.
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
