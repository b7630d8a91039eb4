public import RateLimiting
public import Tenancy

/// Whose key a key is.
public struct KeyHolder: Sendable, Hashable {
    public let tenant: TenantID
    public let key: KeyID
    public let kind: KeyKind
    public let scopes: Scopes
    /// The tenant's own; what is nil is left to the server.
    public let limits: RequestLimits
    public let tenantIsSuspended: Bool
}
