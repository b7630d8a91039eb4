extension Span<UInt8> {
    /// Returns the index of the first byte in a range that satisfies the condition, or the end of the
    /// range.
    func firstIndex(in range: Range<Int>, where isSought: (UInt8) -> Bool) -> Int {
        var index = range.lowerBound
        while index < range.upperBound, !isSought(self[index]) { index += 1 }
        return index
    }

    /// Returns the index of the first occurrence of a byte in a range, or the end of the range.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int {
        firstIndex(in: range) { $0 == byte }
    }

    func allSatisfy(_ isAllowed: (UInt8) -> Bool) -> Bool {
        firstIndex(in: indices) { !isAllowed($0) } == count
    }

    /// Whether the bytes from an index on are those of an ASCII text.
    func hasBytes(of text: StaticString, at start: Int) -> Bool {
        guard count - start >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { sought in
            sought.indices.allSatisfy { sought[$0] == self[start + $0] }
        }
    }
}
