public import Tenancy

/// Finds whose key a key is.
public protocol KeyAuthenticator: Sendable {
    /// The holder of a key that is neither revoked nor expired; nil for any other.
    func authenticate(_ key: APIKey) async throws -> Principal?
}

/// Who makes a request: a tenant, by one of its keys.
public struct Principal: Sendable, Hashable {
    public let tenant: TenantID
    public let key: KeyID
    public let kind: KeyKind
    /// A suspended tenant's keys are known but refused.
    public let tenantIsSuspended: Bool

    public init(tenant: TenantID, key: KeyID, kind: KeyKind, tenantIsSuspended: Bool) {
        self.tenant = tenant
        self.key = key
        self.kind = kind
        self.tenantIsSuspended = tenantIsSuspended
    }
}
