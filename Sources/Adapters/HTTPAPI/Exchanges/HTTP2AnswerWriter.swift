import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Writes answers to a stream of HTTP/2, for the library's encoder.
struct HTTP2AnswerWriter: AnswerWriter {
    struct Header: AnswerHeader {
        fileprivate let status: HTTPResponse.Status
        fileprivate var fields = HTTPFields()

        mutating func append(_ name: HTTPField.Name, _ value: String) { fields.append(name, value) }
    }

    private let untaken: UntakenParts

    init(_ untaken: UntakenParts) {
        self.untaken = untaken
    }

    /// That an answer is the last of its connection is not said in its header (RFC 9113 §8.2.2).
    func begin(
        _ status: HTTPResponse.Status, bodyLength: Int?, isLast: Bool, _ context: ChannelHandlerContext
    ) -> Header {
        var header = Header(status: status)
        header.fields.reserveCapacity(12)
        if let bodyLength { header.append(.contentLength, String(bodyLength)) }
        return header
    }

    func write(_ header: consuming Header, _ body: ByteBuffer?, _ context: ChannelHandlerContext) {
        context.write(
            NIOAny(HTTPResponsePart.head(HTTPResponse(status: header.status, headerFields: header.fields))),
            promise: nil)
        if let body { write(body: body, nil, context) }
        write(counted: .end(nil), nil, context)
    }

    func write(
        _ part: HTTPResponsePart, isLast: Bool, _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        switch part {
        // It is taken with what follows it.
        case .head: context.write(NIOAny(part), promise: promise)
        case .body(let bytes): write(body: bytes, promise, context)
        case .end: write(counted: part, promise, context)
        }
    }

    func writeContinue(_ context: ChannelHandlerContext) {
        context.write(NIOAny(HTTPResponsePart.head(HTTPResponse(status: .continue))), promise: nil)
    }

    func forward(_ context: ChannelHandlerContext) {}
    func forget() {}

    private func write(
        body: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        var rest = body
        while rest.readableBytes > ByteBuffer.pieceLength, let piece = rest.readPiece() {
            write(counted: .body(piece), nil, context)
        }
        write(counted: .body(rest), promise, context)
    }

    private func write(
        counted part: HTTPResponsePart, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        context.write(NIOAny(part), promise: untaken.add(promise, context))
    }
}
