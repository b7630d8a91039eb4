/// The checksum of ISO 3309 and ITU-T V.42, as gzip and PNG use it (RFC 1952 §8).
package enum CRC32 {
    package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc = table[Int((crc ^ UInt32(byte)) & 0xFF)] ^ (crc >> 8)
        }
        return ~crc
    }

    /// For each value of a byte, the register after processing that byte alone.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in
            (crc & 1 == 0) ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320
        }
    }
}
