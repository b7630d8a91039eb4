import Tenancy

/// What a ``LeaseLoop`` does for tenants.
protocol LeasedWork: Sendable {
    /// What is lent.
    associatedtype Loan: Sendable
    /// What became of a loan, to be written down.
    associatedtype Outcome: Sendable

    /// Those who have something due, in the order in which they are served.
    /// - Parameter busy: Those who would get nothing now.
    func tenants(except busy: [TenantID]) async throws -> [TenantID]

    /// Takes what is due of a tenant, at most so much.
    func claim(_ room: Int, of tenant: TenantID) async throws -> [Loan]

    func work(on loan: Loan, of tenant: TenantID) async -> Outcome

    /// Writes outcomes down. Those that it throws for are given to it again, whatever was written of them.
    func settle(_ outcomes: [Outcome], of tenant: TenantID) async throws

    /// How long a tenant is left alone after claiming or settling failed for it.
    /// - Parameter number: How often in succession.
    func rest(_ number: Int) -> Duration

    func report(_ event: LeaseEvent)
}

enum LeaseEvent: Sendable {
    /// What was asked for a tenant, or for all, did not work; it is asked again.
    case failed(TenantID?, any Error)
    /// It works again.
    case recovered
    /// The loop ends, and so many outcomes could not be written down.
    case abandoned(Int)
}
