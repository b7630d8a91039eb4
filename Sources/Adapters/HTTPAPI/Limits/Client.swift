import HTTPTypes
import Hummingbird
import IPAddresses

/// Whom a request came from, as far as limits tell clients apart.
struct Client: Sendable {
    /// What one client has of addresses: one of IPv4, or 2⁶⁴ of IPv6, which is the least that a subscriber gets
    /// (RFC 6177 §2). Nil when it is not known, as on a Unix socket: all of these are one.
    struct Address: Hashable, Sendable {
        private let prefix: IPAddress?

        init(_ address: IPAddress?) {
            prefix = address.map { $0.isV4 ? $0 : IPAddress(high: $0.high, low: 0) }
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

/// The proxies that are believed when they say for whom they ask.
struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    init(_ ranges: [AddressRange]) {
        self.ranges = ranges
    }

    func contains(_ peer: IPAddress?) -> Bool {
        guard let peer else { return false }
        return ranges.contains { $0.contains(peer) }
    }

    /// Whom a request came from that the HTTP library has read.
    func client(of request: Request, _ peer: IPAddress?) -> Client {
        guard contains(peer) else { return Client(address: Client.Address(peer), isBehindProxy: false) }
        return client(behind: peer, forwardedFor: request.headers[.forwardedFor])
    }

    /// The client behind a connection of a trusted proxy, or of several in a row.
    ///
    /// Each proxy adds the address that it was connected from to the end of `X-Forwarded-For`. So the last one that is no
    /// trusted proxy's is the client's; what stands before it, the client may have made up.
    func client(behind proxy: IPAddress?, forwardedFor: String?) -> Client {
        var nearest = proxy
        if let forwardedFor {
            let field = forwardedFor.utf8.span
            var end = field.count
            while end > 0 {
                var start = end
                while start > 0, field[start - 1] != UInt8(ascii: ",") { start -= 1 }
                let part = field.extracting(field.trimmingBlanks(start..<end))
                end = start - 1
                if part.isEmpty { continue }
                guard let address = IPAddress(forwarded: part) else { break }
                nearest = address
                guard contains(address) else { break }
            }
        }
        return Client(address: Client.Address(nearest), isBehindProxy: true)
    }
}

extension IPAddress {
    /// With its port no address is longer, and none has other characters than ASCII.
    private static let maximumLength = "[0000:0000:0000:0000:0000:ffff:255.255.255.255]:65535".utf8.count

    /// Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
    fileprivate init?(forwarded text: Span<UInt8>) {
        guard text.count <= Self.maximumLength else { return nil }
        let text = text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self)[...] }
        if text.first == "[" {
            self.init(text.dropFirst().prefix { $0 != "]" })
        } else if text.contains("."), let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
            self.init(text[..<colon])
        } else {
            self.init(text)
        }
    }
}
