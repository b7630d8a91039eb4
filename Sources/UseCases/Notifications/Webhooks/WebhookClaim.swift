/// Leased messages, and their receiver.
public struct WebhookClaim: Sendable {
    /// Nil for a disabled webhook: its messages are not leased, and its secret is not needed.
    public let webhook: Webhook?
    public let messages: [WebhookMessage]
    /// The number of messages that were given up, because they were too old or no longer wanted.
    public let outdatedCount: Int

    public init(webhook: Webhook?, messages: [WebhookMessage], outdatedCount: Int = 0) {
        self.webhook = webhook
        self.messages = messages
        self.outdatedCount = outdatedCount
    }
}
