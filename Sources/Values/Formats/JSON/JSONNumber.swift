/// A JSON number that keeps the text it was written with.
///
/// `12345678901234567890` and `1.10` pass through unchanged. Equality is that of the text: `1` and `1.0` are
/// different numbers here, though their `double` is the same.
public struct JSONNumber: Sendable, Hashable {
    /// The number as written, in the grammar of RFC 8259 §6.
    public let literal: String

    /// The nearest double, always finite.
    public let double: Double

    /// Reads a number from its text.
    ///
    /// Nil if the text is not a JSON number, or if its magnitude exceeds a double (`1e400`).
    public init?(literal: String) {
        let number = literal.withBytes { bytes -> JSONNumber? in
            var parser = JSONParser(bytes, maximumDepth: 0)
            guard let number = try? parser.parseNumber(), parser.isAtEnd else { return nil }
            return number
        }
        guard let number else { return nil }
        self = number
    }

    public init(_ value: Int) {
        literal = String(value)
        double = Double(value)
    }

    /// Nil if the value is infinite or not a number.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(finite: value)
    }

    /// Creates a number from a value that the caller knows to be finite.
    ///
    /// Whole numbers are written without a fraction (`100`, not `100.0`), the others with the fewest digits
    /// that read back as the same double.
    ///
    /// - Precondition: `value` is finite; JSON has no other numbers.
    public init(finite value: Double) {
        precondition(value.isFinite, "JSON has only finite numbers")
        let text = value.description
        literal = text.utf8.suffix(2).elementsEqual(".0".utf8) ? String(text.utf8.dropLast(2)) ?? text : text
        double = value
    }

    /// Reads bytes that the parser has found to be a number; nil if it exceeds a double.
    init?(checked bytes: UnsafeBufferPointer<UInt8>) {
        literal = String(decoding: bytes, as: UTF8.self)
        guard let double = Self.exactDouble(bytes) ?? Double(literal), double.isFinite else { return nil }
        self.double = double
    }

    /// Returns the double of a plain decimal whose digits, as one integer, and whose power of ten are both
    /// exact doubles. Their quotient is then rounded only once, so it is the nearest double.
    ///
    /// Source: W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990.
    private static func exactDouble(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        var digits: UInt64 = 0
        var fractionStart: Int?
        // 19 digits fit in 64 bits.
        guard bytes.count <= 19 else { return nil }
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "-"): continue
            case UInt8(ascii: "."): fractionStart = index + 1
            case UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
            case let digit: digits = digits &* 10 &+ UInt64(digit &- UInt8(ascii: "0"))
            }
        }
        let fractionDigits = fractionStart.map { bytes.endIndex - $0 } ?? 0
        guard digits <= 1 << 53 else { return nil }
        let magnitude = Double(digits) / powersOfTen[fractionDigits]
        return bytes.first == UInt8(ascii: "-") ? -magnitude : magnitude
    }

    /// 10⁰ to 10¹⁸, as far as the digits can go; up to 10²² they would be exact.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
        1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    ]

    /// The integer, if the number is one, however it is written: `100`, `100.0` and `1e2` are the same number.
    ///
    /// Nil for other numbers, for integers that do not fit, and for one written with fraction or exponent that is
    /// beyond 2⁵³, where doubles have gaps. JSON Schema's `integer` means the same.
    public var int: Int? {
        Int(literal) ?? (double.magnitude <= 0x1p53 ? Int(exactly: double) : nil)
    }
}
