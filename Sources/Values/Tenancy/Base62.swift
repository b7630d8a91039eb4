/// Digits `0`–`9`, `A`–`Z`, `a`–`z`: they need no quoting in a URL or a shell, and a double click selects
/// the whole text.
enum Base62 {
    static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// The big-endian number `words` in exactly `count` digits, zeros in front; the number must fit.
    static func digits(of words: [UInt32], count: Int) -> [UInt8] {
        var number = words
        var digits = [UInt8](repeating: alphabet[0], count: count)
        for position in digits.indices.reversed() {
            var remainder: UInt64 = 0
            for index in number.indices {
                let dividend = remainder << 32 | UInt64(number[index])
                number[index] = UInt32(dividend / 62)
                remainder = dividend % 62
            }
            digits[position] = alphabet[Int(remainder)]
        }
        return digits
    }
}
