import Formats
import PropertyTesting

/// Makes random values with strings and numbers that are hard to get right.
struct RandomJSON {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func value(depth: Int) -> JSONValue {
        switch generator.below(depth < 4 ? 8 : 6) {
        case 0: .null
        case 1: .bool(generator.oneIn(2))
        case 2, 3: .number(number())
        case 4, 5: .string(string())
        case 6: .array((0..<generator.below(4)).map { _ in value(depth: depth + 1) })
        default: .object(object(depth: depth))
        }
    }

    private mutating func object(depth: Int) -> JSONObject {
        var object = JSONObject()
        for _ in 0..<generator.below(5) {
            object[string()] = value(depth: depth + 1)
        }
        return object
    }

    private static let pieces = [
        "", "a", "A", "0", " ", "\"", "\\", "\\u0041", "/", "\u{0}", "\u{1}", "\u{8}", "\u{C}", "\n", "\r\n",
        "\t", "\u{1F}", "\u{7F}", "\u{80}", "é", "e\u{301}", "\u{7FF}", "\u{800}", "€", "\u{D7FF}",
        "\u{E000}",
        "\u{FEFF}", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "\u{1F600}", "👩‍👩‍👧", "\u{10FFFF}", "\u{2028}",
        "\u{202E}", "{", "[", "null",
    ]

    private mutating func string() -> String {
        (0..<generator.below(4)).map { _ in Self.pieces[generator.below(Self.pieces.count)] }.joined()
    }

    private mutating func number() -> JSONNumber {
        switch generator.below(3) {
        case 0:
            return JSONNumber(Int(truncatingIfNeeded: generator.next()) >> generator.below(64))
        case 1:
            return JSONNumber(Double(bitPattern: generator.next())) ?? JSONNumber(0)
        default:
            return JSONNumber(literal: literal()) ?? JSONNumber(0)
        }
    }

    /// A text that the grammar of numbers allows, though it may be beyond a double.
    private mutating func literal() -> String {
        var text = generator.oneIn(2) ? "-" : ""
        text += generator.oneIn(3) ? "0" : "\(1 + generator.below(9))\(generator.next())"
        if generator.oneIn(2) {
            text += ".\(String(repeating: "0", count: generator.below(3)))\(generator.next())"
        }
        if generator.oneIn(3) {
            text += (generator.oneIn(2) ? "e" : "E") + ["", "+", "-"][generator.below(3)]
            text += "\(generator.below(400))"
        }
        return text
    }
}
