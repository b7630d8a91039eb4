import CZlib

/// Encodes bodies by the content coding `gzip` (RFC 1952), with zlib.
package enum GzipEncoder {
    /// The longest body that is never compressed, in bytes: it fits into one packet. [ours]
    package static let longestPlainLength = 1_024

    package enum Effort: CInt {
        /// For the body of one response.
        case fast = 1
        /// For a document that many responses share.
        case best = 9
    }

    /// Nil for a body that is too short, if zlib has no memory, and if the result is not shorter.
    package static func encode(_ bytes: [UInt8], _ effort: Effort) -> [UInt8]? {
        guard bytes.count > longestPlainLength else { return nil }
        var stream = z_stream()
        let size = CInt(MemoryLayout<z_stream>.size)
        // A window as long as the body: a short body then takes little memory. 16 selects gzip instead of the zlib format.
        let window = min(MAX_WBITS, CInt(Int.bitWidth - (bytes.count - 1).leadingZeroBitCount))
        guard
            deflateInit2_(
                &stream, effort.rawValue, Z_DEFLATED, window + 16, effort == .best ? 9 : window - 7,
                Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var isWhole = false
        let encoded = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                (stream.next_in, stream.avail_in) = (input.baseAddress, CUnsignedInt(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, CUnsignedInt(output.count))
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
            count = output.count - Int(stream.avail_out)
        }
        return isWhole ? encoded : nil
    }
}
