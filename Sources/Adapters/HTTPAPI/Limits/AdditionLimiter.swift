import Lookups
import Tenancy

/// Limits the number of stored items, such as instances, that a tenant adds, and that a client with a publishable key adds.
///
/// A refused request does not count against the tenant's limit. Items that a secret key adds count only for the tenant.
struct AdditionLimiter: Sendable {
    enum Subject: Sendable {
        case instances
        /// Keys of App Attest.
        case attestKeys
    }

    private let subject: Subject
    /// The limits of tenants without their own limits.
    private let defaults: RequestLimits
    private let ofTenants = RateLimiter<TenantID>()
    private let ofClients = RateLimiter<Holder>()
    private let now: @Sendable () -> ContinuousClock.Instant

    init(
        _ subject: Subject, defaults: RequestLimits, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.subject = subject
        self.defaults = defaults
        self.now = now
    }

    /// Counts an addition before the request makes it, so that concurrent requests cannot exceed the limit. If the request adds
    /// nothing, ``giveBack(_:from:)`` undoes the count.
    /// - Returns: Nil; 429 if a limit is reached. Then nothing is counted.
    func admit(_ caller: KeyHolder, from client: Client.Identity) -> Problem? {
        let now = now()
        let own = own(of: caller, client)
        if let (holder, limit) = own {
            let state = ofClients.take(holder, limit, at: now)
            guard state.isAdmitted else { return .rateLimited(by: subject.ofClient, state) }
        }
        if let limit = limits(of: caller).tenant {
            let state = ofTenants.take(caller.tenant, limit, at: now)
            guard state.isAdmitted else {
                if let (holder, limit) = own { ofClients.giveBack(holder, limit) }
                return .rateLimited(by: subject.ofTenant, state)
            }
        }
        return nil
    }

    /// Undoes the count of ``admit(_:from:)`` for a request that added nothing.
    func giveBack(_ caller: KeyHolder, from client: Client.Identity) {
        if let (holder, limit) = own(of: caller, client) { ofClients.giveBack(holder, limit) }
        if let limit = limits(of: caller).tenant { ofTenants.giveBack(caller.tenant, limit) }
    }

    private func own(of caller: KeyHolder, _ client: Client.Identity) -> (Holder, RateLimit)? {
        guard caller.kind == .publishable, let limit = limits(of: caller).client else { return nil }
        return (Holder(tenant: caller.tenant, client: client), limit)
    }

    private func limits(of caller: KeyHolder) -> (tenant: RateLimit?, client: RateLimit?) {
        let (ofTenant, ofClient): (KeyPath<RequestLimits, RateLimit?>, KeyPath<RequestLimits, RateLimit?>) =
            switch subject {
            case .instances: (\.newInstances, \.clientNewInstances)
            case .attestKeys: (\.newAttestKeys, \.clientNewAttestKeys)
            }
        return (
            (caller.limits[keyPath: ofTenant] ?? defaults[keyPath: ofTenant]).counted,
            (caller.limits[keyPath: ofClient] ?? defaults[keyPath: ofClient]).counted
        )
    }

    private struct Holder: Hashable {
        let tenant: TenantID
        let client: Client.Identity
    }
}

extension AdditionLimiter.Subject {
    fileprivate var ofTenant: Problem.Limit {
        switch self {
        case .instances: .newInstances
        case .attestKeys: .newAttestKeys
        }
    }

    fileprivate var ofClient: Problem.Limit {
        switch self {
        case .instances: .clientNewInstances
        case .attestKeys: .clientNewAttestKeys
        }
    }
}
