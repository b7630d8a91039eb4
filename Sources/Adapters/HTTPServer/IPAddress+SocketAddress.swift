package import Formats
package import NIOCore

extension IPAddress {
    /// Nil for a Unix socket.
    package init?(_ address: SocketAddress) {
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

    // The offsets of the address in Linux's `sockaddr_in` and `sockaddr_in6` (ip(7), ipv6(7)). The members cannot be used by name:
    // the module of these structures depends on the modules that the compiler has read before.
    private static let v4Offset = 4
    private static let v6Offset = 8
}
