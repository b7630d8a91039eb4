import Formats

/// The sender of a request, as limits distinguish clients.
struct Client: Sendable {
    /// The addresses that count as one client (``IPAddress/ofClient``). All unknown addresses, for example on a Unix socket, are
    /// one client.
    struct Address: Hashable, Sendable {
        /// The whole address, for the access log.
        let source: IPAddress?

        init(_ source: IPAddress?) {
            self.source = source
        }

        private var prefix: IPAddress? { source?.ofClient }

        static func == (one: Self, other: Self) -> Bool { one.prefix == other.prefix }
        func hash(into hasher: inout Hasher) { hasher.combine(prefix) }
    }

    /// The client of a publishable key's request. An attested installation is a separate client, because many installations may
    /// share an address, for example in a stadium.
    enum Identity: Hashable, Sendable {
        case address(Address)
        /// The ID of the installation's key of App Attest, which the request's token proves.
        case installation([UInt8])
    }

    let address: Address
    /// Whether the connection belongs to a trusted proxy, which forwards requests of many clients.
    let isBehindProxy: Bool
}

extension TrustedProxies {
    /// The client of a connection. The connection may belong to a trusted proxy.
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
