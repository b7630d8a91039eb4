public import Foundation

/// A webhook as an operator sees it.
public struct RegisteredWebhook: Sendable, Hashable {
    public let webhook: Webhook
    public let createdAt: Date
    /// How many messages wait.
    public let waitingCount: Int

    public init(webhook: Webhook, createdAt: Date, waitingCount: Int) {
        self.webhook = webhook
        self.createdAt = createdAt
        self.waitingCount = waitingCount
    }
}
