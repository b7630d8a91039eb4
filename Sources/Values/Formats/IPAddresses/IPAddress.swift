import Foundation

/// An IPv6 address, or an IPv4 address in its IPv4-mapped form (RFC 4291 §2.5.5.2).
public struct IPAddress: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(v4: UInt32) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(v4))
    }

    /// Reads an address without a port or a zone (inet_pton(3)).
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        var v4 = UInt32(0)
        var v6 = (UInt64(0), UInt64(0))
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(high: UInt64(bigEndian: v6.0), low: UInt64(bigEndian: v6.1))
        } else {
            return nil
        }
    }

    package var isV4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Whether the address can be that of a publicly reachable host.
    ///
    /// Source: IANA, "IPv4 Special-Purpose Address Registry" and "IPv6 Special-Purpose Address Registry"
    /// (RFC 6890, RFC 8190), the entries that are not globally reachable. No IPv6 address outside of
    /// `2000::/3` is public (RFC 4291 §2.4), except one that represents an IPv4 address (RFC 6052 §2.1),
    /// for which that address decides.
    package var isPublic: Bool {
        if isV4 { return !Self.specialV4.contains { $0.contains(self) } }
        if Self.translated.contains(self) {
            return IPAddress(v4: UInt32(truncatingIfNeeded: low)).isPublic
        }
        return Self.globalV6.contains(self) && !Self.specialV6.contains { $0.contains(self) }
    }

    private static let specialV4 = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")
    private static let globalV6 = range("2000::/3")
    private static let translated = range("64:ff9b::/96")
    /// Protocols and tunnels, whose addresses contain other addresses (Teredo, 6to4), and documentation.
    private static let specialV6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

    private static func ranges(_ texts: String...) -> [AddressRange] { texts.map(range) }

    private static func range(_ text: String) -> AddressRange {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is not a range") }
        return range
    }
}

extension IPAddress: CustomStringConvertible {
    /// Such as `192.0.2.1` or `2001:db8::1` (inet_ntop(3)).
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isV4 {
            var v4 = UInt32(truncatingIfNeeded: low).bigEndian
            _ = inet_ntop(AF_INET, &v4, &text, socklen_t(text.count))
        } else {
            var v6 = (high.bigEndian, low.bigEndian)
            _ = inet_ntop(AF_INET6, &v6, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The network of the address, such as `192.0.2.0/24` or `2001:db8::/64`.
    package var network: String { isV4 ? "\(prefix(96 + 24))/24" : "\(prefix(64))/64" }
}
