import HTTPTypes
import NIOCore

/// Writes the answers of a connection of HTTP/1.1, or of a stream of HTTP/2, in the order in which they come.
///
/// Ours are written by ``begin(_:bodyLength:isLast:_:)``, their fields, and ``end(_:_:)``; the router's part by part. It
/// never flushes: what comes of that may be the next answer.
protocol ResponseWriter: ResponseHeader {
    /// What the router's answers consist of.
    associatedtype Part

    /// - Parameter untaken: Counts what the client has not taken.
    init(_ pendingWrites: PendingWrites)

    /// Whether the answers that follow say that their connection stays open. Of use to HTTP/1.0 alone.
    var confirmsKeepAlive: Bool { get set }

    /// Writes the header of an answer, as far as it depends on the version of HTTP.
    /// - Parameter isLast: Whether it is the last answer of its connection.
    mutating func begin(
        _ status: HTTPResponse.Status, bodyLength: Int?, isLast: Bool, _ context: ChannelHandlerContext)
    /// Writes the end of the header, and what follows it.
    mutating func end(_ body: APIResponse.Body?, _ context: ChannelHandlerContext)

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
protocol ResponseHeader {
    mutating func append(_ name: HTTPField.Name, _ value: String)
    /// Appends a field whose value is made where it is to stand.
    /// - Parameters:
    ///   - length: How many bytes it has at most.
    ///   - write: Writes it, in ASCII, and tells how many it has.
    mutating func append(
        _ name: HTTPField.Name, upTo length: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int)
}

extension HTTPFields: ResponseHeader {
    mutating func append(_ name: HTTPField.Name, _ value: String) {
        append(HTTPField(name: name, value: value))
    }

    mutating func append(
        _ name: HTTPField.Name, upTo length: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        append(name, String(unsafeUninitializedCapacity: length, initializingUTF8With: write))
    }
}

extension ByteBuffer {
    /// Takes what is written at once: who reads a long body slowly reads.
    mutating func readPiece() -> ByteBuffer? {
        readableBytes > 0 ? readSlice(length: min(readableBytes, Self.pieceLength)) : nil
    }

    static var pieceLength: Int { 16_384 }
}
