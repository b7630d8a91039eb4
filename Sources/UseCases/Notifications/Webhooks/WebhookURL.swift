import Foundation
public import IPAddresses

/// Where a tenant's webhook is: an `https` URL, or `http` at this machine itself, for those who develop.
public struct WebhookURL: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The bytes a URL may have [ours].
    public static let maximumLength = 2_048

    /// Why a URL is refused.
    public enum Refusal: String, Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        case malformed = "is no URL of at most 2048 bytes with a host"
        case unencrypted = "must begin with https://"
        case credentials = "must not hold a user or a password: what is sent is signed"
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

    /// What is wrong with a URL that is not reachable (``isReachable(allowing:)``).
    public static let unreachable =
        "must name a host with a public address, or one that --outbound-allow permits: nothing could be delivered there"

    /// Whether messages could be delivered there: false for an address that is not public, or `localhost`, unless it is
    /// allowed. Where another name leads is known only when a message is sent.
    /// - Parameter allowed: what `--outbound-allow` names.
    public func isReachable(allowing allowed: [AddressRange]) -> Bool {
        guard let host = URLComponents(string: text)?.host?.lowercased() else { return false }
        let literal = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        let addresses = (literal == "localhost" ? ["127.0.0.1", "::1"] : [literal]).compactMap {
            IPAddress($0)
        }
        return addresses.isEmpty
            || addresses.contains { address in
                address.isPublic || allowed.contains { $0.contains(address) }
            }
    }

    private static let ownHosts: Set<String> = ["localhost", "127.0.0.1", "::1", "[::1]"]

    public var description: String { text }
}
