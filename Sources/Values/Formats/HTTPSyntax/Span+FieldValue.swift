/// The value of a header field, read byte by byte and each byte once: a caller can make it 16 KiB of separators.
extension Span<UInt8> {
    /// Visits the parts between separators, without surrounding blanks, until the closure returns false; it
    /// skips empty parts (RFC 9110 §5.6.1).
    package func forEachPart(separatedBy separator: UInt8, _ body: (Range<Int>) -> Bool) {
        var start = 0
        while start < count {
            var end = start
            while end < count, self[end] != separator { end += 1 }
            let part = trimmingBlanks(start..<end)
            guard part.isEmpty || body(part) else { return }
            start = end + 1
        }
    }

    /// A range without the spaces and tabs at its ends.
    package func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }

    package func isEqual(to text: String) -> Bool {
        let text = text.utf8.span
        guard count == text.count else { return false }
        for index in 0..<count where self[index] != text[index] { return false }
        return true
    }

    /// - Parameter text: lower-case ASCII.
    package func isEqualIgnoringCase(to text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in 0..<count where self[index].lowercased != text[index] { return false }
            return true
        }
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// OWS of RFC 9110 §5.6.3.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
