public import Tenancy

/// Whose key a key is.
public struct KeyHolder: Sendable, Hashable {
    public let tenant: TenantID
    public let key: KeyID
    public let kind: KeyKind
    public let tenantIsSuspended: Bool
}
