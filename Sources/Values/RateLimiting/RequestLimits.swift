/// The limits that requests are held to.
///
/// In a tenant's limits, nil means the server's default; in the server's, nil means no limit.
public struct RequestLimits: Sendable, Hashable {
    /// Of each key.
    public var key: RateLimit?
    /// Of each client address that uses a tenant's publishable keys.
    public var client: RateLimit?
    /// Of the instances that a tenant gets, by whatever key; requests about those it has do not count.
    public var newInstances: RateLimit?
    /// Of the instances that a tenant gets from each client address that uses its publishable keys.
    public var clientNewInstances: RateLimit?
    /// Of the keys of App Attest that a tenant's clips attest. Tenants have none of their own.
    public var newAttestKeys: RateLimit?
    /// Of those that are attested from each client address. Tenants have none of their own.
    public var clientNewAttestKeys: RateLimit?

    public init(
        key: RateLimit? = nil, client: RateLimit? = nil, newInstances: RateLimit? = nil,
        clientNewInstances: RateLimit? = nil, newAttestKeys: RateLimit? = nil,
        clientNewAttestKeys: RateLimit? = nil
    ) {
        self.key = key
        self.client = client
        self.newInstances = newInstances
        self.clientNewInstances = clientNewInstances
        self.newAttestKeys = newAttestKeys
        self.clientNewAttestKeys = clientNewAttestKeys
    }
}
