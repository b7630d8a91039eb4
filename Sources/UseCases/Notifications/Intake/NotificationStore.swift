public import Tenancy

/// Where notifications and their deliveries are kept.
public protocol NotificationStore: Sendable {
    /// Finds those a notification is for, decides for each, and stores notification, deliveries and idempotency key: all
    /// of it or nothing. Of an audience that is larger than one part the first is taken in so, and the rest is left to
    /// ``continueAudience(of:)``.
    /// - Parameter key: By which the request is known again.
    /// - Throws: `StoreUnavailable`; what was sent with an idempotency key can be sent again then.
    func add(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition

    /// Those of whom a part of an audience is still to be taken in; none that is suspended.
    func tenantsWithAudiencesToContinue() async throws -> [TenantID]

    /// Takes in the next part of the audience of the tenant that waits longest, as it was when the notification was made:
    /// all of the part or nothing.
    /// - Returns: Nil when there is none, or others are at it.
    func continueAudience(of tenant: TenantID) async throws -> AudiencePart?

    /// What was stored with a key within 24 hours; nil when nothing was.
    func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition?

    /// A notification with its deliveries behind the one named, in the order of their IDs; nil when the tenant has none of
    /// this ID.
    func trace(
        _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace?
}
