import HTTPTypes
import JSON
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers what is no HTTP request, or has too long a header, with a problem instead of an empty 400, and closes.
///
/// Such a request never becomes one, so that no route or middleware sees it.
final class MalformedRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        let (status, code, detail) = Self.answer(to: error)
        let body = ByteBuffer(
            bytes: JSONValue.object([
                "type": "about:blank", "title": .string(status.reasonPhrase),
                "status": JSONValue(status.code),
                "code": .string(code), "detail": .string(detail),
            ]).serialized())
        let head = HTTPResponse(
            status: status,
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

    private static func answer(to error: HTTPParserError) -> (HTTPResponse.Status, String, String) {
        switch error {
        case .headerOverflow:
            (.requestHeaderFieldsTooLarge, "header_too_large", "the request's URL and header are too large")
        default:
            (.badRequest, "malformed_request", "this is not an HTTP request")
        }
    }
}
