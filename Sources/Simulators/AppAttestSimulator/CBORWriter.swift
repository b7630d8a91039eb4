/// Writes CBOR (RFC 8949) as devices do, and invalid CBOR for tests.
enum CBORWriter {
    static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + Array(text.utf8) }

    static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }

    static func array(_ elements: [[UInt8]]) -> [UInt8] { head(4, elements.count) + elements.joined() }

    /// A map with its entries in the given order.
    static func map(_ entries: [(key: String, value: [UInt8])]) -> [UInt8] {
        head(5, entries.count) + entries.flatMap { text($0.key) + $0.value }
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        switch count {
        case ..<24: [kind << 5 | UInt8(count)]
        case ..<256: [kind << 5 | 24, UInt8(count)]
        default: [kind << 5 | 25, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        }
    }
}
