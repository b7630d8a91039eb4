extension Double {
    /// Reads a number as people and spreadsheets write it, such as `-12.5` or `1e3`; infinite if it is too
    /// large.
    ///
    /// Nil for any other text, including some that `Double(_:)` accepts: hexadecimal, and the names of
    /// infinity and NaN.
    package init?(decimal text: some StringProtocol) {
        guard text.utf8.allSatisfy(\.isOfDecimal) else { return nil }
        self.init(text)
    }
}

extension UInt8 {
    /// Whether it is a digit, sign, point or exponent's letter in ASCII.
    fileprivate var isOfDecimal: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
