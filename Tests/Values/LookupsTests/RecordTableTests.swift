import PropertyTesting
import Testing
import ValueFixtures

@testable import Lookups

@Suite struct RecordTableTests {
    /// A history that is long enough to split shards, with so few hashes that many records share one.
    struct History: Sendable, CustomTestStringConvertible {
        let expectedCount: Int
        let names: Int
        let hashes: Int
        let steps: Int

        var testDescription: String { "\(names) names, \(hashes) hashes, \(expectedCount) expected" }
    }

    private typealias Table = RecordTable<UInt32>

    /// Names of records. Each record has a hash and a text of unique length.
    private struct Names {
        let hashes: [UInt64]
        let texts: [[UInt8]]

        init(count: Int, hashCount: Int, _ random: inout SplitMix64) {
            let all = (0..<hashCount).map { _ in random.next() }
            hashes = (0..<count).map { all[$0 % hashCount] }
            texts = (0..<count).map { name in
                Array("\(name)".utf8) + Array(repeating: UInt8(ascii: "."), count: name % 40)
            }
        }
    }

    /// The records of a table by their text, which is unique.
    private static func contents(of table: Table) throws -> [[UInt8]: UInt32] {
        var found: [[UInt8]: UInt32] = [:]
        var count = 0
        table.forEach { header, text in
            found[Array(copying: text)] = header
            count += 1
        }
        #expect(count == found.count)
        #expect(count == table.count)
        return found
    }

    private static func lookUp(_ name: Int, in table: Table, _ names: Names) -> UInt32? {
        let text = names.texts[name]
        return table.first(names.hashes[name]) { header, found, place in
            guard found.isEqual(to: text.span) else { return nil }
            return table.read(place) { again, _ in again == header ? header : nil }
        }
    }

    @Test(arguments: [
        History(expectedCount: 0, names: 200, hashes: 200, steps: 20_000),
        History(expectedCount: 0, names: 300, hashes: 5, steps: 10_000),
        History(expectedCount: 1_000, names: 3_000, hashes: 1_500, steps: 40_000),
        History(expectedCount: 0, names: 20_000, hashes: 19_000, steps: 50_000),
    ])
    func tableBehavesLikeDictionary(_ history: History) throws {
        var random = SplitMix64(seed: UInt64(history.names))
        let names = Names(count: history.names, hashCount: history.hashes, &random)
        var table = Table(expectedCount: history.expectedCount)
        var expected: [Int: UInt32] = [:]
        var copies: [(table: Table, expected: [Int: UInt32])] = []

        func check(_ table: Table, _ expected: [Int: UInt32]) throws {
            var byText: [[UInt8]: UInt32] = [:]
            for (name, header) in expected { byText[names.texts[name]] = header }
            #expect(try Self.contents(of: table) == byText)
        }

        for step in 0..<history.steps {
            let name = random.below(history.names)
            let hash = names.hashes[name]
            let text = names.texts[name]
            let header = UInt32(truncatingIfNeeded: random.next())
            switch random.below(8) {
            case 0...3:
                if expected[name] == nil {
                    let middle = text.count / 2
                    table.insert(
                        hash, header, text.span.extracting(..<middle), text.span.extracting(middle...))
                    expected[name] = header
                }
            case 4...5:
                let removed = table.remove(hash) { _, found in found.isEqual(to: text.span) }
                #expect(removed == expected.removeValue(forKey: name))
            case 6:
                let isUpdated = table.update(hash) { _, found in found.isEqual(to: text.span) ? header : nil }
                #expect(isUpdated == (expected[name] != nil))
                if isUpdated { expected[name] = header }
            default:
                #expect(Self.lookUp(name, in: table, names) == expected[name])
            }
            guard step % (history.steps / 10) == history.steps / 10 - 1 else { continue }
            try check(table, expected)
            copies.append((table, expected))
            switch copies.count % 3 {
            case 0:
                let limit = UInt32(truncatingIfNeeded: random.next())
                table.removeAll { header, _ in header < limit }
                expected = expected.filter { $0.value >= limit }
            case 1: table.compact()
            default: break
            }
        }
        try check(table, expected)
        for copy in copies { try check(copy.table, copy.expected) }
        for name in 0..<history.names { #expect(Self.lookUp(name, in: table, names) == expected[name]) }
    }

    @Test func emptyTextsAreStored() {
        var table = Table()
        table.insert(0, 1, Span())
        table.insert(0, 2, Span())
        #expect(table.first(0) { header, text, _ in text.isEmpty && header == 2 ? header : nil } == 2)
        #expect(table.remove(0) { _, _ in true } == 1)
        #expect(table.remove(0) { _, _ in true } == 2)
        #expect(table.remove(0) { _, _ in true } == nil)
        #expect(table.count == 0)
    }

    @Test func changeToCopyLeavesOriginalUnchanged() {
        var original = Table()
        let text = Array("text".utf8)
        original.insert(7, 1, text.span)
        var copy = original
        #expect(copy.update(7) { _, _ in 2 })
        copy.insert(7, 3, text.span)
        #expect(original.count == 1)
        #expect(original.first(7) { header, _, _ in header } == 1)
        original.removeAll { _, _ in true }
        #expect(original.count == 0)
        #expect(copy.count == 2)
        #expect(copy.first(7) { header, _, _ in header } == 2)
    }

    /// Memory depends on the current records, not on the number of changes.
    @Test func memoryFollowsCurrentContents() {
        var table = Table()
        let text = Array(repeating: UInt8(ascii: "x"), count: 100)
        for number in 0..<20_000 as Range<UInt64> {
            table.insert(number &* 0x9E37_79B9_7F4A_7C15, 0, text.span)
            if number >= 50 {
                table.remove((number - 50) &* 0x9E37_79B9_7F4A_7C15) { _, _ in true }
            }
        }
        #expect(table.count == 50)
        #expect(table.memory < 50 * 1_000)
        table.removeAll { _, _ in true }
        table.compact()
        #expect(table.memory < 1_000)
    }
}
