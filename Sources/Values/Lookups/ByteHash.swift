/// A fast hash of byte strings with a secret seed: collisions cannot be constructed without the seed.
///
/// It combines words one after another, with the two halves of a 128-bit product. If two hashes are equal, callers also compare the
/// values.
package struct ByteHash {
    package private(set) var value: UInt64

    private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init(seed: UInt64) {
        value = seed
    }

    mutating func combine(_ word: UInt64) {
        let product = (value ^ word).multipliedFullWidth(by: Self.multiplier)
        value = product.high ^ product.low
    }

    package mutating func combine(_ bytes: Span<UInt8>) {
        let raw = bytes.bytes
        let count = raw.byteCount
        var offset = 0
        while count - offset >= 8 {
            combine(raw.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest = UInt64(truncatingIfNeeded: count)
        while offset < count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        combine(rest)
    }

    func combined(with word: UInt64) -> UInt64 {
        var hash = self
        hash.combine(word)
        return hash.value
    }
}

extension Span<UInt8> {
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let (mine, theirs) = (bytes, other.bytes)
        var offset = 0
        while count - offset >= 8 {
            guard
                mine.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == theirs.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset += 8
        }
        while offset < count {
            guard self[offset] == other[offset] else { return false }
            offset += 1
        }
        return true
    }

    func isEqual(to text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        for (index, byte) in text.utf8.enumerated() where self[index] != byte { return false }
        return true
    }
}
