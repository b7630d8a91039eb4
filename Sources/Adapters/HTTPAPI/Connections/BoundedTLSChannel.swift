import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// The library's connection over TLS, which does not last longer than somebody uses it.
///
/// The library ends what is idle once HTTP is spoken, but waits for ever for the end of a handshake, and for the answer to
/// its good-bye in HTTP/2.
struct BoundedTLSChannel: ServerChildChannel {
    let library: HTTP2UpgradeChannel
    let handshakeTimeout: TimeAmount
    /// How long nothing at all may move; longer than the library waits, so that it can say good-bye.
    let silenceTimeout: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP2UpgradeChannel.Value> {
        library.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let tls = try pipeline.handler(type: NIOSSLServerHandler.self)
            try pipeline.addHandler(TLSDeadlineHandler(handshakeTimeout), position: .after(tls))
            try pipeline.addHandler(IdleStateHandler(allTimeout: silenceTimeout), position: .first)
            return value
        }
    }

    func handle(value: HTTP2UpgradeChannel.Value, logger: Logger) async {
        await library.handle(value: value, logger: logger)
    }
}

/// Cuts a connection on which TLS is not agreed on in time, or nothing moves any more.
private final class TLSDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?

    init(_ timeout: TimeAmount) {
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { context.channel.cut() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { handshakeHasEnded() }

    private func handshakeHasEnded() {
        deadline?.cancel()
        deadline = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted: handshakeHasEnded()
        case is IdleStateHandler.IdleStateEvent: return context.channel.cut()
        // Nothing has been asked for yet.
        case is ChannelShouldQuiesceEvent where deadline != nil: return context.channel.cut()
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }
}

extension Channel {
    /// Closes the connection at once, from below TLS: its good-bye would wait for an answer.
    ///
    /// To be called on the channel's event loop.
    func cut() {
        let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        if let tls { tls.close(promise: nil) } else { close(promise: nil) }
    }
}
