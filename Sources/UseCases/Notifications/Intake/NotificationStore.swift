public import Tenancy

/// The store of notifications and their deliveries.
public protocol NotificationStore: Sendable {
    /// Finds the audience of a notification, decides for each instance, and stores notification, deliveries and idempotency
    /// key: all or nothing. A large audience is added in parts: the first here, the others by ``continueAudience(of:)``.
    /// - Parameter key: By which the request is known again.
    /// - Throws: `StoreUnavailable`; a request with an idempotency key can then be repeated.
    func add(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition

    /// Tenants with an incomplete audience, without suspended tenants.
    func tenantsWithAudiencesToContinue() async throws -> [TenantID]

    /// Adds the next part of the tenant's audience that has waited longest, with the instances at the time of the notification.
    /// Adds the part completely or not at all.
    /// - Returns: Nil if there is none, or other servers work on it.
    func continueAudience(of tenant: TenantID) async throws -> AudiencePart?

    /// The result that was stored with a key within 24 hours; nil if there is none.
    func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition?

    /// Cancels a notification: ends its queued deliveries, and takes no further part of its audience. A delivery that a server is
    /// sending now is not tried again. After this has returned, no server takes a further delivery of the notification.
    ///
    /// A repetition continues a cancellation that was interrupted.
    /// - Parameter actor: The actor in the audit log.
    /// - Throws: `StoreUnavailable`; for a store that may only read, `ReadOnlyAccess`.
    func cancel(_ id: NotificationID, of tenant: TenantID, by actor: String) async throws -> Cancellation

    /// A notification with its deliveries behind the one named, in the order of their IDs; nil when the tenant has none of
    /// this ID.
    func trace(
        _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace?
}

/// The result of a request to cancel a notification.
public enum Cancellation: Sendable, Hashable {
    case cancelled
    /// Nothing was left to cancel.
    case finished
    case unknown
}
