import Administration
import Lookups
import PropertyTesting
import Testing

/// Searches for names with a typo.
@Suite struct LocationTextTests {
    /// The distance of two texts in edits: replaced, inserted and deleted bytes, and exchanged neighbours.
    private static func distance(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Int {
        let (one, other) = (Array(one), Array(other))
        var rows = [Array(0...other.count)]
        for row in 1...max(one.count, 1) where !one.isEmpty {
            var next = [row]
            for column in other.indices.map({ $0 + 1 }) {
                let isSame = one[row - 1] == other[column - 1]
                var best = min(
                    rows[row - 1][column] + 1, next[column - 1] + 1,
                    rows[row - 1][column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    best = min(best, rows[row - 2][column - 2] + 1)
                }
                next.append(best)
            }
            rows.append(next)
        }
        return rows[one.count][other.count]
    }

    /// Whether the text is within one edit of a text that begins at a word of the name.
    private static func isExpected(_ text: String, in name: String) -> Bool {
        let (text, name) = (Array(text.utf8), Array(name.utf8))
        return name.indices.contains { start in
            guard name[start] != UInt8(ascii: " "), start == 0 || name[start - 1] == UInt8(ascii: " ") else {
                return false
            }
            return (start...name.count).contains { distance(text[...], name[start..<$0]) <= 1 }
        }
    }

    private static func finds(_ text: String, in name: String) -> Bool {
        LocationText(text).nearlyFinds(name.utf8.span)
    }

    /// Few letters, so that many texts are nearly in the names.
    @Test func typosAreFoundAsByEditDistance() {
        var random = SplitMix64(seed: 43)
        func word(_ lengths: ClosedRange<Int>) -> String {
            String(
                (0..<Int.random(in: lengths, using: &random)).map { _ in "abc".randomElement(using: &random)!
                })
        }
        var found = 0
        for _ in 0..<5_000 {
            let name = (0..<Int.random(in: 1...3, using: &random)).map { _ in word(1...6) }.joined(
                separator: " ")
            let text = Bool.random(using: &random) ? word(4...7) : word(2...3) + " " + word(1...4)
            let isFound = Self.finds(text, in: name)
            #expect(isFound == Self.isExpected(text, in: name), "\(text) in \(name)")
            if isFound { found += 1 }
        }
        #expect(found > 250)
    }

    @Test(arguments: [
        ("tablewise londn", "Tablewise London", true), ("TABELWISE", "Tablewise London", true),
        ("lodnon", "Tablewise London", true), ("london", "Tablewise London", true),
        ("zurich", "Café Zürich", true), ("cafe zurihc", "Café Zürich", true),
        ("İstanbul", "Istanbul 2", true),
        ("ondon", "Tablewise London", true), ("ndon", "Tablewise London", false),
        ("Мсква", "Кафе Москва", true), ("мосвка", "Кафе Москва", true), ("東京", "東亭 1", false),
        // Two wrong letters, and texts that are too short.
        ("lindun", "Tablewise London", false), ("lon", "Tablewise London", false), ("", "London", false),
    ])
    func typoIsFound(text: String, name: String, isFound: Bool) {
        #expect(Self.finds(text, in: name) == isFound)
    }
}
