import HTTPTypes
import NIOCore
import NIOHTTP1

/// Writes every answer of a connection of HTTP/1.1, ours and the router's (RFC 9112 §4, §6).
///
/// All that is written between two flushes is one write, and one record of TLS; what is longer than a piece of a body goes
/// on by itself, so that it is seen how much of it is taken.
struct HTTP1ResponseWriter: ResponseWriter {
    private let pendingWrites: PendingWrites
    private var joined = ByteBuffer()
    /// Kept when what is joined is taken; nil while there is nothing that anybody waits for.
    private var promise: EventLoopPromise<Void>?
    /// Whether the body of the router's answer is sent in chunks.
    private var isChunked = false
    var confirmsKeepAlive = false

    /// What a header takes at most, but for what comes of the client or of a problem.
    private static let usualLength = 1_024

    init(_ pendingWrites: PendingWrites) {
        self.pendingWrites = pendingWrites
    }

    // MARK: Ours

    mutating func begin(
        _ status: HTTPResponse.Status, bodyLength: Int?, isLast: Bool, _ context: ChannelHandlerContext
    ) {
        let length = Self.usualLength + (bodyLength ?? 0)
        makeRoom(for: length, context)
        joined.reserveCapacity(minimumWritableBytes: min(length, ByteBuffer.pieceLength))
        joined.writeStatusLine(status.code, status.reasonPhrase)
        if status.mayHaveBody { joined.writeContentLength(bodyLength ?? 0) }
        writePersistence(isLast: isLast)
    }

    private mutating func writePersistence(isLast: Bool) {
        if isLast {
            joined.writeStaticString("Connection: close\r\n")
        } else if confirmsKeepAlive {
            joined.writeStaticString("Connection: keep-alive\r\n")
        }
    }

    mutating func append(_ name: HTTPField.Name, _ value: String) { joined.writeField(name.rawName, value) }

    mutating func append(
        _ name: HTTPField.Name, upTo length: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        joined.writeField(name.rawName, upTo: length, write)
    }

    mutating func end(_ body: APIResponse.Body?, _ context: ChannelHandlerContext) {
        joined.writeStaticString("\r\n")
        count(nil, context)
        switch body {
        case .own(let bytes):
            for start in stride(from: 0, to: bytes.count, by: ByteBuffer.pieceLength) {
                let piece = bytes[start..<min(start + ByteBuffer.pieceLength, bytes.count)]
                makeRoom(for: piece.count, context)
                joined.writeBytes(piece)
            }
        case .shared(let bytes): write(body: bytes, context)
        case nil: break
        }
    }

    mutating func writeContinue(_ context: ChannelHandlerContext) {
        joined.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n")
        count(nil, context)
    }

    // MARK: The router's

    mutating func write(
        _ part: HTTPServerResponsePart, isLast: Bool, _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        count(nil, context)
        // Of a long body its last piece.
        defer { if let promise { count(promise, context) } }
        switch part {
        case .head(let head): write(head, isLast: isLast)
        case .body(.byteBuffer(let bytes)): write(body: bytes, context)
        // The library's codec before this makes none.
        case .body(.fileRegion): context.fireErrorCaught(ChannelError.operationUnsupported)
        case .end(let trailers):
            guard isChunked else { return }
            isChunked = false
            joined.writeStaticString("0\r\n")
            for (name, value) in trailers ?? [:] { joined.writeField(name, value) }
            joined.writeStaticString("\r\n")
        }
    }

    /// How long the body is, is said by what stands here and in what follows, whatever the header says: exactly one of
    /// `Content-Length` and `Transfer-Encoding`, and neither where there can be no body (RFC 9112 §6.1, §6.2).
    private mutating func write(_ head: HTTPResponseHead, isLast: Bool) {
        let status = HTTPResponse.Status(code: Int(head.status.code), reasonPhrase: head.status.reasonPhrase)
        joined.writeStatusLine(status.code, status.reasonPhrase)
        isChunked = status.mayHaveBody && !head.headers.contains(name: "content-length")
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 10 where (isLast || confirmsKeepAlive) && name.isEqualIgnoringCase(to: "connection"):
                continue
            case 14 where !status.mayHaveBody && name.isEqualIgnoringCase(to: "content-length"): continue
            case 17 where name.isEqualIgnoringCase(to: "transfer-encoding"): continue
            default: joined.writeField(name, value)
            }
        }
        if isChunked { joined.writeStaticString("Transfer-Encoding: chunked\r\n") }
        writePersistence(isLast: isLast)
        joined.writeStaticString("\r\n")
    }

    private mutating func write(body: ByteBuffer, _ context: ChannelHandlerContext) {
        var rest = body
        while var piece = rest.readPiece() {
            if isChunked { joined.writeString("\(String(piece.readableBytes, radix: 16))\r\n") }
            makeRoom(for: piece.readableBytes, context)
            if joined.readableBytes == 0 { joined = piece } else { joined.writeBuffer(&piece) }
            if isChunked { joined.writeStaticString("\r\n") }
        }
    }

    // MARK: Together

    /// Counts what is joined as untaken.
    private mutating func count(_ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        if let known = self.promise {
            if let promise { known.futureResult.cascade(to: promise) }
        } else {
            self.promise = pendingWrites.add(promise, context)
        }
    }

    private mutating func makeRoom(for length: Int, _ context: ChannelHandlerContext) {
        guard joined.readableBytes > 0, joined.readableBytes + length > ByteBuffer.pieceLength else { return }
        forward(context)
        // What is to come belongs to it.
        count(nil, context)
    }

    mutating func forward(_ context: ChannelHandlerContext) {
        guard let promise else { return }
        let bytes = joined
        (joined, self.promise) = (ByteBuffer(), nil)
        context.write(NIOAny(bytes), promise: promise)
    }

    mutating func forget() {
        promise?.fail(ChannelError.ioOnClosedChannel)
        promise = nil
    }
}

extension HTTPResponse.Status {
    /// RFC 9110 §6.4.1.
    fileprivate var mayHaveBody: Bool { kind != .informational && code != 204 && code != 304 }
}

extension ByteBuffer {
    fileprivate mutating func writeStatusLine(_ code: Int, _ reason: String) {
        if code == 200 { return _ = writeStaticString("HTTP/1.1 200 OK\r\n") }
        writeString("HTTP/1.1 \(code) \(reason)\r\n")
    }

    fileprivate mutating func writeContentLength(_ length: Int) {
        writeField("Content-Length", upTo: 19) { $0.writeDecimal(length, at: 0) }
    }

    fileprivate mutating func writeField(_ name: String, _ value: String) {
        let value = value.utf8.span
        writeField(name, upTo: value.count) { $0.copy(value) }
    }

    /// Writes a line of a header, in one go.
    @inline(__always)
    fileprivate mutating func writeField(
        _ name: String, upTo length: Int, _ writeValue: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        let name = name.utf8.span
        writeWithUnsafeMutableBytes(minimumWritableBytes: name.count + length + 4) { bytes in
            let line = bytes.bindMemory(to: UInt8.self)
            var end = line.copy(name)
            line[end] = UInt8(ascii: ":")
            line[end + 1] = UInt8(ascii: " ")
            end += 2
            end += writeValue(UnsafeMutableBufferPointer(rebasing: line[end..<(end + length)]))
            line[end] = UInt8(ascii: "\r")
            line[end + 1] = UInt8(ascii: "\n")
            return end + 2
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Copies a text to the beginning.
    /// - Returns: How long it is.
    fileprivate func copy(_ text: Span<UInt8>) -> Int {
        text.withUnsafeBufferPointer { update(fromContentsOf: $0) }
    }
}
