extension String {
    /// Whether the text begins or ends with a blank or an invisible character, such as a zero-width space.
    public var hasInvisibleEdge: Bool {
        // Almost all texts begin and end with a visible character of ASCII.
        if let first = utf8.first, let last = utf8.last, first.isVisibleASCII, last.isVisibleASCII {
            return false
        }
        return unicodeScalars.first?.isInvisible == true || unicodeScalars.last?.isInvisible == true
    }

    /// Whether the text has no visible character.
    public var isBlank: Bool {
        if let first = utf8.first, first.isVisibleASCII { return false }
        return unicodeScalars.allSatisfy(\.isInvisible)
    }

    /// The text without blanks and invisible characters at its edges.
    public var trimmingInvisibleEdges: Substring {
        guard let first = unicodeScalars.firstIndex(where: { !$0.isInvisible }),
            let last = unicodeScalars.lastIndex(where: { !$0.isInvisible })
        else { return "" }
        return self[first...last]
    }
}

extension UInt8 {
    fileprivate var isVisibleASCII: Bool { self > 0x20 && self < 0x7F }
}

extension Unicode.Scalar {
    /// Whether the character is invisible. Variation selectors do not count, because an emoji may end with one. The zero-width joiner
    /// counts: within an emoji, it is never at an edge of the text.
    fileprivate var isInvisible: Bool {
        if properties.isWhitespace { return true }
        return switch value {
        case 0xAD, 0x115F, 0x1160, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0x2800, 0x3164,
            0xFEFF,
            0xFFA0:
            true
        default: false
        }
    }
}
