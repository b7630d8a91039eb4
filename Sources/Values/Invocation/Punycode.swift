/// The text of an A-label after its `xn--` (RFC 3492, with the parameters of §5).
enum Punycode {
    private static let base = 36
    private static let smallestThreshold = 1
    private static let largestThreshold = 26
    private static let skew = 38
    private static let damp = 700
    private static let initialBias = 72
    private static let initialCodePoint = 0x80

    /// Returns the decoded text, by RFC 3492 §6.2; nil if the text is not Punycode.
    ///
    /// The time is at most quadratic in the length.
    ///
    /// - Parameter text: At most 63 bytes, letters in lower case.
    static func decoded(_ text: Span<UInt8>) -> [Unicode.Scalar]? {
        let delimiter = text.indices.last { text[$0] == UInt8(ascii: "-") }
        var output = (0..<(delimiter ?? 0)).map { Unicode.Scalar(text[$0]) }
        guard output.allSatisfy(\.isASCII) else { return nil }
        var codePoint = initialCodePoint
        var index = 0
        var bias = initialBias
        var position = delimiter.map { $0 + 1 } ?? 0
        while position < text.count {
            guard let delta = number(in: text, at: &position, bias) else { return nil }
            let (sum, overflow) = index.addingReportingOverflow(delta)
            guard !overflow else { return nil }
            let length = output.count + 1
            bias = adapt(delta, length, isFirst: index == 0)
            let (next, isTooLarge) = codePoint.addingReportingOverflow(sum / length)
            guard !isTooLarge, let value = UInt32(exactly: next), let scalar = Unicode.Scalar(value) else {
                return nil
            }
            codePoint = next
            index = sum % length
            output.insert(scalar, at: index)
            index += 1
        }
        return output
    }

    /// Reads a number of variable length, whose digits determine its end; nil if it does not end or is too
    /// large.
    private static func number(in text: Span<UInt8>, at position: inout Int, _ bias: Int) -> Int? {
        var number = 0
        var weight = 1
        var step = base
        while position < text.count {
            guard let digit = digit(text[position]) else { return nil }
            position += 1
            let (product, overflow) = digit.multipliedReportingOverflow(by: weight)
            let (sum, carry) = number.addingReportingOverflow(product)
            guard !overflow, !carry else { return nil }
            number = sum
            let threshold = min(max(step - bias, smallestThreshold), largestThreshold)
            if digit < threshold { return number }
            let (next, isTooLarge) = weight.multipliedReportingOverflow(by: base - threshold)
            guard !isTooLarge else { return nil }
            weight = next
            step += base
        }
        return nil
    }

    private static func adapt(_ delta: Int, _ length: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / length
        var step = 0
        while delta > (base - smallestThreshold) * largestThreshold / 2 {
            delta /= base - smallestThreshold
            step += base
        }
        return step + (base - smallestThreshold + 1) * delta / (delta + skew)
    }

    /// `a` to `z` are 0 to 25, `0` to `9` are 26 to 35.
    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0")) + 26
        default: nil
        }
    }
}
