import Tenancy

/// The owner of work in a ``LeaseLoop``: a tenant, or an item of a tenant.
protocol OfTenant: Hashable, Comparable, Sendable {
    var tenant: TenantID { get }
}

extension TenantID: OfTenant {
    var tenant: TenantID { self }
}

extension WebhookReference: OfTenant {}

/// The work that a ``LeaseLoop`` does for lessees.
protocol LeasedWork: Sendable {
    /// For whom: a tenant, or one of its webhooks.
    associatedtype Lessee: OfTenant
    /// The leased work.
    associatedtype LeasedMessage: Sendable
    /// The result of a lease, to settle.
    associatedtype Outcome: Sendable

    /// The lessees with due work, sorted by ID if they are served in turn.
    /// - Parameter busy: Lessees that could get no lease now.
    func lessees(except busy: [Lessee]) async throws -> [Lessee]

    /// Leases due work of a lessee, up to a maximum.
    /// - Returns: The leases, and whether there may be more.
    func claim(_ room: Int, of lessee: Lessee) async throws -> (leases: [LeasedMessage], hasMore: Bool)

    func work(on lease: LeasedMessage, of lessee: Lessee) async -> Outcome

    /// Whether it is too late to write an outcome down.
    func isPast(_ outcome: Outcome) -> Bool

    /// Writes outcomes down.
    /// - Returns: The results that were not settled and can be later; nil if none is left.
    func settle(_ outcomes: [Outcome], of lessee: Lessee) async -> Unsettled<Outcome>?

    /// The rest of a lessee after a failed claim.
    /// - Parameter number: The number of consecutive failures.
    func rest(_ number: Int) -> Duration

    func report(_ event: LeaseEvent<Lessee>)
}

/// Outcomes that are not written down, and why.
struct Unsettled<Outcome: Sendable>: Sendable {
    let outcomes: [Outcome]
    let error: any Error
}

enum LeaseEvent<Lessee: Sendable>: Sendable {
    /// A request for a lessee, or for all, failed; it is repeated.
    case failed(Lessee?, any Error)
    /// It works again.
    case recovered
    /// Reports that this number of results will not be stored.
    case abandoned(Int)
}
