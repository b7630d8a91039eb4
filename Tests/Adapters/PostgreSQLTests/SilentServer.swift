import Foundation

/// A TCP port that accepts connections and never responds.
final class SilentServer {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        port = try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(descriptor, pointer, length) == 0, listen(descriptor, 8) == 0,
                    getsockname(descriptor, pointer, &length) == 0
                else { throw POSIXError(.EADDRINUSE) }
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
