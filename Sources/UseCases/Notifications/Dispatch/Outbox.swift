public import Tenancy

/// The deliveries that are still to be made, lent to one server at a time.
///
/// A loan ends when it is completed, or after its time: any server may take the delivery then. The number of the attempt
/// fences: a completion of an earlier attempt than the last does nothing, unless it is that APNs has taken the delivery.
public protocol Outbox: Sendable {
    /// The tenants that something is due of, in the order of their IDs.
    func tenantsWithDueDeliveries() async throws -> [DueTenant]

    /// Takes those that are due longest, at most so many, for as long as the loan lasts.
    ///
    /// One that was lent before, and never completed, has a lost reply more: its server may have sent it.
    func claim(_ limit: Int, of tenant: TenantID, for lease: Duration) async throws -> [ClaimedDelivery]

    /// Writes down what became of deliveries, and of their tokens: all of it or nothing.
    /// - Returns: How many were still lent by the attempt that completes them.
    /// - Throws: `StoreUnavailable` when it may be done as it is asked another time; anything else is about what is
    ///   asked.
    @discardableResult
    func complete(_ completions: [Completion], of tenant: TenantID) async throws -> Int
}

/// A tenant that something is due of.
public struct DueTenant: Sendable, Hashable {
    public let tenant: TenantID
    /// How long it is due, by the outbox's own clock.
    public let overdue: Duration

    public init(tenant: TenantID, overdue: Duration) {
        self.tenant = tenant
        self.overdue = overdue
    }
}
