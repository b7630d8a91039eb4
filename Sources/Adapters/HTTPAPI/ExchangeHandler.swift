import HTTPTypes
import JSON
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Keeps the exchanges of a connection, or of an HTTP/2 stream, in order at their edges.
///
/// - What is no HTTP request, or has too long a header, is answered with a problem and the connection closed; but only
///   after the requests before it were answered, so that no answer is taken for another's. No route or middleware sees
///   such a request.
/// - A request that was answered before its body had arrived may send the rest for a while, so that its client gets to
///   read the answer; a client that goes on is cut off.
final class ExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How much of a body is read after its answer, and for how long.
    private static let discardedLength = 262_144
    private static let discardingTime = TimeAmount.seconds(2)

    /// Called when everything that was received has been answered.
    var onIdle: () -> Void = {}
    /// Whether a request has begun and has not ended, or has not been answered, or nothing may be answered any more.
    var isBusy: Bool { unanswered > 0 || isReceiving || malformed != nil || isOver }
    /// Whether a request is there whole and has not been answered.
    var isAnswering: Bool { unanswered > 0 && !isReceiving && !isOver }
    /// Whether a request has begun and has not ended.
    private var isReceiving = false
    private var unanswered = 0
    private var discarded = 0
    private var cutOff: Scheduled<Void>?
    private var malformed: HTTPParserError?
    /// Whether the last answer of the connection is written.
    private var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            unanswered += 1
            isReceiving = true
            discarded = 0
            if unanswered == 1, head.headerFields[.expect]?.lowercased() == "100-continue" {
                // RFC 9110 §10.1.1: else the client waits before it sends its body.
                context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
        case .body(let part):
            if unanswered == 0 { discarded += part.readableBytes }
            guard discarded <= Self.discardedLength else { return context.close(promise: nil) }
        case .end:
            isReceiving = false
            cutOff?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        context.write(data, promise: promise)
        unanswered -= 1
        if let malformed, isNextToAnswer {
            answer(malformed, context)
        } else if unanswered == 0, isReceiving {
            cutOff = context.eventLoop.assumeIsolated().scheduleTask(in: Self.discardingTime) {
                context.close(promise: nil)
            }
        } else if !isBusy {
            onIdle()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What comes after something malformed is neither read nor worth a word.
        guard malformed == nil, !isOver else { return }
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        if isReceiving, unanswered == 0 {
            // The rest of a request that was answered already.
            context.close(promise: nil)
        } else if isNextToAnswer {
            answer(error, context)
        } else {
            malformed = error
        }
    }

    /// Whether what is received now comes after nothing that is still to be answered.
    private var isNextToAnswer: Bool { unanswered == (isReceiving ? 1 : 0) }

    func channelInactive(context: ChannelHandlerContext) {
        cutOff?.cancel()
        context.fireChannelInactive()
    }

    private func answer(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        isOver = true
        let problem: Problem =
            switch error {
            case .headerOverflow:
                Problem(
                    .requestHeaderFieldsTooLarge, "header_too_large",
                    "the request's URL and header are too large")
            default:
                Problem(.badRequest, "malformed_request", "this is not an HTTP request")
            }
        let body = ByteBuffer(bytes: JSONValue.object(problem.json).serialized())
        let head = HTTPResponse(
            status: problem.status,
            headerFields: [
                .contentType: "application/problem+json", .connection: "close",
                .contentLength: String(body.readableBytes),
            ])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }
}
