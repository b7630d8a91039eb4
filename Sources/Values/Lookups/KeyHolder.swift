public import Invocation
public import Tenancy

/// The owner of an API key, with the key's permissions.
public struct KeyHolder: Sendable, Hashable {
    public let tenant: TenantID
    public let key: KeyID
    public let kind: KeyKind
    public let scopes: Scopes
    /// The locations that the key is restricted to; nil for an unrestricted key.
    public let locations: Set<LocationIdentifier>?
    /// The tenant's own limits; nil means the server's default.
    public let limits: RequestLimits
    public let tenantIsSuspended: Bool

    package init(
        tenant: TenantID, key: KeyID, kind: KeyKind, scopes: Scopes, locations: Set<LocationIdentifier>?,
        limits: RequestLimits, tenantIsSuspended: Bool
    ) {
        self.tenant = tenant
        self.key = key
        self.kind = kind
        self.scopes = scopes
        self.locations = locations
        self.limits = limits
        self.tenantIsSuspended = tenantIsSuspended
    }
}
