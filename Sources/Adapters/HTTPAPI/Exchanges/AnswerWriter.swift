import HTTPTypes
import NIOCore

/// Writes the answers of a connection of HTTP/1.1, or of a stream of HTTP/2, in the order in which they come.
///
/// Ours are written by ``begin(_:bodyLength:isLast:_:)``, their fields, and ``write(_:_:_:)``; the router's part by part. It
/// never flushes: what comes of that may be the next answer.
protocol AnswerWriter {
    /// What the router's answers consist of.
    associatedtype Part
    associatedtype Header: AnswerHeader

    /// - Parameter untaken: Counts what the client has not taken.
    init(_ untaken: UntakenParts)

    /// The header of an answer, as far as it depends on the version of HTTP.
    /// - Parameter isLast: Whether it is the last answer of its connection.
    mutating func begin(
        _ status: HTTPResponse.Status, bodyLength: Int?, isLast: Bool, _ context: ChannelHandlerContext
    ) -> Header
    mutating func write(_ header: consuming Header, _ body: ByteBuffer?, _ context: ChannelHandlerContext)

    mutating func write(
        _ part: Part, isLast: Bool, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext)

    /// Says that the client may send its body (RFC 9110 §15.2.1).
    mutating func writeContinue(_ context: ChannelHandlerContext)

    /// Hands on what was kept to be written together.
    mutating func forward(_ context: ChannelHandlerContext)
    /// Tells those who wait for it that what was kept is not written.
    mutating func forget()
}

/// The header of an answer, as it is put together.
protocol AnswerHeader {
    mutating func append(_ name: HTTPField.Name, _ value: String)
}

extension HTTPFields: AnswerHeader {
    mutating func append(_ name: HTTPField.Name, _ value: String) {
        append(HTTPField(name: name, value: value))
    }
}

extension ByteBuffer {
    /// Takes what is written at once: who reads a long body slowly reads.
    mutating func readPiece() -> ByteBuffer? {
        readableBytes > 0 ? readSlice(length: min(readableBytes, Self.pieceLength)) : nil
    }

    static var pieceLength: Int { 16_384 }
}
