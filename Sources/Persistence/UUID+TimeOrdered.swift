import Foundation

extension UUID {
    /// A UUID of version 7: a time to the millisecond, then random bits (RFC 9562 §5.7).
    ///
    /// Those made later sort behind, so that an index over them grows at one end.
    static func timeOrdered(at time: Date) -> UUID {
        var generator = SystemRandomNumberGenerator()
        let milliseconds = UInt64(max(0, time.timeIntervalSince1970 * 1_000))
        let high = milliseconds << 16 | 0x7000 | generator.next() & 0x0FFF
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let (a, b) = (high.bigEndianBytes, low.bigEndianBytes)
        return UUID(
            uuid: (a.0, a.1, a.2, a.3, a.4, a.5, a.6, a.7, b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7))
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) {
        unsafeBitCast(bigEndian, to: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8).self)
    }
}
