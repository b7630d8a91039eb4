public import Foundation

extension UUID {
    /// Returns a UUID of version 7: a time to the millisecond, then random bits (RFC 9562 §5.7).
    ///
    /// Later ones sort behind earlier ones, so that an index over them grows at one end.
    public static func timeOrdered(at time: Date) -> UUID {
        timeOrdered(at: time, bits: .random(in: 0...0x0FFF), .random(in: .min ... .max))
    }

    /// Returns `count` UUIDs of version 7 of one time, in order: a counter replaces the first random bits
    /// (RFC 9562 §6.2, method 1).
    ///
    /// - Parameter first: The counter of the first one, to continue an earlier series.
    /// - Precondition: The counter fits in 32 bits.
    public static func timeOrdered(_ count: Int, at time: Date, from first: Int = 0) -> [UUID] {
        precondition(first >= 0 && first + count <= 1 << 32, "the counter has 32 bits")
        return (UInt64(first)..<UInt64(first + count)).map { number in
            let random = UInt64.random(in: 0..<1 << 42)
            return timeOrdered(at: time, bits: number >> 20, (number & 0xF_FFFF) << 42 | random)
        }
    }

    /// - Parameter bits: The 12 after the time, and the 62 after those.
    private static func timeOrdered(at time: Date, bits first: UInt64, _ last: UInt64) -> UUID {
        let high = milliseconds(of: time) << 16 | 0x7000 | first
        let low = last & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let (a, b) = (high.bigEndianBytes, low.bigEndianBytes)
        return UUID(
            uuid: (a.0, a.1, a.2, a.3, a.4, a.5, a.6, a.7, b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7))
    }

    /// No UUID of version 7 of a time is before the first or behind the last.
    public static func timeOrderedRange(at time: Date) -> (first: UUID, last: UUID) {
        (timeOrdered(at: time, bits: 0, 0), timeOrdered(at: time, bits: 0x0FFF, .max))
    }

    /// The time of a UUID of version 7, to the millisecond; nil for one of another version.
    public var time: Date? {
        guard uuid.6 >> 4 == 7, uuid.8 >> 6 == 2 else { return nil }
        let bytes = [uuid.0, uuid.1, uuid.2, uuid.3, uuid.4, uuid.5]
        let milliseconds = bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// Rounded, since a time of whole milliseconds is a little less as a `Double`.
    private static func milliseconds(of time: Date) -> UInt64 {
        let milliseconds = max(0, time.timeIntervalSince1970 * 1_000)
        let nearest = milliseconds.rounded()
        return UInt64(abs(milliseconds - nearest) < 0.001 ? nearest : milliseconds.rounded(.down))
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) {
        unsafeBitCast(bigEndian, to: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8).self)
    }
}
