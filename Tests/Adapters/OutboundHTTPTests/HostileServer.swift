import LocalServers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// A server on 127.0.0.1 that sends the same bytes repeatedly, as fast as they are read.
struct HostileServer: Sendable {
    let port: Int
    private let sent: Sent

    private final class Sent: Sendable {
        let bytes = Mutex(0)
    }

    /// The number of sent bytes, which the client has read or the system has buffered.
    var sentByteCount: Int { sent.bytes.withLock { $0 } }

    /// Runs the closure with a server.
    /// - Parameters:
    ///   - start: Sent once.
    ///   - piece: Sent until the connection closes.
    static func lend<Result: Sendable>(
        start: String, endless piece: String, over certificate: TestCertificate? = nil,
        _ body: (HostileServer) async throws -> Result
    ) async throws -> Result {
        let tls = try certificate.map { try $0.serverContext() }
        let sent = Sent()
        let count = max(1, 16_384 / piece.utf8.count)
        let block = ByteBuffer(string: String(repeating: piece, count: count))
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.addHandler(
                        FloodHandler(ByteBuffer(string: start), block) { count in
                            sent.bytes.withLock { $0 += count }
                        })
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let result: Swift.Result<Result, any Error>
        do {
            let server = HostileServer(port: listener.localAddress?.port ?? 0, sent: sent)
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        try await listener.close()
        return try result.get()
    }
}

private final class FloodHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let start: ByteBuffer
    private let block: ByteBuffer
    private let onSent: @Sendable (Int) -> Void
    private var hasBegun = false

    init(_ start: ByteBuffer, _ block: ByteBuffer, onSent: @escaping @Sendable (Int) -> Void) {
        self.start = start
        self.block = block
        self.onSent = onSent
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasBegun else { return }
        hasBegun = true
        context.write(Self.wrapOutboundOut(start), promise: nil)
        flood(context)
    }

    private func flood(_ context: ChannelHandlerContext) {
        let count = block.readableBytes
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(Self.wrapOutboundOut(block)).whenSuccess { [onSent] in
            onSent(count)
            // Later, so that a socket without backpressure does not block the event loop.
            loopBound.value.1.eventLoop.execute { loopBound.value.0.flood(loopBound.value.1) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The client has closed the connection.
        context.close(promise: nil)
    }
}
