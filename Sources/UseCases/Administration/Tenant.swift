public import Foundation
public import RateLimiting
public import Tenancy

/// A business or brand that owns clips, domains, experiences and locations, apart from every other tenant.
public struct Tenant: Sendable, Hashable {
    public let id: TenantID
    public let slug: TenantSlug
    public internal(set) var name: DisplayName
    public let createdAt: Date
    /// Since when its keys are refused; nil while the tenant is served.
    public let suspendedAt: Date?
    /// Its own; what is nil is left to the server.
    public let limits: RequestLimits
    public internal(set) var collapsePolicy: CollapsePolicy

    public init(
        id: TenantID, slug: TenantSlug, name: DisplayName, createdAt: Date, suspendedAt: Date?,
        limits: RequestLimits, collapsePolicy: CollapsePolicy
    ) {
        self.id = id
        self.slug = slug
        self.name = name
        self.createdAt = createdAt
        self.suspendedAt = suspendedAt
        self.limits = limits
        self.collapsePolicy = collapsePolicy
    }
}
