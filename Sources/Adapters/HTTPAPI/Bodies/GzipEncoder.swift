import CZlib

/// Encodes a constant document by the content coding `gzip` (RFC 1952), with zlib and at its best compression.
///
/// Compression is slow. Encode each document once, and never per request.
enum GzipEncoder {
    /// Nil if zlib has no memory, or if the result is not shorter.
    static func encode(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        let size = CInt(MemoryLayout<z_stream>.size)
        // 16 selects gzip instead of the zlib format.
        guard
            deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                size)
                == Z_OK
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

    /// Whether a client accepts `gzip`, by its `Accept-Encoding` (RFC 9110 §12.5.3). The weight of `gzip` precedes that of `*`; 0
    /// means no.
    static func isAccepted(_ field: String?) -> Bool {
        var byAny = false
        for item in (field ?? "").split(separator: ",") {
            let parts = item.split(separator: ";").map {
                String($0.filter { $0 != " " && $0 != "\t" }).lowercased()
            }
            guard let coding = parts.first else { continue }
            let isRefused = parts.dropFirst().contains {
                $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 0 <= 0
            }
            switch coding {
            case "gzip", "x-gzip": return !isRefused
            case "*": byAny = !isRefused
            default: break
            }
        }
        return byAny
    }
}
