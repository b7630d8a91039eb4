import PropertyTesting
import Testing

@testable import Lookups

@Suite struct OrderedPairsTests {
    private typealias Pair = OrderedPairs.Pair

    private static func list(
        _ pairs: OrderedPairs, in range: ClosedRange<UInt64> = 0...(.max), atMost limit: Int = .max
    ) -> [[UInt64]] {
        var list: [[UInt64]] = []
        guard limit > 0 else { return list }
        pairs.forEach(in: range) { pair in
            list.append([pair.first, pair.second])
            return list.count < limit
        }
        return list
    }

    /// With few numbers, pairs repeat and fill whole chunks. With many numbers, chunks split and merge.
    @Test(arguments: [3, 40, 1_000_000]) func pairsMatchReferenceAfterRandomHistory(numbers: Int) {
        var random = SplitMix64(seed: UInt64(numbers))
        var pairs = OrderedPairs()
        var rows: [[UInt64]] = []
        var copies: [(OrderedPairs, [[UInt64]])] = []
        for step in 0..<12_000 {
            // The set grows, shrinks to few pairs, and grows again.
            let grows = step < 5_000 || step >= 10_000 ? 8 : 3
            if random.below(10) < grows || rows.isEmpty {
                let row = [UInt64(random.below(numbers)), UInt64(random.below(3))]
                let pair = Pair(first: row[0], second: row[1])
                if random.oneIn(2) { pairs.gather(pair) } else { pairs.insert(pair) }
                rows.append(row)
            } else if random.oneIn(10) {
                pairs.remove(Pair(first: UInt64(numbers), second: UInt64(random.below(3))))
            } else {
                let row = rows.remove(at: random.below(rows.count))
                pairs.remove(Pair(first: row[0], second: row[1]))
            }
            if random.oneIn(2_000) { pairs.compact() }
            if random.oneIn(20) { pairs.settle() }
            guard step % 500 == 0 else { continue }
            rows.sort { $0.lexicographicallyPrecedes($1) }
            #expect(pairs.count == rows.count)
            #expect(Self.list(pairs) == rows)
            let (one, other) = (UInt64(random.below(numbers)), UInt64(random.below(numbers)))
            let range = min(one, other)...max(one, other)
            let limit = random.below(40)
            let expected = Array(rows.filter { range.contains($0[0]) }.prefix(limit))
            #expect(Self.list(pairs, in: range, atMost: limit) == expected)
            copies.append((pairs, rows))
        }
        for (copy, rows) in copies { #expect(Self.list(copy) == rows) }
        for row in rows { pairs.remove(Pair(first: row[0], second: row[1])) }
        #expect(pairs.count == 0 && Self.list(pairs) == [])
    }

    /// All pairs at once into an empty set, many more than it has, and few among many.
    @Test(arguments: [(0, 5_000), (100, 5_000), (5_000, 100)])
    func gatheredPairsAreFoundBeforeAndAfterSettling(inserted: Int, gathered: Int) {
        var random = SplitMix64(seed: UInt64(inserted))
        var pairs = OrderedPairs()
        var rows: [[UInt64]] = []
        for index in 0..<inserted + gathered {
            let row = [UInt64(random.below(1_000)), UInt64(random.below(3))]
            let pair = Pair(first: row[0], second: row[1])
            if index < inserted { pairs.insert(pair) } else { pairs.gather(pair) }
            rows.append(row)
        }
        rows.sort { $0.lexicographicallyPrecedes($1) }
        #expect(Self.list(pairs) == rows && pairs.count == rows.count)
        pairs.settle()
        #expect(Self.list(pairs) == rows && pairs.count == rows.count)
    }

    /// A pair takes little more than 16 bytes.
    @Test func memoryPerPairIsSmall() {
        var pairs = OrderedPairs()
        for number in 0..<100_000 as Range<UInt64> {
            pairs.insert(Pair(first: number &* 0x9E37_79B9_7F4A_7C15, second: number))
        }
        #expect(pairs.memory < 100_000 * 32)
        pairs.compact()
        #expect(pairs.memory < 100_000 * 17)
    }

    @Test func heapPopsSmallestFirst() {
        var random = SplitMix64(seed: 2)
        var heap = Heap<Int>()
        var numbers: [Int] = []
        for _ in 0..<3_000 {
            if random.oneIn(3) {
                numbers.sort()
                #expect(heap.popLeast() == (numbers.isEmpty ? nil : numbers.removeFirst()))
            } else {
                numbers.append(random.below(100))
                heap.insert(numbers[numbers.count - 1])
            }
        }
        for number in numbers.sorted() { #expect(heap.popLeast() == number) }
        #expect(heap.popLeast() == nil)
    }
}
