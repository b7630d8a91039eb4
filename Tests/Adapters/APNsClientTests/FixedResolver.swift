import Glibc
import NIOCore
import NIOPosix

/// A resolver that returns another address before the address of this machine.
struct FixedResolver: Resolver, Sendable {
    let first: SocketAddress

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return loop.makeCompletedFuture { [first, try SocketAddress(ipAddress: "127.0.0.1", port: port)] }
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        MultiThreadedEventLoopGroup.singleton.next().makeSucceededFuture([])
    }

    func cancelQueries() {}
}

/// An address to which no connection succeeds: it refuses connections or never responds.
struct UnusedAddress {
    let address: SocketAddress
    private let sockets: [CInt]

    struct Failure: Error {}

    /// - Parameter isListening: If true, the queue of connections is full, so that the system drops further attempts.
    init(isListening: Bool) throws {
        let type = CInt(SOCK_STREAM.rawValue)
        let server = socket(AF_INET, type, 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(server, $0, length) == 0 && getsockname(server, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure() }
        var sockets = [server]
        if isListening {
            guard listen(server, 0) == 0 else { throw Failure() }
            // The queue has room for one connection. The second one waits for ever.
            for _ in 0..<4 {
                let client = socket(AF_INET, type | CInt(SOCK_NONBLOCK.rawValue), 0)
                withUnsafePointer(to: &name) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, length) }
                }
                sockets.append(client)
            }
        }
        self.sockets = sockets
        address = SocketAddress(name)
    }

    func close() {
        for socket in sockets { Glibc.close(socket) }
    }
}
