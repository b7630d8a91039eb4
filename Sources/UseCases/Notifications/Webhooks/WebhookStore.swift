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
