import NIOCore

/// An address of IPv6, or of IPv4 as the IPv6 address that stands for it (RFC 4291 §2.5.5.2).
struct IPAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Nil for a Unix socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address):
            let number = withUnsafeBytes(of: address.address) {
                $0.loadUnaligned(fromByteOffset: Self.v4Offset, as: UInt32.self)
            }
            self.init(v4: UInt32(bigEndian: number))
        case .v6(let address):
            self = withUnsafeBytes(of: address.address) { bytes in
                let high = bytes.loadUnaligned(fromByteOffset: Self.v6Offset, as: UInt64.self)
                let low = bytes.loadUnaligned(fromByteOffset: Self.v6Offset + 8, as: UInt64.self)
                return IPAddress(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
            }
        case .unixDomainSocket: return nil
        }
    }

    // Where Linux has the address in `sockaddr_in` and `sockaddr_in6` (ip(7), ipv6(7)). By their names the members cannot
    // be asked for: of which module the structures are depends on what else the compiler has read before.
    private static let v4Offset = 4
    private static let v6Offset = 8

    /// Takes an address as text, without a port.
    init?(_ text: some StringProtocol) {
        guard let address = try? SocketAddress(ipAddress: String(text), port: 0) else { return nil }
        self.init(address)
    }

    private init(v4: UInt32) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(v4))
    }

    var isV4: Bool { high == 0 && low >> 32 == 0xFFFF }
}
