/// A range of addresses in CIDR notation, such as `10.0.0.0/8` or `fd00::/8`, or one address (RFC 4632
/// §3.1).
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    private let first: IPAddress
    /// The prefix length in a 128-bit address.
    private let bits: Int
    public let description: String

    /// Nil if the text is no range, or if the address has bits set beyond the prefix length.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(parts[0]) else { return nil }
        let isV4 = !parts[0].contains(":")
        var bits = isV4 ? 32 : 128
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let length = Int(parts[1]), length <= bits
            else { return nil }
            bits = length
        }
        self.first = first
        self.bits = isV4 ? bits + 96 : bits
        description = text
        guard first.prefix(self.bits) == first else { return nil }
    }

    package func contains(_ address: IPAddress) -> Bool { address.prefix(bits) == first }
}

extension IPAddress {
    /// The address with all but its first bits 0.
    func prefix(_ bits: Int) -> IPAddress {
        func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : ~0 << UInt64(64 - min(bits, 64)) }
        return IPAddress(high: high & mask(bits), low: low & mask(bits - 64))
    }
}
