/// Strings by their UTF-8 bytes, which distinguish texts that `==` and `<` treat as equal: `"é"` composed
/// and decomposed.
extension String {
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && order(relativeTo: other) == 0
    }

    func precedesInBytes(_ other: String) -> Bool {
        order(relativeTo: other) < 0
    }

    /// Below, equal to or above zero, as the bytes sort before, equal to or after the other's.
    private func order(relativeTo other: String) -> Int {
        withBytes { bytes in
            other.withBytes { otherBytes in
                let shared = min(bytes.count, otherBytes.count)
                var index = 0
                while index < shared, bytes[index] == otherBytes[index] { index += 1 }
                return index < shared
                    ? Int(bytes[index]) - Int(otherBytes[index]) : bytes.count - otherBytes.count
            }
        }
    }

    /// Lends the bytes.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.span.withUnsafeBufferPointer(body)
    }
}
