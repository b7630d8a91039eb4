import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Writes answers to a stream of HTTP/2, for the library's encoder.
struct HTTP2ResponseWriter: ResponseWriter {
    private let pendingWrites: PendingWrites
    /// Of the answer that is begun.
    private var head = HTTPResponse(status: .ok)
    var confirmsKeepAlive = false

    init(_ pendingWrites: PendingWrites) {
        self.pendingWrites = pendingWrites
    }

    /// That an answer is the last of its connection is not said in its header (RFC 9113 §8.2.2).
    mutating func begin(
        _ status: HTTPResponse.Status, bodyLength: Int?, isLast: Bool, _ context: ChannelHandlerContext
    ) {
        head = HTTPResponse(status: status)
        head.headerFields.reserveCapacity(12)
        if let bodyLength { append(.contentLength, String(bodyLength)) }
    }

    mutating func append(_ name: HTTPField.Name, _ value: String) { head.headerFields.append(name, value) }

    mutating func append(
        _ name: HTTPField.Name, upTo length: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        head.headerFields.append(name, upTo: length, write)
    }

    mutating func end(_ body: APIResponse.Body?, _ context: ChannelHandlerContext) {
        context.write(NIOAny(HTTPResponsePart.head(head)), promise: nil)
        if let body { write(body: body.buffer, nil, context) }
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
        context.write(NIOAny(part), promise: pendingWrites.add(promise, context))
    }
}
