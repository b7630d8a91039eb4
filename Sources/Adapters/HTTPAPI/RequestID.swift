import Formats
import Synchronization

/// The ID of a request in responses and logs.
enum RequestID {
    private static let next = Atomic<UInt64>(.random(in: .min ... .max))
    private static let process = UInt64.random(in: .min ... .max)

    /// The caller's ID if it is safe to repeat; otherwise a new ID.
    static func of(_ field: String?) -> String {
        field.flatMap { $0.utf8.span.isRequestID ? $0 : nil } ?? make()
    }

    /// A new ID of 32 hexadecimal digits, which is unique over all servers.
    static func make() -> String {
        let number = next.wrappingAdd(1, ordering: .relaxed).newValue
        return String(unsafeUninitializedCapacity: 32) { bytes in
            bytes.writeHexadecimal(process, at: 0)
            bytes.writeHexadecimal(number, at: 16)
            return 32
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes 16 hexadecimal digits.
    func writeHexadecimal(_ value: UInt64, at start: Int) {
        for index in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * index)) & 0xF
            self[start + index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
        }
    }

    /// Writes the decimal digits of a number, at most 19.
    /// - Parameter value: 0 or more.
    /// - Returns: The index after the last digit.
    func writeDecimal(_ value: Int, at start: Int) -> Int {
        var end = start + 1
        var rest = value / 10
        while rest > 0 {
            end += 1
            rest /= 10
        }
        rest = value
        for index in (start..<end).reversed() {
            self[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        return end
    }
}
