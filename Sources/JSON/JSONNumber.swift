/// A JSON number that keeps the text it was written with.
///
/// `12345678901234567890` and `1.10` pass through unchanged. Equality is that of the text: `1` and `1.0` are
/// different numbers here, though their `double` is the same.
public struct JSONNumber: Sendable, Hashable {
    /// The number as written, in the grammar of RFC 8259 §6.
    public let literal: String

    /// The nearest double, always finite.
    public let double: Double

    /// Takes a number from its text.
    ///
    /// Nil when the text is not a JSON number, or when its magnitude is beyond a double (`1e400`).
    public init?(literal: String) {
        var parser = JSONParser(Array(literal.utf8), maximumDepth: 0)
        guard let number = try? parser.parseNumber(), parser.isAtEnd else { return nil }
        self = number
    }

    public init(_ value: Int) {
        literal = String(value)
        double = Double(value)
    }

    /// Nil when the value is infinite or not a number.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(finite: value)
    }

    /// Takes a value that the caller knows to be finite.
    ///
    /// Whole numbers are written without a fraction (`100`, not `100.0`), the others with the fewest digits
    /// that read back as the same double.
    ///
    /// - Precondition: `value` is finite; JSON has no other numbers.
    public init(finite value: Double) {
        precondition(value.isFinite, "JSON has only finite numbers")
        let text = value.description
        literal = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        double = value
    }

    /// Takes text that the parser has found to be a number; nil when it is beyond a double.
    init?(checked literal: String) {
        guard let double = Double(literal), double.isFinite else { return nil }
        self.literal = literal
        self.double = double
    }

    /// The integer, if the number is one, however it is written: `100`, `100.0` and `1e2` are the same number.
    ///
    /// Nil for other numbers, for integers that do not fit, and for one written with fraction or exponent that is
    /// beyond 2⁵³, where doubles have gaps. JSON Schema's `integer` means the same.
    public var int: Int? {
        Int(literal) ?? (double.magnitude <= 0x1p53 ? Int(exactly: double) : nil)
    }
}
