import Lookups
import RateLimiting
import Tenancy

/// Holds requests to how many they may add of something that stays: for their tenant, and for their client where that uses a
/// publishable key.
///
/// A client that is refused has used up nothing of its tenant's. What a secret key adds counts for the tenant alone.
struct AdditionLimiter: Sendable {
    enum Subject: Sendable {
        case instances
        /// Of App Attest.
        case attestKeys
    }

    private let subject: Subject
    /// For tenants that have none of their own.
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

    /// Counts one that a request may add, which is known only when it has: if not, the place is given back.
    ///
    /// Many requests that come at once get no more places than there are.
    /// - Returns: Nil, or 429 when a limit is reached and nothing is counted.
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

    /// Takes back what was counted: nothing was added.
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
