import Tenancy

/// For whom a ``LeaseLoop`` works: a tenant, or something of its own.
protocol OfTenant: Hashable, Comparable, Sendable {
    var tenant: TenantID { get }
}

extension TenantID: OfTenant {
    var tenant: TenantID { self }
}

extension WebhookReference: OfTenant {}

/// What a ``LeaseLoop`` does for lessees.
protocol LeasedWork: Sendable {
    /// For whom: a tenant, or one of its webhooks.
    associatedtype Lessee: OfTenant
    /// What is lent.
    associatedtype LeasedMessage: Sendable
    /// What became of a loan, to be written down.
    associatedtype Outcome: Sendable

    /// Those who have something due; in the order of their IDs, where they are served in turn.
    /// - Parameter busy: Those who would get nothing now.
    func lessees(except busy: [Lessee]) async throws -> [Lessee]

    /// Takes what is due of a lessee, at most so much.
    /// - Returns: What is lent, and whether there may be more whatever came of it.
    func claim(_ room: Int, of lessee: Lessee) async throws -> (leases: [LeasedMessage], hasMore: Bool)

    func work(on lease: LeasedMessage, of lessee: Lessee) async -> Outcome

    /// Whether it is too late to write an outcome down.
    func isPast(_ outcome: Outcome) -> Bool

    /// Writes outcomes down.
    /// - Returns: What is not written, and may be another time; nil when nothing is left.
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
    /// What was asked for a lessee, or for all, did not work; it is asked again.
    case failed(Lessee?, any Error)
    /// It works again.
    case recovered
    /// So many outcomes are not written down, and will not be.
    case abandoned(Int)
}
