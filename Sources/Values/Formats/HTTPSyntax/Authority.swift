/// The authority of a request: a host, and perhaps a port (RFC 9110 §7.2).
package enum Authority {
    /// A domain name, the dot behind it, and a port.
    private static let maximumLength = 253 + 1 + ":65535".utf8.count

    /// Returns the host in the form of registered domains, in lower case, without port and trailing dot;
    /// nil if there is none.
    package static func host(of authority: String) -> String? {
        guard authority.utf8.count <= maximumLength else { return nil }
        var host = authority.lowercased()[...]
        if let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) {
            host = host[..<colon]
        }
        if host.hasSuffix(".") { host.removeLast() }
        return host.isEmpty ? nil : String(host)
    }

    /// Whether two authorities name the same host and port (RFC 9110 §4.2.3).
    ///
    /// - Parameter defaultPort: The port of an authority without a port.
    package static func isSame(_ authority: String, _ other: String, defaultPort: UInt16) -> Bool {
        authority == other || parts(authority, defaultPort) == parts(other, defaultPort)
    }

    private static func parts(_ authority: String, _ defaultPort: UInt16) -> [String] {
        var host = authority.lowercased()[...]
        var port = "\(defaultPort)"[...]
        if let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) {
            let digits = host[host.index(after: colon)...]
            if !digits.isEmpty { port = digits }
            host = host[..<colon]
        }
        if host.hasSuffix(".") { host.removeLast() }
        return [String(host), String(port)]
    }
}
