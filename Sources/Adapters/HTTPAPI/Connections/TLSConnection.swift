import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// A connection over TLS, of HTTP/2 or HTTP/1.1, which does not last longer than somebody uses it.
///
/// The library ends what is idle once HTTP is spoken, but waits for ever for the end of a handshake, and for the answer to
/// its good-bye in HTTP/2.
struct TLSConnection: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let http: EventLoopFuture<HTTP>
        let channel: any Channel
    }

    /// What both sides have agreed on.
    enum HTTP: Sendable {
        case one(HTTP1Channel.Value)
        case two(HTTP2Channel.Value)
    }

    private let tls: NIOSSLContext
    private let http1: HTTP1Connection
    private let http2: HTTP2Channel
    private let timeouts: ConnectionTimeouts

    init(
        _ tls: TLSConfiguration, _ responder: APIResponder, _ timeouts: ConnectionTimeouts,
        _ router: @escaping HTTPChannelHandler.Responder
    ) throws {
        var tls = tls
        tls.applicationProtocols = ["h2", "http/1.1"]
        self.tls = try NIOSSLContext(configuration: tls)
        self.timeouts = timeouts
        http1 = HTTP1Connection(responder, timeouts, router)
        http2 = HTTP2Channel(
            responder: router,
            configuration: HTTP2Channel.Configuration(
                idleTimeout: .nanoseconds(timeouts.idle.nanoseconds),
                streamConfiguration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [
                        HTTP2ExchangeHandler(responder, responseTimeout: timeouts.response),
                        StreamDeadlineHandler.Stream(),
                    ], idleTimeout: timeouts.idle)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<HTTP> { result, channel in
                switch result {
                case .negotiated("h2"):
                    http2.setup(channel: channel, logger: logger).flatMapThrowing { value in
                        try channel.pipeline.syncOperations.addHandler(
                            StreamDeadlineHandler(timeouts.idle + .seconds(10), now: timeouts.idleNow))
                        return .two(value)
                    }
                case .negotiated, .fallback:
                    http1.setup(channel: channel, logger: logger).map { .one($0) }
                }
            }
            try channel.pipeline.syncOperations.addHandlers(
                // Longer than the library waits, so that it can say good-bye.
                SilenceHandler(timeouts.idle + .seconds(10)),
                NIOSSLServerHandler(context: tls), TLSDeadlineHandler(timeouts.handshake), negotiation)
            return Value(http: negotiation.protocolNegotiationResult, channel: channel)
        }
    }

    func handle(value: Value, logger: Logger) async {
        switch try? await value.http.get() {
        case .one(let channel): await http1.handle(value: channel, logger: logger)
        case .two(let channel): await http2.handle(value: channel, logger: logger)
        // Cut, or closed, before both sides had agreed.
        case nil: break
        }
    }
}

/// Cuts a connection of HTTP/2 that has had no stream for a while, sooner if many connections are open.
///
/// The library says good-bye to it, and waits for an answer for as long as anything else comes.
final class StreamDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let timeout: ReadTimeout
    private let now: (@Sendable () -> TimeAmount)?
    private var open = 0
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - timeout: How long a connection may have no stream, at most.
    ///   - now: The same at the moment; nil if it does not change.
    init(_ timeout: TimeAmount, now: (@Sendable () -> TimeAmount)? = nil) {
        self.timeout = ReadTimeout(timeout)
        self.now = now
    }

    /// On a stream, tells its connection that it is there.
    final class Stream: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        private var connection: StreamDeadlineHandler?

        func handlerAdded(context: ChannelHandlerContext) {
            connection = try? context.channel.parent?.pipeline.syncOperations.handler(
                type: StreamDeadlineHandler.self)
            connection?.change(by: 1)
        }

        func handlerRemoved(context: ChannelHandlerContext) { connection?.change(by: -1) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        timeout.begin(on: context.eventLoop, now: now) { [unowned self] in
            if open == 0 { self.context?.channel.cut() }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timeout.end()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is RoomIsWanted {
            if open == 0 { context.channel.cutOnceWritten() }
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Streams have begun or, by a negative number, ended.
    func change(by difference: Int) {
        open += difference
        if let context { timeout.hasRead(at: context.eventLoop.now) }
    }
}

/// Cuts a connection on which nothing has moved for a while, in neither direction.
///
/// It looks four times in that while, and so is up to a quarter of it late: what moves then leaves a mark and costs no more.
final class SilenceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private let interval: TimeAmount
    private var hasMoved = false
    private var silentIntervals = 0
    private var look: Scheduled<Void>?

    private static let intervals = 4

    init(_ timeout: TimeAmount) {
        interval = .nanoseconds(timeout.nanoseconds / Int64(Self.intervals))
    }

    func handlerAdded(context: ChannelHandlerContext) { lookLater(context) }
    func handlerRemoved(context: ChannelHandlerContext) { look?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasMoved = true
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        hasMoved = true
        context.write(data, promise: promise)
    }

    private func lookLater(_ context: ChannelHandlerContext) {
        look = context.eventLoop.assumeIsolated().scheduleTask(in: interval) {
            self.silentIntervals = self.hasMoved ? 0 : self.silentIntervals + 1
            self.hasMoved = false
            if self.silentIntervals < Self.intervals {
                self.lookLater(context)
            } else {
                context.channel.cut()
            }
        }
    }
}

/// Cuts a connection on which TLS is not agreed on in time, and is gone when it is.
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

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Nothing has been asked for yet.
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
    func cutOnceWritten() {
        guard let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) else {
            return close(promise: nil)
        }
        let isWritten = eventLoop.makePromise(of: Void.self)
        isWritten.futureResult.whenComplete { _ in self.cut() }
        tls.writeAndFlush(NIOAny(ByteBuffer()), promise: isWritten)
    }

    /// Closes the connection at once, from below TLS: its good-bye would wait for an answer.
    ///
    /// To be called on the channel's event loop.
    func cut() {
        let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        if let tls { tls.close(promise: nil) } else { close(promise: nil) }
    }
}
