import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPAPI

/// How answers of HTTP/1.1 are framed, and what of them is written together.
@Suite struct HTTP1ResponseWriterTests {
    /// A connection whose client takes what is flushed, with the library's parts on the side of the router.
    private final class Connection {
        /// Stands for the exchanges, which call the writer between reads and writes of their own.
        private final class Handler: ChannelOutboundHandler, RemovableChannelHandler {
            typealias OutboundIn = HTTPServerResponsePart
            typealias OutboundOut = ByteBuffer
            var writer = HTTP1ResponseWriter(PendingWrites(timeout: .seconds(30)))
            var isLast = false

            func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
                writer.write(unwrapOutboundIn(data), isLast: isLast, promise, context)
            }

            func flush(context: ChannelHandlerContext) {
                writer.forward(context)
                context.flush()
            }

            func handlerRemoved(context: ChannelHandlerContext) { writer.forget() }
        }

        private let handler = Handler()
        let channel: EmbeddedChannel

        init(isLast: Bool = false) throws {
            handler.isLast = isLast
            channel = EmbeddedChannel(handler: handler)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func write(_ part: HTTPServerResponsePart, _ promise: EventLoopPromise<Void>? = nil) {
            channel.write(part, promise: promise)
        }

        func write(_ status: HTTPResponseStatus, _ fields: HTTPHeaders, _ bodies: [String] = []) {
            write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields)))
            for body in bodies { write(.body(.byteBuffer(ByteBuffer(string: body)))) }
            write(.end(nil))
        }

        /// One of ours.
        func response(_ status: HTTPResponse.Status, _ body: String?) throws {
            let context = try channel.pipeline.syncOperations.context(handler: handler)
            let body = body.map { APIResponse.Body.own(Array($0.utf8)) }
            handler.writer.begin(status, bodyLength: body?.count, isLast: handler.isLast, context)
            handler.writer.append(.server, "a")
            handler.writer.end(body, context)
        }

        func writeContinue() throws {
            handler.writer.writeContinue(try channel.pipeline.syncOperations.context(handler: handler))
        }

        func remove() {
            channel.pipeline.syncOperations.removeHandler(handler, promise: nil)
            channel.embeddedEventLoop.run()
        }

        func written() throws -> [String] {
            channel.flush()
            var writes: [String] = []
            while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
                writes.append(String(buffer: bytes))
            }
            return writes
        }
    }

    // MARK: Where an answer ends

    /// Of the router's answers, and what follows their status line.
    private static let framings: [(status: Int, fields: HTTPHeaders, bodies: [String], rest: String)] = [
        (200, ["Content-Length": "2"], ["ab"], "Content-Length: 2\r\n\r\nab"),
        (200, ["content-length": "2"], ["a", "b"], "content-length: 2\r\n\r\nab"),
        (
            200, ["Content-Length": "2", "Transfer-Encoding": "chunked"], ["ab"],
            "Content-Length: 2\r\n\r\nab"
        ),
        (
            200, [:], ["ab", "", "c"],
            "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        ),
        (200, ["Transfer-Encoding": "gzip"], [], "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (404, ["Content-Length": "0"], [], "Content-Length: 0\r\n\r\n"),
        // To HEAD.
        (200, ["Content-Length": "2"], [], "Content-Length: 2\r\n\r\n"),
        (304, ["Content-Length": "2", "ETag": "a"], [], "ETag: a\r\n\r\n"),
        (204, ["Transfer-Encoding": "chunked"], [], "\r\n"),
        (103, ["Content-Length": "0", "Link": "a"], [], "Link: a\r\n\r\n"),
    ]

    /// RFC 9112 §6.1 and §6.2: whatever the header says, a client finds the end of each answer.
    @Test(arguments: framings.indices)
    func routerResponsesAreFramed(index: Int) throws {
        let (code, fields, bodies, rest) = Self.framings[index]
        let connection = try Connection()
        let status = HTTPResponseStatus(statusCode: code)
        connection.write(status, fields, bodies)
        #expect(try connection.written() == ["HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n\(rest)"])
        // The next one has nothing of it.
        connection.write(.ok, ["Content-Length": "1"], ["d"])
        #expect(try connection.written() == ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nd"])
    }

    @Test func trailersFollowTheLastChunk() throws {
        let connection = try Connection()
        connection.write(.head(HTTPResponseHead(version: .http1_1, status: .ok)))
        connection.write(.end(["A": "b"]))
        #expect(
            try connection.written() == [
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n"
            ])
    }

    @Test(arguments: [
        (HTTPResponse.Status.ok, "ab" as String?, "200 OK\r\nContent-Length: 2\r\n"),
        (.notFound, "ab", "404 Not Found\r\nContent-Length: 2\r\n"),
        (.notModified, nil, "304 Not Modified\r\n"), (.noContent, nil, "204 No Content\r\n"),
        (.ok, nil, "200 OK\r\nContent-Length: 0\r\n"),
    ])
    func inMemoryResponsesAreFramed(status: HTTPResponse.Status, body: String?, start: String) throws {
        let connection = try Connection()
        try connection.response(status, body)
        #expect(try connection.written() == ["HTTP/1.1 \(start)Server: a\r\n\r\n\(body ?? "")"])
    }

    @Test func lastResponseSendsConnectionCloseOnce() throws {
        let connection = try Connection(isLast: true)
        try connection.response(.ok, "a")
        connection.write(.ok, ["Connection": "keep-alive", "Content-Length": "0"])
        #expect(
            try connection.written() == [
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\nServer: a\r\n\r\na"
                    + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            ])
    }

    @Test func continueIsWrittenBeforeTheResponse() throws {
        let connection = try Connection()
        try connection.writeContinue()
        try connection.response(.ok, "a")
        #expect(
            try connection.written() == [
                "HTTP/1.1 100 Continue\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nServer: a\r\n\r\na"
            ])
    }

    // MARK: What is written together

    @Test func responsePartsBeforeFlushAreOneWrite() throws {
        let connection = try Connection()
        var taken: [Int] = []
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "5"])
        let parts: [HTTPServerResponsePart] = [
            .head(head), .body(.byteBuffer(ByteBuffer(string: "body "))), .body(.byteBuffer(ByteBuffer())),
            .end(nil),
        ]
        for (number, part) in parts.enumerated() {
            let promise = connection.channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess { taken.append(number) }
            connection.write(part, promise)
        }
        try connection.response(.ok, "next")
        #expect(taken.isEmpty)
        #expect(
            try connection.written() == [
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody "
                    + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nServer: a\r\n\r\nnext"
            ])
        #expect(taken.sorted() == [0, 1, 2, 3])
        // What is never flushed is known not to have gone out.
        let last = connection.channel.eventLoop.makePromise(of: Void.self)
        var isRefused = false
        last.futureResult.assumeIsolated().whenFailure { _ in isRefused = true }
        connection.write(.head(head), last)
        connection.remove()
        #expect(isRefused)
        _ = try connection.channel.finish()
    }

    /// In the order in which it was written, the bytes as they were.
    @Test func longResponseIsWrittenInPieces() throws {
        let connection = try Connection()
        let body = String(repeating: "0123456789", count: 4_000)
        connection.write(.ok, ["Content-Length": "40000"], [body])
        connection.write(.ok, [:], [body])
        let writes = try connection.written()
        #expect(writes.map(\.utf8.count).max() ?? 0 <= 16_384 + 16)
        #expect(writes.count >= 6)
        let size = "4000\r\n"
        let chunks = [
            size + body.prefix(16_384), size + body.dropFirst(16_384).prefix(16_384),
            "1c40\r\n" + body.dropFirst(32_768), "0\r\n",
        ]
        #expect(
            writes.joined()
                == "HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" + body
                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks.joined(separator: "\r\n")
                + "\r\n")
        _ = try connection.channel.finish()
    }

    /// Of a long body the promise is kept with its end, which a client that reads slowly takes last.
    @Test func bodyPromiseSucceedsWithItsLastPiece() throws {
        let connection = try Connection()
        let promise = connection.channel.eventLoop.makePromise(of: Void.self)
        var isTaken = false
        promise.futureResult.assumeIsolated().whenSuccess { isTaken = true }
        connection.write(.head(HTTPResponseHead(version: .http1_1, status: .ok)))
        connection.write(.body(.byteBuffer(ByteBuffer(repeating: 0, count: 50_000))), promise)
        #expect(!isTaken)
        #expect(try connection.written().count == 5)
        #expect(isTaken)
        connection.write(.end(nil))
        #expect(try connection.written() == ["0\r\n\r\n"])
        _ = try connection.channel.finish()
    }

    /// As many answers as there are requests in a pipeline, and no write as large as all of them.
    @Test func manyResponsesAreSeveralWrites() throws {
        let connection = try Connection()
        for _ in 0..<1_000 { try connection.response(.ok, "0123456789") }
        let writes = try connection.written()
        #expect(writes.count > 2)
        #expect(writes.allSatisfy { $0.utf8.count <= 16_384 })
        #expect(writes.joined().ranges(of: "HTTP/1.1 200 OK\r\n").count == 1_000)
        _ = try connection.channel.finish()
    }
}
