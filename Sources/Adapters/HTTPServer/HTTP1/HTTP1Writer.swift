import HTTPTypes
import NIOCore

/// Writes every response of a connection of HTTP/1.1 (RFC 9112 §4, §6).
///
/// Everything between two flushes is one write, and one record of TLS. Long bodies are written in pieces, so that the
/// server notices how much of a body the client reads. The writer never flushes.
struct HTTP1Writer {
    private let pendingWrites: PendingWrites
    private let server: String?
    private var fields = FieldWriter()
    /// Succeeds when the joined bytes have left. Nil while no bytes wait.
    private var promise: EventLoopPromise<Void>?
    /// Whether the body of a streamed response is sent in chunks.
    private var isChunked = false
    /// Whether responses confirm that the connection stays open. Only HTTP/1.0 needs this.
    var confirmsKeepAlive = false

    /// The usual length of a header.
    private static let usualLength = 1_024

    init(_ pendingWrites: PendingWrites, server: String?) {
        self.pendingWrites = pendingWrites
        self.server = server
    }

    /// Writes a response, or the head of a streamed response.
    /// - Parameters:
    ///   - isLast: Whether it is the last response of its connection.
    ///   - isHead: Whether the request's method is HEAD, so that the response has no body.
    mutating func write(
        _ response: ServerResponse, isLast: Bool, isHead: Bool, _ context: ChannelHandlerContext
    ) {
        let mayHaveBody = response.status.mayHaveBody
        let length = mayHaveBody ? response.body.length : 0
        makeRoom(for: Self.usualLength + (length ?? 0), context)
        fields.bytes.reserveCapacity(
            minimumWritableBytes: min(Self.usualLength + (length ?? 0), ByteBuffer.pieceLength))
        fields.bytes.writeStatusLine(response.status.code, response.status.reasonPhrase)
        // Exactly one of the two fields, or none if the status allows no body (RFC 9112 §6.1, §6.2).
        isChunked = length == nil
        if isChunked {
            fields.bytes.writeStaticString("Transfer-Encoding: chunked\r\n")
        } else if mayHaveBody {
            fields.bytes.writeField("Content-Length", upTo: 19) { $0.writeDecimal(length ?? 0) }
        }
        if isLast {
            fields.bytes.writeStaticString("Connection: close\r\n")
        } else if confirmsKeepAlive {
            fields.bytes.writeStaticString("Connection: keep-alive\r\n")
        }
        response.write(to: &fields, server: server)
        fields.bytes.writeStaticString("\r\n")
        count(nil, context)
        guard mayHaveBody, !isHead else { return isChunked = false }
        switch response.body {
        case .bytes(let bytes):
            for start in stride(from: 0, to: bytes.count, by: ByteBuffer.pieceLength) {
                let piece = bytes[start..<min(start + ByteBuffer.pieceLength, bytes.count)]
                makeRoom(for: piece.count, context)
                fields.bytes.writeBytes(piece)
            }
        case .buffer(let bytes): write(body: bytes, nil, context)
        case .empty, .stream, .cut: break
        }
    }

    mutating func writeContinue(_ context: ChannelHandlerContext) {
        fields.bytes.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n")
        count(nil, context)
    }

    /// - Parameter promise: Kept when the client's side has taken the last piece.
    mutating func write(
        body: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        var rest = body
        count(nil, context)
        while var piece = rest.readPiece() {
            if isChunked { fields.bytes.writeString("\(String(piece.readableBytes, radix: 16))\r\n") }
            makeRoom(for: piece.readableBytes, context)
            if fields.bytes.readableBytes == 0 {
                fields.bytes = piece
            } else {
                fields.bytes.writeBuffer(&piece)
            }
            if isChunked { fields.bytes.writeStaticString("\r\n") }
        }
        if let promise { count(promise, context) }
    }

    mutating func endStream(_ context: ChannelHandlerContext) {
        guard isChunked else { return }
        isChunked = false
        fields.bytes.writeStaticString("0\r\n\r\n")
        count(nil, context)
    }

    /// Counts the joined bytes as pending.
    private mutating func count(_ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        if let known = self.promise {
            if let promise { known.futureResult.cascade(to: promise) }
        } else {
            self.promise = pendingWrites.add(promise, context)
        }
    }

    private mutating func makeRoom(for length: Int, _ context: ChannelHandlerContext) {
        guard fields.bytes.readableBytes > 0, fields.bytes.readableBytes + length > ByteBuffer.pieceLength
        else { return }
        forward(context)
        // The bytes to come belong to it.
        count(nil, context)
    }

    /// Hands on the joined bytes.
    mutating func forward(_ context: ChannelHandlerContext) {
        guard let promise else { return }
        let bytes = fields.bytes
        (fields.bytes, self.promise) = (ByteBuffer(), nil)
        context.write(NIOAny(bytes), promise: promise)
    }

    /// Drops the joined bytes.
    mutating func forget() {
        promise?.fail(ChannelError.ioOnClosedChannel)
        promise = nil
    }
}

extension ByteBuffer {
    fileprivate mutating func writeStatusLine(_ code: Int, _ reason: String) {
        if code == 200 { return _ = writeStaticString("HTTP/1.1 200 OK\r\n") }
        writeString("HTTP/1.1 \(code) \(reason)\r\n")
    }

    mutating func writeField(_ name: String, _ value: String) {
        let value = value.utf8.span
        writeField(name, upTo: value.count) { $0.copy(value) }
    }

    /// Writes a line of a header, in one go.
    @inline(__always)
    mutating func writeField(
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
    /// - Returns: Its length.
    fileprivate func copy(_ text: Span<UInt8>) -> Int {
        text.withUnsafeBufferPointer { update(fromContentsOf: $0) }
    }

    /// Writes a number in decimal digits, at most 19.
    /// - Parameter value: 0 or more.
    /// - Returns: The number of digits.
    fileprivate func writeDecimal(_ value: Int) -> Int {
        var end = 1
        var rest = value / 10
        while rest > 0 {
            end += 1
            rest /= 10
        }
        rest = value
        for index in (0..<end).reversed() {
            self[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        return end
    }
}
