/// Two digits for each byte (RFC 4648 §8).
public enum Base16 {
    /// In lower case, as in paths of APNs and in PostgreSQL's `bytea` output.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// From digits in either case; nil for anything else.
    public static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { (index: Int) -> UInt8 in
            UInt8(digits[index] << 4 | digits[index + 1])
        }
    }
}
