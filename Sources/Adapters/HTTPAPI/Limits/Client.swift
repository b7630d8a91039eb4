import IPAddresses

/// Whom a request came from, as far as limits tell clients apart.
struct Client: Sendable {
    /// What one client has of addresses (``IPAddress/ofClient``). Nil when it is not known, as on a Unix socket: all of these
    /// are one.
    struct Address: Hashable, Sendable {
        private let prefix: IPAddress?

        init(_ address: IPAddress?) {
            prefix = address?.ofClient
        }
    }

    /// Who the requests of a publishable key come from, as far as it is known: many installations may have one address, as in
    /// a stadium.
    enum Identity: Hashable, Sendable {
        case address(Address)
        /// By the ID of its key of App Attest, of which it has brought a token.
        case installation([UInt8])
    }

    let address: Address
    /// Whether the connection is a proxy's, which carries other clients' requests too.
    let isBehindProxy: Bool
}

extension TrustedProxies {
    /// The client at the other end of a connection, which may be a trusted proxy's.
    func client(of peer: IPAddress?, forwardedFor: String?) -> Client {
        guard contains(peer) else { return Client(address: Client.Address(peer), isBehindProxy: false) }
        return client(behind: peer, forwardedFor: forwardedFor)
    }

    /// The client behind a connection of a trusted proxy.
    func client(behind proxy: IPAddress?, forwardedFor: String?) -> Client {
        Client(
            address: Client.Address(self.address(behind: proxy, forwardedFor: forwardedFor)),
            isBehindProxy: true)
    }
}
