public import Foundation
public import Invocation
public import Tenancy

/// A business or brand that owns clips, domains, experiences and locations, apart from every other tenant.
public struct Tenant: Sendable, Hashable {
    public let id: TenantID
    public let slug: TenantSlug
    public internal(set) var name: DisplayName
    /// Whether this is a test tenant: its keys begin with `dpk_test_` and `dsk_test_`, and it notifies only in the environment
    /// `sandbox`. This cannot change.
    public let isTest: Bool
    public let createdAt: Date
    /// Since when the tenant's keys are refused; nil if the tenant is not suspended.
    public let suspendedAt: Date?
    /// The tenant's own limits; nil for the server's limits.
    public let limits: RequestLimits
    public internal(set) var collapsePolicy: CollapsePolicy
    /// The origins whose pages may use the tenant's publishable keys (CORS).
    public internal(set) var corsOrigins: [WebOrigin]
    /// The tenant's own quotas; missing ones have the default. Empty for a tenant that was read from a server.
    public let ownQuotas: [QuotaKind: Quota]
    /// The usage and limits of its storage.
    public let usage: [QuotaKind: QuotaUsage]

    public init(
        id: TenantID, slug: TenantSlug, name: DisplayName, isTest: Bool = false, createdAt: Date,
        suspendedAt: Date?,
        limits: RequestLimits, collapsePolicy: CollapsePolicy, corsOrigins: [WebOrigin] = [],
        ownQuotas: [QuotaKind: Quota] = [:], usage: [QuotaKind: QuotaUsage] = [:]
    ) {
        self.id = id
        self.slug = slug
        self.name = name
        self.isTest = isTest
        self.createdAt = createdAt
        self.suspendedAt = suspendedAt
        self.limits = limits
        self.collapsePolicy = collapsePolicy
        self.corsOrigins = corsOrigins
        self.ownQuotas = ownQuotas
        self.usage = usage
    }
}
