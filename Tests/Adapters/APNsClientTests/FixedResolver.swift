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
        // The bytes of a `sockaddr_in`. Its members belong to another module in each build, because NIO imports it, too.
        var name = [UInt8](repeating: 0, count: 16)
        var length = socklen_t(name.count)
        let isBound = try SocketAddress(ipAddress: "127.0.0.1", port: 0).withSockAddr {
            bind(server, $0, socklen_t($1)) == 0
        }
        let isNamed = name.withUnsafeMutableBytes {
            getsockname(server, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        guard isBound, isNamed else { throw Failure() }
        address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(name[2]) << 8 | Int(name[3]))
        var sockets = [server]
        if isListening {
            guard listen(server, 0) == 0 else { throw Failure() }
            // The queue has room for one connection. The second one waits for ever.
            for _ in 0..<4 {
                let client = socket(AF_INET, type | CInt(SOCK_NONBLOCK.rawValue), 0)
                address.withSockAddr { _ = connect(client, $0, socklen_t($1)) }
                sockets.append(client)
            }
        }
        self.sockets = sockets
    }

    func close() {
        for socket in sockets { Glibc.close(socket) }
    }
}
