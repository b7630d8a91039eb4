import CZlib
import HTTPTypes

/// Decodes a body of the content coding `gzip` (RFC 1952) a piece at a time, with zlib.
///
/// Holds one piece of input and one of output, so that a small body that expands to a large one takes no more memory.
/// Only one task may use it.
final class GzipDecoder {
    /// zlib's state, which is allocated separately because zlib stores its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var input: [UInt8] = []
    private var offset = 0
    /// Whether the last bytes ended a gzip member. More members can follow.
    private var isBetweenMembers = false
    /// Whether zlib may have more output for the input that it has taken.
    private var hasOutput = false

    /// The most bytes of a piece of output. [ours]
    static let pieceLength = 65_536

    /// - Throws: `internal_error` if zlib has no memory.
    init() throws(Problem) {
        stream.initialize(to: z_stream())
        // 16 selects gzip instead of the zlib format.
        let status = inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw .internalError }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Adds input. Call it after ``next()`` has returned nil.
    func add(_ bytes: [UInt8]) {
        (input, offset) = (bytes, 0)
    }

    /// The next piece of the content; nil if more input is needed.
    /// - Throws: `malformed_request` if the input is not gzip.
    func next() throws(Problem) -> [UInt8]? {
        while offset < input.count || hasOutput {
            if isBetweenMembers {
                guard offset < input.count else { return nil }
                guard inflateReset(stream) == Z_OK else { throw .notGzip }
                isBetweenMembers = false
            }
            var status = Z_OK
            let output = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { output, count in
                status = input.withUnsafeMutableBufferPointer { input in
                    stream.pointee.next_in = input.baseAddress?.advanced(by: offset)
                    stream.pointee.avail_in = CUnsignedInt(input.count - offset)
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = CUnsignedInt(output.count)
                    let status = inflate(stream, Z_NO_FLUSH)
                    offset = input.count - Int(stream.pointee.avail_in)
                    (stream.pointee.next_in, stream.pointee.next_out) = (nil, nil)
                    return status
                }
                count = output.count - Int(stream.pointee.avail_out)
            }
            // Z_BUF_ERROR means that zlib could make no progress. The input may still be valid.
            guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else { throw .notGzip }
            isBetweenMembers = status == Z_STREAM_END
            hasOutput = status == Z_OK && output.count == Self.pieceLength
            if !output.isEmpty { return output }
            guard status != Z_BUF_ERROR else { return nil }
        }
        return nil
    }

    /// Checks that the input is complete. Call it after the last input.
    /// - Throws: `malformed_request` if the input ended too early.
    func finish() throws(Problem) {
        guard isBetweenMembers else { throw .notGzip }
    }
}

extension Problem {
    fileprivate static let notGzip = Problem(.badRequest, "malformed_request", "the body is not valid gzip")
}

/// The content coding of a request's body (RFC 9110 §8.4).
enum ContentCoding {
    case identity, gzip

    /// - Parameter field: `Content-Encoding`; nil if the request lacks it.
    /// - Throws: `unsupported_content_coding` for any other coding, and for more than one.
    init(_ field: String?) throws(Problem) {
        switch field?.lowercased() {
        case nil, "", "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        default:
            throw Problem(
                .unsupportedMediaType, "unsupported_content_coding",
                "the server decodes gzip, and no other content coding",
                headers: [.acceptEncoding: "gzip, identity"])
        }
    }

    /// Nil for content without a coding.
    func decoder() throws(Problem) -> GzipDecoder? { self == .gzip ? try GzipDecoder() : nil }
}
