import Foundation

/// The URL of a server, such as `https://doorstep.example.com`. It may contain a port and a path.
public struct ServerURL: Sendable, Hashable, CustomStringConvertible {
    /// Normalized: scheme and host in lower case, no default port, no slash at the end.
    public let description: String

    /// - Throws: ``ServerError/invalidURL``; and ``ServerError/insecureURL`` for plain HTTP to another machine, which would
    ///   expose the key.
    public init(_ text: String) throws(ServerError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased(), !host.isEmpty, parts.query == nil, parts.fragment == nil,
            parts.user == nil, parts.password == nil
        else { throw .invalidURL }
        switch scheme {
        case "https": break
        case "http":
            guard ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host) else { throw .insecureURL }
        default: throw .invalidURL
        }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let port = parts.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        let path = String(parts.percentEncodedPath.reversed().drop { $0 == "/" }.reversed())
        description = "\(scheme)://\(name)\(port)\(path)"
    }
}
