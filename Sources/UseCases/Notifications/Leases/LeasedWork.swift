import Tenancy

/// What a ``LeaseLoop`` does for tenants.
protocol LeasedWork: Sendable {
    /// What is lent.
    associatedtype Loan: Sendable
    /// What became of a loan, to be written down.
    associatedtype Outcome: Sendable

    /// Those who have something due; in the order of their IDs, where they are served in turn.
    /// - Parameter busy: Those who would get nothing now.
    func tenants(except busy: [TenantID]) async throws -> [TenantID]

    /// Takes what is due of a tenant, at most so much.
    /// - Returns: What is lent, and whether there may be more whatever came of it.
    func claim(_ room: Int, of tenant: TenantID) async throws -> (loans: [Loan], hasMore: Bool)

    func work(on loan: Loan, of tenant: TenantID) async -> Outcome

    /// Whether it is too late to write an outcome down.
    func isPast(_ outcome: Outcome) -> Bool

    /// Writes outcomes down.
    /// - Returns: What is not written, and may be another time; nil when nothing is left.
    func settle(_ outcomes: [Outcome], of tenant: TenantID) async -> Unsettled<Outcome>?

    /// How long a tenant is left alone after claiming failed for it.
    /// - Parameter number: How often in succession.
    func rest(_ number: Int) -> Duration

    func report(_ event: LeaseEvent)
}

/// Outcomes that are not written down, and why.
struct Unsettled<Outcome: Sendable>: Sendable {
    let outcomes: [Outcome]
    let error: any Error
}

enum LeaseEvent: Sendable {
    /// What was asked for a tenant, or for all, did not work; it is asked again.
    case failed(TenantID?, any Error)
    /// It works again.
    case recovered
    /// So many outcomes are not written down, and will not be.
    case abandoned(Int)
}
