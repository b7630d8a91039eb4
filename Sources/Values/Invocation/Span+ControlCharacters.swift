extension Span<UInt8> {
    /// Whether a control character of UTF-8 text begins at an index: U+0000 to U+001F and U+007F to U+009F.
    /// Unicode has no other control characters (general category Cc), and will not add any (stability policy).
    func isControlCharacter(at index: Int) -> Bool {
        switch self[index] {
        case 0x00...0x1F, 0x7F: true
        case 0xC2: index + 1 < count && (0x80...0x9F).contains(self[index + 1])
        default: false
        }
    }

    /// Whether UTF-8 text holds a control character.
    public var hasControlCharacter: Bool {
        indices.contains { isControlCharacter(at: $0) }
    }
}
