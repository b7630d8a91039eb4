package import IPAddresses
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

    // Where Linux has the address in `sockaddr_in` and `sockaddr_in6` (ip(7), ipv6(7)). By their names the members cannot
    // be asked for: of which module the structures are depends on what else the compiler has read before.
    private static let v4Offset = 4
    private static let v6Offset = 8
}
