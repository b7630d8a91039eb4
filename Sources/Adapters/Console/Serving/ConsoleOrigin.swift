/// A public origin of the console: `https://` with a host, and a port if it is not 443 (RFC 6454 §6.2).
public struct ConsoleOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Host and port as in the field `Host`, in lower case.
    let authority: String

    /// Nil if the text is not an origin.
    public init?(_ text: String) {
        let start = "https://"
        let text = text.lowercased()
        guard text.hasPrefix(start) else { return nil }
        let authority = text.dropFirst(start.count)
        guard !authority.isEmpty, authority.utf8.allSatisfy(Self.isOfAuthority) else { return nil }
        self.authority = String(authority)
    }

    public var description: String { "https://\(authority)" }

    private static func isOfAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: ".-:[]".utf8.contains(byte)
        }
    }
}

/// The host names that the console accepts. A request for another name may come from DNS rebinding.
struct ConsoleNames: Sendable {
    let origins: [ConsoleOrigin]

    /// The origin of a request with this `Host`; nil if the console does not have this name.
    ///
    /// A proxy that does not pass `Host` on would ask for this machine, where cookies need no TLS. So if origins are configured,
    /// only their names count. If none is configured, the console refuses requests that a proxy forwards.
    func origin(of authority: String?, isForwarded: Bool) -> (text: String, isSecure: Bool)? {
        guard let authority = authority?.lowercased() else { return nil }
        if let origin = origins.first(where: { $0.authority == authority }) {
            return (origin.description, true)
        }
        guard origins.isEmpty, !isForwarded, Self.isLoopback(authority) else { return nil }
        return ("http://\(authority)", false)
    }

    /// Whether a host, with or without a port, is a loopback name.
    static func isLoopback(_ authority: String) -> Bool {
        let colon = authority.last == "]" ? nil : authority.lastIndex(of: ":")
        let host = colon.map { authority[..<$0] } ?? authority[...]
        guard ["127.0.0.1", "localhost", "[::1]"].contains(host) else { return false }
        guard let colon else { return true }
        return UInt16(authority[authority.index(after: colon)...]) != nil
    }
}
