import NIOCore
import NIOHTTP1

/// Reads requests whole, one after the other, and writes what becomes of them.
///
/// Belongs to its channel's event loop.
final class StoreConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let response: @Sendable (StoreSimulation.Request) -> StoreSimulation.Outcome
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    /// The largest image and a little more. [ours]
    private static let maximumBody = 11 << 20

    init(_ response: @escaping @Sendable (StoreSimulation.Request) -> StoreSimulation.Outcome) {
        self.response = response
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let piece):
            guard body.count + piece.readableBytes <= Self.maximumBody else {
                context.close(promise: nil)
                return
            }
            body += piece.readableBytesView
        case .end:
            guard let head else { return }
            self.head = nil
            let outcome = response(
                StoreSimulation.Request(
                    method: head.method.rawValue, uri: head.uri,
                    headers: head.headers.map { (name: $0.name, value: $0.value) }, body: body))
            body = []
            guard outcome.delay > .zero else {
                write(outcome.response, keepAlive: head.isKeepAlive, context: context)
                return
            }
            let keepAlive = head.isKeepAlive
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(outcome.delay)) {
                self.write(outcome.response, keepAlive: keepAlive, context: context)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func write(
        _ response: StoreSimulation.Response?, keepAlive: Bool, context: ChannelHandlerContext
    ) {
        guard let response else {
            context.close(promise: nil)
            return
        }
        var headers = HTTPHeaders(response.headers)
        if response.status != 204 { headers.add(name: "Content-Length", value: String(response.body.count)) }
        if !keepAlive { headers.add(name: "Connection", value: "close") }
        context.write(
            wrapOutboundOut(
                .head(
                    HTTPResponseHead(
                        version: .http1_1, status: HTTPResponseStatus(statusCode: response.status),
                        headers: headers))), promise: nil)
        if !response.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
        }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !keepAlive {
            written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }
}
