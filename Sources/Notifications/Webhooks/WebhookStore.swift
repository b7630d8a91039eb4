public import Foundation
public import Tenancy

/// The messages that wait for webhooks, as a server sees them.
public protocol WebhookStore: Sendable {
    /// Tenants that have a message due, at most so many.
    func tenantsWithDueMessages(limit: Int) async throws -> [TenantID]

    /// Lends messages of a tenant that are due, those that wait longest first: nobody else gets them for so long.
    ///
    /// Nil when the tenant has no webhook any more.
    func claim(
        of tenant: TenantID, limit: Int, lease: Duration
    ) async throws -> (webhook: Webhook, messages: [WebhookMessage])?

    /// Removes messages that were taken, or given up.
    func remove(_ messages: [WebhookMessage], of tenant: TenantID) async throws

    /// Lets a message be due again some time from now.
    func retry(_ message: WebhookMessage, of tenant: TenantID, after pause: Duration) async throws
}

/// The tenants' webhooks, as an operator registers them.
public protocol WebhookRegistry: Sendable {
    /// Nil when there is none.
    func webhook(of tenant: TenantID) async throws -> RegisteredWebhook?

    /// Registers a webhook, or replaces the URL and secret of the one that is there.
    /// - Parameter secret: nil keeps the one that is there.
    /// - Returns: false when there is none whose secret could be kept: then nothing was changed.
    func setWebhook(_ url: WebhookURL, secret: WebhookSecret?, of tenant: TenantID) async throws -> Bool

    /// - Returns: How many messages that waited went with it; nil when there was none.
    func removeWebhook(of tenant: TenantID) async throws -> Int?
}

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
