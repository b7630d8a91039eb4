package import HTTPServer
package import HTTPTypes
package import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends requests to a responder and collects its responses.
package struct HTTPTestClient: Sendable {
    package struct Response: Sendable {
        package let status: HTTPResponse.Status
        package let headers: HTTPFields
        package let body: ByteBuffer
    }

    private struct Request: Sendable {
        let method: HTTPRequest.Method
        let target: String
        let authority: String
        let fields: HTTPFields
        let body: ByteBuffer
    }

    private let execute: @Sendable (Request) async throws -> Response

    /// Sends requests in this process, to ``ServerResponder/respond(to:body:)``. They have no peer.
    package init(_ responder: any ServerResponder) {
        execute = { try await Self.respond(to: $0, responder) }
    }

    /// Sends each request over a connection of its own.
    package init(host: String = "127.0.0.1", port: Int) {
        execute = { try await Self.send($0, host, port) }
    }

    /// Lends a client of a server that is stopped afterwards.
    package static func withServer(
        _ settings: ServerSettings = ServerSettings(), _ responder: any ServerResponder,
        _ body: (HTTPTestClient) async throws -> Void
    ) async throws {
        let server = try await RunningServer.start(settings, responder)
        do {
            try await body(HTTPTestClient(host: settings.host, port: server.port))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// - Parameter target: Sent as it is.
    package func send(
        _ method: HTTPRequest.Method, _ target: String, authority: String = "localhost",
        headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()
    ) async throws -> Response {
        try await execute(
            Request(method: method, target: target, authority: authority, fields: headers, body: body))
    }

    // MARK: In this process

    private static func respond(
        to request: Request, _ responder: any ServerResponder
    ) async throws -> Response {
        var fields = request.fields
        if request.body.readableBytes > 0 { fields[.contentLength] = "\(request.body.readableBytes)" }
        let response = await responder.respond(
            to: ServerRequest(request.method, request.target, authority: request.authority, fields: fields),
            body: ServerRequestBody(request.body))
        var headers = response.allFields
        if response.status != .notModified, response.status != .noContent, let length = response.body.length {
            headers[.contentLength] = "\(length)"
        }
        guard request.method != .head else {
            return Response(status: response.status, headers: headers, body: ByteBuffer())
        }
        return Response(status: response.status, headers: headers, body: try await response.body.collected())
    }

    // MARK: Connections

    private static func send(_ request: Request, _ host: String, _ port: Int) async throws -> Response {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Response.self)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(Collector(promise))
                    }
                }
                .connect(host: host, port: port).get()
        } catch {
            promise.fail(error)
            throw error
        }
        var fields = HTTPHeaders([("Host", request.authority)])
        for field in request.fields { fields.add(name: field.name.rawName, value: field.value) }
        if request.body.readableBytes > 0 {
            fields.replaceOrAdd(name: "Content-Length", value: "\(request.body.readableBytes)")
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: request.method.rawValue), uri: request.target,
            headers: fields)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(request.body)), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        do {
            let response = try await promise.futureResult.get()
            try? await channel.close()
            return response
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private let promise: EventLoopPromise<Response>
        private var status = HTTPResponse.Status.ok
        private var fields = HTTPFields()
        private var body = ByteBuffer()

        init(_ promise: EventLoopPromise<Response>) {
            self.promise = promise
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                status = HTTPResponse.Status(
                    code: Int(head.status.code), reasonPhrase: head.status.reasonPhrase)
                for (name, value) in head.headers {
                    if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
                }
            case .body(let piece): body.writeImmutableBuffer(piece)
            case .end: promise.succeed(Response(status: status, headers: fields, body: body))
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            promise.fail(error)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { promise.fail(ChannelError.eof) }
    }
}

extension ServerResponse.Body {
    /// All bytes, as a client that reads at once gets them.
    package func collected() async throws -> ByteBuffer {
        switch self {
        case .empty: return ByteBuffer()
        case .cut: throw ChannelError.eof
        case .bytes(let bytes): return ByteBuffer(bytes: bytes)
        case .buffer(let bytes): return bytes
        case .stream(_, let write):
            let (pieces, source) = AsyncStream.makeStream(of: ByteBuffer.self)
            try await write(BodyWriter { source.yield($0) })
            source.finish()
            var body = ByteBuffer()
            for await piece in pieces { body.writeImmutableBuffer(piece) }
            return body
        }
    }
}
