public import Formats
import Foundation

/// The URL of a tenant's webhook: `https`, or `http` at this machine for development.
public struct WebhookURL: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The bytes a URL may have [ours].
    public static let maximumLength = 2_048

    /// The reason why a URL is refused.
    public enum Refusal: String, Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        case malformed = "must be a URL with a host, at most 2048 bytes"
        case unencrypted = "must begin with https://"
        case credentials = "must not contain a user or a password: messages are signed"
        case fragment = "must not have a fragment"

        public var description: String { rawValue }
    }

    public init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.maximumLength,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = URLComponents(string: text),
            let scheme = parts.scheme?.lowercased(), let host = parts.host, !host.isEmpty
        else { throw .malformed }
        guard scheme == "https" || scheme == "http" && Self.ownHosts.contains(host) else {
            throw .unencrypted
        }
        guard parts.user == nil, parts.password == nil else { throw .credentials }
        guard parts.fragment == nil else { throw .fragment }
        self.text = text
    }

    /// The error of an unreachable URL (``isReachable(allowing:)``).
    public static let unreachable =
        "must have a host name, a public address such as 8.8.8.8 or [2606:4700:4700::1111], or an address that --outbound-allow permits"

    /// The error of a port that is not allowed (``hasAllowedPort(allowing:)``).
    public static let forbiddenPort =
        "must have port 443 or a port from 1024 to 65535, or an address that --outbound-allow permits"

    /// - Parameter allowed: The addresses in `--outbound-allow`.
    /// - Throws: ``WebhookRefusal/addressNotPublic``, ``WebhookRefusal/portNotAllowed``.
    public func check(allowing allowed: [AddressRange]) throws(WebhookRefusal) {
        guard isReachable(allowing: allowed) else { throw .addressNotPublic }
        guard hasAllowedPort(allowing: allowed) else { throw .portNotAllowed }
    }

    /// Whether the port is one of a web server: 443, or one without privileges. Other ports belong to other services, and a tenant
    /// could search for these by test messages. An allowed address may have any port.
    private func hasAllowedPort(allowing allowed: [AddressRange]) -> Bool {
        guard let parts = URLComponents(string: text) else { return false }
        guard let port = parts.port, port != 443, !(1_024...65_535).contains(port) else { return true }
        return addresses.contains { address in allowed.contains { $0.contains(address) } }
    }

    /// The addresses that the URL names: those of `localhost`, or an address; none for another name.
    private var addresses: [IPAddress] {
        let literal = self.literal
        return (literal == "localhost" ? ["127.0.0.1", "::1"] : [literal]).compactMap { IPAddress($0) }
    }

    /// The host in lower case, without the brackets of an IPv6 address.
    private var literal: String {
        (URLComponents(string: text)?.host?.lowercased() ?? "")
            .trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    }

    /// Whether messages can be delivered there. False for an address that is not public, or `localhost`, unless it is allowed. Also
    /// false for an address that is neither in dotted decimal nor in the form of RFC 4291, such as `127.1`. The addresses of other
    /// names are known only when a message is sent.
    /// - Parameter allowed: The addresses in `--outbound-allow`.
    public func isReachable(allowing allowed: [AddressRange]) -> Bool {
        let addresses = self.addresses
        guard !addresses.isEmpty else { return !Self.isNumeric(literal) }
        return addresses.contains { address in
            address.isPublic || allowed.contains { $0.contains(address) }
        }
    }

    /// Whether resolvers read the name as an address, such as `127.1`, `0x7f000001` and `2130706433` (inet_aton(3); URL
    /// Standard, "ends in a number"). No certificate has such a name.
    private static func isNumeric(_ name: String) -> Bool {
        let name = name.hasSuffix(".") ? name.dropLast() : name[...]
        guard !name.contains(":"),
            let last = name.split(separator: ".", omittingEmptySubsequences: false).last
        else { return true }
        if last.hasPrefix("0x") { return last.dropFirst(2).allSatisfy(\.isHexDigit) }
        return !last.isEmpty && last.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static let ownHosts: Set<String> = ["localhost", "127.0.0.1", "::1", "[::1]"]

    public var description: String { text }
}
