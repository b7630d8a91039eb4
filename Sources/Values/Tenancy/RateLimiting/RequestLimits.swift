/// The rate limits for requests.
///
/// In a tenant's limits, nil means the server's default; in the server's, nil means no limit.
public struct RequestLimits: Sendable, Hashable {
    /// Requests per key.
    public var key: RateLimit?
    /// Requests per client address that uses a tenant's publishable keys.
    public var client: RateLimit?
    /// New instances per tenant, by any key; requests about existing instances do not count.
    public var newInstances: RateLimit?
    /// New instances per tenant and client address that uses its publishable keys.
    public var clientNewInstances: RateLimit?
    /// New App Attest keys of a tenant's clips. Tenants have no limit of their own.
    public var newAttestKeys: RateLimit?
    /// New App Attest keys per client address. Tenants have no limit of their own.
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
