public import Foundation
public import Tenancy

/// The messages that wait for webhooks, as a server sees them.
public protocol WebhookStore: Sendable {
    /// Tenants that have a message due, at most so many, any of them as likely as another; but not those excluded.
    func tenantsWithDueMessages(limit: Int, excluding: [TenantID]) async throws -> [TenantID]

    /// Lends messages of a tenant that are due, those that wait longest first: nobody else gets them for so long.
    ///
    /// Those it finds older than `maximumAge` it removes in place of lending them.
    /// - Parameter limit: How many are lent or removed, at most.
    /// - Returns: Nil when the tenant has no webhook any more.
    func claim(
        of tenant: TenantID, limit: Int, lease: Duration, maximumAge: Duration
    ) async throws -> WebhookClaim?

    /// Removes messages that were taken, or given up.
    func remove(_ messages: [WebhookMessage], of tenant: TenantID) async throws

    /// Lets a message be due again some time from now.
    func retry(_ message: WebhookMessage, of tenant: TenantID, after pause: Duration) async throws

    /// Lets a message be due at once, as if it had not been lent.
    func giveBack(_ message: WebhookMessage, of tenant: TenantID) async throws
}

/// Messages that are lent, and where to.
public struct WebhookClaim: Sendable {
    public let webhook: Webhook
    public let messages: [WebhookMessage]
    /// How many were too old, and are removed.
    public let outdatedCount: Int

    public init(webhook: Webhook, messages: [WebhookMessage], outdatedCount: Int = 0) {
        self.webhook = webhook
        self.messages = messages
        self.outdatedCount = outdatedCount
    }
}

/// The tenants' webhooks, as an operator registers them.
public protocol WebhookRegistry: Sendable {
    /// Nil when there is none.
    func webhook(of tenant: TenantID) async throws -> RegisteredWebhook?

    /// Registers a webhook, or replaces the URL and secret of the one that is there.
    /// - Parameter secret: nil keeps the one that is there.
    /// - Returns: false when there is none whose secret could be kept: then nothing was changed.
    func setWebhook(_ url: WebhookURL, secret: WebhookSecret?, of tenant: TenantID) async throws -> Bool

    /// Replaces the secret, even one that cannot be opened any more.
    /// - Returns: Where the webhook is; nil when there is none.
    func replaceSecret(by secret: WebhookSecret, of tenant: TenantID) async throws -> WebhookURL?

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
