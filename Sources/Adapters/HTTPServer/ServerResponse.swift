package import HTTPTypes
package import NIOCore
import NIOHPACK

/// A response, before the server adds the fields that every response has.
package struct ServerResponse: Sendable {
    package var status: HTTPResponse.Status
    /// Without `Content-Length`, `Transfer-Encoding` and `Connection`, which the server writes.
    package var fields: HTTPFields
    /// Writes more fields after `fields`. This costs less than to build an `HTTPFields`.
    package var writeFields: (@Sendable (inout FieldWriter) -> Void)?
    package var body: Body
    /// How long the server waits before it sends the response, if the response was made on an event loop.
    package var delay: Delay?
    /// How long the client may take to read a streamed body, after which the response is cut; nil for no limit.
    package var timeLimit: Duration?

    package enum Body: Sendable {
        case empty
        case bytes([UInt8])
        case buffer(ByteBuffer)
        /// Pieces that are written as fast as the client reads them. `length` is the number of bytes of all pieces, if it is known.
        /// If the body turns out to be longer or shorter, the response is cut.
        case stream(length: Int?, @Sendable (BodyWriter) async throws -> Void)
        /// No response: the connection, or stream of HTTP/2, is ended.
        case cut

        /// Nil if it is not known.
        package var length: Int? {
            switch self {
            case .empty, .cut: 0
            case .bytes(let bytes): bytes.count
            case .buffer(let buffer): buffer.readableBytes
            case .stream(let length, _): length
            }
        }
    }

    package struct Delay: Sendable {
        package let duration: Duration
        /// Held until the response is sent.
        package let permit: any Sendable

        package init(_ duration: Duration, holding permit: any Sendable) {
            self.duration = duration
            self.permit = permit
        }
    }

    package init(
        _ status: HTTPResponse.Status, _ fields: HTTPFields = [:], body: Body = .empty,
        writingFields writeFields: (@Sendable (inout FieldWriter) -> Void)? = nil, delay: Delay? = nil
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.writeFields = writeFields
        self.delay = delay
    }
}

/// Writes the pieces of a response's body.
package struct BodyWriter: Sendable {
    private let send: @Sendable (ByteBuffer) async throws -> Void

    package init(_ send: @escaping @Sendable (ByteBuffer) async throws -> Void) {
        self.send = send
    }

    /// Returns once the piece has left, so that a slow client holds one piece in memory.
    package func write(_ piece: ByteBuffer) async throws { try await send(piece) }
}

/// Writes header fields: lines of HTTP/1.1, or a list for HTTP/2.
package struct FieldWriter {
    /// The bytes of HTTP/1.1 so far.
    var bytes = ByteBuffer()
    /// Nil for HTTP/1.1.
    var headers: HPACKHeaders?

    package mutating func append(_ name: HTTPField.Name, _ value: String) {
        if headers == nil { return bytes.writeField(name.rawName, value) }
        // HPACK sends a repeated field as one byte. Only fields with few different values are worth its table.
        let indexing: HPACKIndexing = Self.constants.contains(name) ? .indexable : .nonIndexable
        headers?.add(name: name.canonicalName, value: value, indexing: indexing)
    }

    /// Appends a field whose value is written in place.
    /// - Parameters:
    ///   - length: The largest number of bytes.
    ///   - write: Writes ASCII and returns the number of bytes.
    package mutating func append(
        _ name: HTTPField.Name, upTo length: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        if headers == nil { return bytes.writeField(name.rawName, upTo: length, write) }
        headers?.add(
            name: name.canonicalName,
            value: String(unsafeUninitializedCapacity: length, initializingUTF8With: write),
            indexing: .nonIndexable)
    }

    mutating func append(_ fields: HTTPFields) {
        for field in fields where !Self.ofServer.contains(field.name) { append(field.name, field.value) }
    }

    /// Fields with few different values.
    private static let constants: Set<HTTPField.Name> = [
        .cacheControl, .contentType, .server, .vary, .contentEncoding,
    ]
    private static let ofServer: Set<HTTPField.Name> = [.connection, .contentLength, .transferEncoding]
}

extension ServerResponse {
    /// The body that a task writes piece by piece; nil if there is none, as for HEAD.
    func streamedBody(
        for method: String
    ) -> (length: Int?, write: @Sendable (BodyWriter) async throws -> Void)? {
        guard case .stream(let length, let write) = body, length != 0, status.mayHaveBody, method != "HEAD"
        else { return nil }
        return (length, write)
    }

    /// Writes all header fields except those that depend on the version of HTTP. Adds the fields of every response.
    func write(to writer: inout FieldWriter, server: String?) {
        if !fields.isEmpty { writer.append(fields) }
        writeFields?(&writer)
        writer.append(.date, HTTPDate.now())
        if let server { writer.append(.server, server) }
    }
}

extension ServerResponse {
    /// All header fields except those that the server adds.
    package var allFields: HTTPFields {
        var writer = FieldWriter(headers: HPACKHeaders())
        writer.append(fields)
        writeFields?(&writer)
        var all = HTTPFields()
        for (name, value, _) in writer.headers ?? [:] {
            if let name = HTTPField.Name(name) { all.append(HTTPField(name: name, value: value)) }
        }
        return all
    }
}

extension HTTPResponse.Status {
    /// RFC 9110 §6.4.1.
    var mayHaveBody: Bool { kind != .informational && code != 204 && code != 304 }
}

extension ByteBuffer {
    /// Removes the next piece to write. A long body is written in pieces, so that the server notices if a slow client still reads.
    mutating func readPiece() -> ByteBuffer? {
        readableBytes > 0 ? readSlice(length: min(readableBytes, Self.pieceLength)) : nil
    }

    static var pieceLength: Int { 16_384 }
}
