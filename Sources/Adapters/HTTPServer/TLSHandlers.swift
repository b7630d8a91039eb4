import NIOCore
import NIOSSL
import NIOTLS

/// Cuts a connection if the TLS handshake does not complete in time. Removes itself after the handshake.
final class TLSDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?

    init(_ timeout: TimeAmount) {
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { context.channel.cut() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // No request has arrived yet.
        if event is ChannelShouldQuiesceEvent || event is RoomIsWanted { return context.channel.cut() }
        context.fireUserInboundEventTriggered(event)
        if case TLSUserEvent.handshakeCompleted = event {
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }
}

extension Channel {
    /// Cuts the connection after all earlier bytes were sent.
    ///
    /// To be called on the channel's event loop.
    /// - Parameter limit: After this time, the connection is cut in any case, because the client may never read the earlier bytes.
    func cutOnceWritten(within limit: TimeAmount) {
        let deadline = eventLoop.assumeIsolated().scheduleTask(in: limit) { self.cut() }
        closeFuture.whenComplete { _ in deadline.cancel() }
        guard let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) else {
            return close(promise: nil)
        }
        let isWritten = eventLoop.makePromise(of: Void.self)
        isWritten.futureResult.whenComplete { _ in self.cut() }
        tls.writeAndFlush(NIOAny(ByteBuffer()), promise: isWritten)
    }

    /// Closes the connection at once, below TLS, because `close_notify` would wait for the client.
    ///
    /// To be called on the channel's event loop.
    func cut() {
        let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        if let tls { tls.close(promise: nil) } else { close(promise: nil) }
    }
}
