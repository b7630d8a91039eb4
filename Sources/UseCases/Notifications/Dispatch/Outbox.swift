public import Tenancy

/// The unsent deliveries, each leased to one server at a time.
///
/// A lease ends when it is completed, or after its time: any server may take the delivery then. The number of the attempt
/// fences: a completion of an earlier attempt than the last does nothing, unless it is that APNs has taken the delivery.
public protocol Outbox: Sendable {
    /// The tenants that something is due of, in the order of their IDs.
    func tenantsWithDueDeliveries() async throws -> [DueTenant]

    /// Leases the longest overdue deliveries, up to a maximum, for the duration of a lease.
    ///
    /// A delivery that was leased before without a result counts as one more lost response: its server may have sent it.
    func claim(_ limit: Int, of tenant: TenantID, for lease: Duration) async throws -> [ClaimedDelivery]

    /// Stores the results of deliveries and their tokens: all or nothing.
    /// - Returns: The number of deliveries that were still leased by the attempt.
    /// - Throws: `StoreUnavailable` if a repetition can succeed; other errors concern the data itself.
    @discardableResult
    func complete(_ completions: [Completion], of tenant: TenantID) async throws -> Int
}

/// A tenant that something is due of.
public struct DueTenant: Sendable, Hashable {
    public let tenant: TenantID
    /// The time since the delivery became due, by the outbox's clock.
    public let overdue: Duration

    public init(tenant: TenantID, overdue: Duration) {
        self.tenant = tenant
        self.overdue = overdue
    }
}
