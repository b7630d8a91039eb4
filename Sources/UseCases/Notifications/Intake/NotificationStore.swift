public import Tenancy

/// Where notifications and their deliveries are kept.
public protocol NotificationStore: Sendable {
    /// Finds the audience of a notification, decides for each instance, and stores notification, deliveries and idempotency
    /// key: all or nothing. A large audience is added in parts: the first here, the others by ``continueAudience(of:)``.
    /// - Parameter key: By which the request is known again.
    /// - Throws: `StoreUnavailable`; a request with an idempotency key can then be repeated.
    func add(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition

    /// Those of whom a part of an audience is still to be taken in; none that is suspended.
    func tenantsWithAudiencesToContinue() async throws -> [TenantID]

    /// Takes in the next part of the audience of the tenant that waits longest, as it was when the notification was made:
    /// all of the part or nothing.
    /// - Returns: Nil if there is none, or other servers work on it.
    func continueAudience(of tenant: TenantID) async throws -> AudiencePart?

    /// The result that was stored with a key within 24 hours; nil if there is none.
    func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition?

    /// A notification with its deliveries behind the one named, in the order of their IDs; nil when the tenant has none of
    /// this ID.
    func trace(
        _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace?
}
