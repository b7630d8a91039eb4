import NIOCore
import NIOHTTP1

/// Limits the work that one HTTP/1.1 response causes: each byte below TLS costs one, and each part that the decoder finds costs
/// ``partCost`` more.
///
/// A limit of the body alone is not enough. A server may send any number of interim responses (RFC 9110 §15.2), chunk extensions,
/// trailers and empty TLS records, and a chunk may have one byte. Each request has the whole budget.
final class ResponseBudget {
    private let total: Int
    private var left: Int
    /// Below TLS, which waits for the peer's goodbye when it is closed, and reads on until then.
    private var lowest: ChannelHandlerContext?

    /// With 4 MiB: no more than 16,384 interim responses or chunks. [ours]
    private static let partCost = 256

    private init(_ total: Int) {
        self.total = total
        left = total
    }

    /// Adds the limit to a connection of async-http-client. When a response exceeds it, its request fails with
    /// ``OutboundError/tooLong``, and the connection closes.
    static func add(_ total: Int, to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let budget = ResponseBudget(total)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(PartMeter(budget), position: .after(decoder))
            try pipeline.addHandler(ByteMeter(budget), position: .first)
        }
    }

    private func reset() { left = total }

    /// Spends a part of the budget; ends the connection if there is not enough left.
    /// - Returns: Whether to read on.
    private func spend(_ cost: Int, _ context: ChannelHandlerContext) -> Bool {
        guard left >= 0 else { return false }
        left -= cost
        if left >= 0 { return true }
        context.fireErrorCaught(OutboundError.tooLong)
        lowest?.close(promise: nil)
        return false
    }

    /// Below TLS.
    private final class ByteMeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private let budget: ResponseBudget

        init(_ budget: ResponseBudget) {
            self.budget = budget
        }

        func handlerAdded(context: ChannelHandlerContext) { budget.lowest = context }

        func handlerRemoved(context: ChannelHandlerContext) { budget.lowest = nil }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if budget.spend(Self.unwrapInboundIn(data).readableBytes, context) {
                context.fireChannelRead(data)
            }
        }
    }

    /// Between the decoder and the client.
    private final class PartMeter: ChannelDuplexHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias InboundOut = HTTPClientResponsePart
        typealias OutboundIn = HTTPClientRequestPart
        typealias OutboundOut = HTTPClientRequestPart

        private let budget: ResponseBudget

        init(_ budget: ResponseBudget) {
            self.budget = budget
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if budget.spend(ResponseBudget.partCost, context) { context.fireChannelRead(data) }
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if case .head = Self.unwrapOutboundIn(data) { budget.reset() }
            context.write(data, promise: promise)
        }
    }
}
