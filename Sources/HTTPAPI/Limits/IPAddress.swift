import Glibc
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
            self.init(v4: UInt32(bigEndian: address.address.sin_addr.s_addr))
        case .v6(let address):
            self = withUnsafeBytes(of: address.address.sin6_addr) { bytes in
                IPAddress(
                    high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
        case .unixDomainSocket: return nil
        }
    }

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
