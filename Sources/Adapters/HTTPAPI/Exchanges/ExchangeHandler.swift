import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Where the requests of a connection of HTTP/1.1, or of a stream of HTTP/2, come in and their answers go out: directly behind
/// what decodes them.
///
/// A class for each version, so that none of what is done for a request is generic when it runs.
protocol ExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler
where InboundIn == Wire.RequestPart, InboundOut == Wire.RequestPart, OutboundIn == Wire.ResponsePart {
    associatedtype Wire: HTTPWire
    var exchanges: Exchanges<Wire> { get }
}

final class HTTP1ExchangeHandler: ExchangeHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = ByteBuffer

    let exchanges: Exchanges<HTTP1Wire>

    init(
        _ responder: APIResponder, responseTimeout: TimeAmount, idleTimeout: TimeAmount,
        idleTimeoutNow: (@Sendable () -> TimeAmount)? = nil
    ) {
        exchanges = Exchanges(
            responder, responseTimeout: responseTimeout, idleTimeout: idleTimeout,
            idleTimeoutNow: idleTimeoutNow)
    }
}

final class HTTP2ExchangeHandler: ExchangeHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    let exchanges: Exchanges<HTTP2Wire>

    /// The library sees to it that no stream is idle.
    init(_ responder: APIResponder, responseTimeout: TimeAmount) {
        exchanges = Exchanges(responder, responseTimeout: responseTimeout, idleTimeout: nil)
    }
}

/// An outbound event: the request that is with the router is to be read whole.
struct BodyIsWanted: Sendable {}

extension ExchangeHandler {
    func handlerAdded(context: ChannelHandlerContext) { exchanges.begin(context) }
    func handlerRemoved(context: ChannelHandlerContext) { exchanges.end() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        exchanges.receive(unwrapInboundIn(data), context)
    }

    func channelReadComplete(context: ChannelHandlerContext) { exchanges.readCompletes(context) }
    func channelWritabilityChanged(context: ChannelHandlerContext) { exchanges.writabilityChanges(context) }
    func channelInactive(context: ChannelHandlerContext) { exchanges.becomesInactive(context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { exchanges.receive(error, context) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        exchanges.receive(event: event, context)
    }

    func read(context: ChannelHandlerContext) { exchanges.read(context) }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is BodyIsWanted else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        exchanges.wantBody(context)
        promise?.succeed()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        exchanges.write(unwrapOutboundIn(data), promise, context)
    }
    func flush(context: ChannelHandlerContext) { exchanges.flush(context) }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        exchanges.close(mode, promise, context)
    }
}
