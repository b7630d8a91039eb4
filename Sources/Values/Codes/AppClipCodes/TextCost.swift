/// The estimated size of compressed text: a linear model with 116 coefficients.
///
/// The coefficients were fitted to sizes of made-up URLs, as a public re-implementation computes them. Each is what
/// the others left over, so that none is a property of Apple's tables by itself. [observed]
struct TextCost {
    /// In bits.
    private(set) var bits = 0.0

    /// The number of lower-case letters.
    private(set) var letters = 0

    /// The number of other characters; an escape is one. In the text of a host, all characters count here.
    private(set) var others = 0

    /// What a text begins with.
    enum Start {
        /// A path component, or all of path, query and fragment.
        case text
        /// The name of a query item.
        case name
        /// The value of a query item.
        case value
    }

    /// Which of the format's two tables compresses a text.
    enum Coder {
        /// Path, query and fragment as one text.
        case combined
        /// One path component, name or value.
        case segmented
    }

    init() {}

    func adding(bits more: Double) -> Self {
        var sum = self
        sum.bits += more
        return sum
    }

    static func + (a: Self, b: Self) -> Self {
        var sum = a
        sum.bits += b.bits
        sum.letters += b.letters
        sum.others += b.others
        return sum
    }

    // MARK: Hosts

    /// - Parameter hostText: The host in lower case, without its top-level domain if that is not spelled out.
    init(hostText: ArraySlice<UInt8>, hasPayload: Bool) {
        if Self.endsInSecondLevel(hostText) { bits -= 6.13 }
        var before: UInt8?
        var text = hostText
        if text.starts(with: "www.".utf8) {
            bits += 12.78
            text = text.dropFirst(4)
            before = UInt8(ascii: ".")
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                bits += 4.36 + Self.hostLetters[Int(byte - UInt8(ascii: "a"))] + Self.pair(before, byte)
                if before == UInt8(ascii: ".") { bits += 6.08 }
            case UInt8(ascii: "."): bits -= 0.97
            case UInt8(ascii: "-"): bits += 5.16
            case UInt8(ascii: "0")...UInt8(ascii: "9"): bits += 6.29
            default: break
            }
            others += 1
            before = byte
        }
        if hasPayload {
            bits += 5.13
            others += 1
        }
    }

    /// Whether the last label is one under which countries register names, such as the `co` of `co.uk`.
    private static func endsInSecondLevel(_ text: ArraySlice<UInt8>) -> Bool {
        guard let dot = text.lastIndex(of: UInt8(ascii: ".")), dot > text.startIndex else { return false }
        return secondLevel.contains(String(decoding: text[(dot + 1)...], as: UTF8.self))
    }

    private static let secondLevel: Set<String> = [
        "com", "co", "org", "net", "ac", "gov", "edu", "or", "ne", "go",
    ]

    // MARK: Path, query and fragment

    /// The kind of the character before the current one.
    private enum Kind {
        case start(Start)
        case lower
        case upper
        case digit
        case hash
        case other
    }

    /// - Parameter isClosed: Whether the mark of an end follows the text.
    init(
        _ text: ArraySlice<UInt8>, startingWith start: Start, _ coder: Coder, isClosed: Bool = false
    ) {
        var kind = Kind.start(start)
        var before: UInt8?
        var upperRun = 0
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            upperRun = byte.isUpper ? upperRun + 1 : 0
            if byte.isLower { letters += 1 } else { others += 1 }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                bits += 4.38 + Self.textLetters[Int(byte - UInt8(ascii: "a"))] + Self.pair(before, byte)
                bits += Self.lower(after: kind, coder)
                kind = .lower
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                bits += 7.05 + Self.digit(after: kind, coder)
                kind = .digit
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                bits += 12.20 + (upperRun > 2 ? -7.30 : 0)
                if case .digit = kind { bits -= 5.03 }
                kind = .upper
            case UInt8(ascii: "%"):
                bits += Self.escape(text[index...])
                // The two digits belong to the escape.
                index = min(index + 2, text.endIndex - 1)
                kind = .other
            default:
                bits += Self.mark(text[index...], after: kind, coder)
                kind = byte == UInt8(ascii: "#") ? .hash : .other
            }
            before = byte
            index += 1
        }
        if isClosed {
            bits += 3.48
            others += 1
        }
    }

    /// The addition for a lower-case letter.
    private static func lower(after kind: Kind, _ coder: Coder) -> Double {
        switch (kind, coder) {
        case (.digit, _): 4.29
        case (.lower, .combined): -0.27
        case (.start(.text), .combined): 1.03
        case (.start(.value), _): 2.30
        case (.hash, _): 5.36
        default: 0
        }
    }

    /// The addition for a digit.
    private static func digit(after kind: Kind, _ coder: Coder) -> Double {
        switch (kind, coder) {
        case (.digit, _): -3.27
        case (.lower, .combined): 4.02
        case (.start(.value), _): -1.75
        default: 0
        }
    }

    /// The size of an escape, which begins the text.
    private static func escape(_ text: ArraySlice<UInt8>) -> Double {
        guard let digit = text.dropFirst().first else { return 16.12 }
        let isASCII = !"89ABCDEFabcdef".utf8.contains(digit)
        return isASCII ? 16.12 : 10.70
    }

    /// The size of a character that is no letter and no digit, and begins the text.
    private static func mark(_ text: ArraySlice<UInt8>, after kind: Kind, _ coder: Coder) -> Double {
        switch (text.first, coder) {
        case (UInt8(ascii: "-"), _): return 2.48
        case (UInt8(ascii: "_"), _): return 5.51
        case (UInt8(ascii: "."), _):
            let isExtension = [".html", ".php"].contains { text.starts(with: $0.utf8) }
            var bits = 7.02 + (isExtension ? -12.70 : 0)
            if case (.lower, .segmented) = (kind, coder) { bits -= 5.98 }
            return bits
        case (UInt8(ascii: "/"), .combined): return 4.12
        case (UInt8(ascii: "?"), .combined): return 11.58
        case (UInt8(ascii: "="), .combined): return 6.67
        case (UInt8(ascii: "&"), .combined): return 11.69
        case (UInt8(ascii: "#"), .combined): return 13.74
        default: return 11.46
        }
    }

    // MARK: Letters

    /// The deviation for two adjacent lower-case letters.
    private static func pair(_ first: UInt8?, _ second: UInt8) -> Double {
        guard let first, first.isLower else { return 0 }
        return pairs[26 * Int(first - UInt8(ascii: "a")) + Int(second - UInt8(ascii: "a"))]
    }

    private static func table(_ deviations: [(Character, Double)]) -> [Double] {
        var table = Array(repeating: 0.0, count: 26)
        for (letter, bits) in deviations { table[index(of: letter)] = bits }
        return table
    }

    private static func index(of letter: Character) -> Int {
        Int((letter.asciiValue ?? 0) - UInt8(ascii: "a"))
    }

    private static let hostLetters = table([
        ("a", 0.55), ("c", -1.02), ("e", -0.95), ("j", 2.87), ("k", 1.65), ("q", 6.01), ("x", 1.47),
        ("z", 2.96),
    ])

    private static let textLetters = table([
        ("e", -1.31), ("f", 1.68), ("g", 1.24), ("k", 2.62), ("m", 1.21), ("p", 1.32), ("q", 5.53),
        ("s", -0.68),
        ("x", 3.97), ("z", 4.73),
    ])

    /// By first letter, then second.
    private static let pairs: [Double] = {
        var table = Array(repeating: 0.0, count: 26 * 26)
        for (pair, bits) in pairDeviations {
            let letters = Array(pair)
            table[26 * index(of: letters[0]) + index(of: letters[1])] = bits
        }
        return table
    }()

    private static let pairDeviations: [(String, Double)] = [
        ("ae", 6.35), ("ah", 3.52), ("al", -1.77), ("an", -2.20), ("ar", -2.61), ("at", -2.01), ("bi", 1.75),
        ("bl", -1.77), ("ca", -1.74), ("cc", 3.21), ("ck", -3.24), ("co", -2.88), ("ct", -3.80), ("ec", 2.32),
        ("ee", 1.66), ("ei", 2.42), ("er", -1.07), ("es", -1.57), ("ho", -1.52), ("ht", -5.80), ("ia", -1.84),
        ("id", -2.22), ("il", -2.21), ("in", -2.43), ("io", -4.04), ("iq", -5.89), ("it", -1.56),
        ("iv", -2.20),
        ("ke", -2.12), ("ks", -2.51), ("ln", 6.73), ("ma", -1.73), ("mp", -2.92), ("mu", -2.06),
        ("nd", -1.66),
        ("ng", -2.74), ("nt", -2.62), ("ny", 3.14), ("of", 2.58), ("ok", -1.64), ("on", -1.50), ("oo", -1.42),
        ("or", -1.48), ("pa", -1.77), ("pl", -2.58), ("pr", -2.24), ("qu", -6.42), ("ra", -1.59),
        ("rc", 2.64),
        ("ro", -1.37), ("sh", -1.55), ("sk", 2.25), ("st", -1.72), ("te", -0.86), ("tm", 2.69), ("tr", -1.64),
        ("ue", 1.93), ("ur", -1.60), ("we", 1.56), ("zz", -5.78),
    ]
}
