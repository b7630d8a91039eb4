import NIOCore
import Tenancy

/// The breakers of a team: one for each of its tenants, and one for all of them.
///
/// One tenant must not block others with clips of the same team. Bad tokens count for their tenant, whose own breaker opens;
/// the team's breaker counts only a few of each tenant, so that it opens only if several tenants have them. [ours]
struct TeamBreakers {
    /// The breaker that counts the response.
    struct Probes: OptionSet {
        let rawValue: UInt8
        static let tenant = Probes(rawValue: 1)
        static let team = Probes(rawValue: 2)
    }

    /// A breaker that was opened, and for how long.
    enum Opening: Hashable {
        case tenant(TimeAmount)
        case team(TimeAmount)
    }

    private let thresholds: CircuitBreaker.Thresholds
    private var team: CircuitBreaker
    private var tenants: [TenantID: CircuitBreaker] = [:]
    /// Above this number, idle ones are removed.
    private var sweepAt = Self.fewTenants

    private static let fewTenants = 64

    init(_ thresholds: CircuitBreaker.Thresholds) {
        self.thresholds = thresholds
        team = CircuitBreaker(thresholds)
    }

    /// The number of tenants with recent responses.
    var tenantCount: Int { tenants.count }

    /// The breakers for which the request is the probe; nil if the request may not be sent now.
    /// - Parameter tenant: Nil for requests without a tenant's token.
    mutating func admission(of tenant: TenantID?, at now: NIODeadline) -> Probes? {
        var probes: Probes = []
        switch tenant.flatMap({ tenants[$0]?.admission(at: now) }) {
        case .refused: return nil
        case .asProbe: probes.insert(.tenant)
        case .admitted, nil: break
        }
        switch team.admission(at: now) {
        case .refused:
            probesWereLost(probes, of: tenant, at: now)
            return nil
        case .asProbe: probes.insert(.team)
        case .admitted: break
        }
        return probes
    }

    /// Counts a response.
    /// - Returns: The breaker that this response opened; the team's if it opened both.
    mutating func note(
        isBad: Bool, of tenant: TenantID?, as probes: Probes, at now: NIODeadline
    ) -> Opening? {
        var opening: Opening?
        var concernsTeam = true
        if let tenant {
            sweep(at: now)
            var breaker = tenants[tenant] ?? CircuitBreaker(thresholds)
            opening = breaker.note(isBad: isBad, isProbe: probes.contains(.tenant), at: now).map(
                Opening.tenant)
            tenants[tenant] = breaker
            concernsTeam = !isBad || (breaker.badCount.map { $0 <= thresholds.badOfOneTenant } ?? false)
        }
        guard concernsTeam || probes.contains(.team) else { return opening }
        let pause = team.note(isBad: isBad, isProbe: probes.contains(.team), at: now)
        return pause.map(Opening.team) ?? opening
    }

    /// The probe came to nothing: the next request is one.
    mutating func probesWereLost(_ probes: Probes, of tenant: TenantID?, at now: NIODeadline) {
        if probes.contains(.team) { team.probeWasLost(at: now) }
        if probes.contains(.tenant), let tenant { tenants[tenant]?.probeWasLost(at: now) }
    }

    private mutating func sweep(at now: NIODeadline) {
        guard tenants.count >= sweepAt else { return }
        tenants = tenants.filter { !$0.value.isIdle(at: now) }
        sweepAt = max(Self.fewTenants, tenants.count * 2)
    }
}
