import CResolv
import Glibc

/// The address of a DNS server, such as `127.0.0.1:5353`; the port is 53 unless it is given.
///
/// IPv4 alone: the C library takes others from its own configuration only.
public struct NameServer: Sendable, Hashable {
    let address: String
    let port: UInt16

    /// Nil for a text that is not an IPv4 address with or without a port.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, in_addr(address: parts[0]) != nil else { return nil }
        guard let port = parts.count == 2 ? UInt16(parts[1]) : 53, port > 0 else { return nil }
        address = parts[0]
        self.port = port
    }

    /// In the C library's form.
    var socketAddress: sockaddr_in {
        var socketAddress = sockaddr_in()
        socketAddress.sin_family = sa_family_t(AF_INET)
        socketAddress.sin_port = port.bigEndian
        socketAddress.sin_addr = in_addr(address: address) ?? in_addr()
        return socketAddress
    }
}

extension in_addr {
    fileprivate init?(address: String) {
        self.init()
        guard inet_pton(AF_INET, address, &self) == 1 else { return nil }
    }
}
