/// The checksum of ISO 3309 and ITU-T V.42, as gzip and PNG use it (RFC 1952 §8).
enum CRC32 {
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 {
                crc = (crc & 1 == 0) ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320
            }
        }
        return ~crc
    }
}
