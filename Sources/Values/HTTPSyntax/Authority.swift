/// Whom a request asks: a host, and perhaps a port (RFC 9110 §7.2).
package enum Authority {
    /// A domain name, the dot behind it, and a port.
    private static let maximumLength = 253 + 1 + ":65535".utf8.count

    /// The host as domains are registered, in lower case, without port and trailing dot; nil where there is none.
    package static func host(of authority: String) -> String? {
        guard authority.utf8.count <= maximumLength else { return nil }
        var host = authority.lowercased()[...]
        if let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) {
            host = host[..<colon]
        }
        if host.hasSuffix(".") { host.removeLast() }
        return host.isEmpty ? nil : String(host)
    }
}
