import Tenancy

/// For whom a ``LeaseLoop`` works: a tenant, or something of its own.
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

    /// Those who have something due; in the order of their IDs, where they are served in turn.
    /// - Parameter busy: Those who would get nothing now.
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

    /// How long a lessee is left alone after claiming failed for it.
    /// - Parameter number: How often in succession.
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
    /// So many outcomes are not written down, and will not be.
    case abandoned(Int)
}
