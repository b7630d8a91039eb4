/// The limits that requests are held to.
///
/// Of a tenant, what is nil is left to the server; of the server, what is nil has no limit.
public struct RequestLimits: Sendable, Hashable {
    /// Of each key.
    public var key: RateLimit?
    /// Of each client address that uses a tenant's publishable keys.
    public var client: RateLimit?

    public init(key: RateLimit? = nil, client: RateLimit? = nil) {
        self.key = key
        self.client = client
    }
}
