/// Sorted pairs of numbers, in chunks of a few hundred pairs.
///
/// The type is a value: a change to a copy copies the changed chunk, and shares the others. A pair may occur more than once.
struct OrderedPairs: Sendable {
    struct Pair: BitwiseCopyable, Sendable {
        let first: UInt64
        let second: UInt64

        @inline(__always)
        static func < (one: Self, other: Self) -> Bool {
            one.first < other.first || (one.first == other.first && one.second < other.second)
        }
    }

    /// The chunks; none is empty.
    private var chunks: [[Pair]] = []
    /// The first pair of each chunk, so that finding a chunk reads no chunk.
    private var starts: [Pair] = []
    /// Pairs that are not in the chunks yet, in no order.
    private var gathered: [Pair] = []
    private(set) var count = 0

    private static var longestChunk: Int { 512 }
    /// The size below which a chunk is joined to the next, if that leaves room to grow.
    private static var shortChunk: Int { 128 }

    /// The size of the pairs in bytes.
    var memory: Int {
        chunks.reduce(0) { $0 + Self.arrayHeader + $1.capacity * MemoryLayout<Pair>.stride }
            + chunks.capacity * MemoryLayout<[Pair]>.stride
            + (starts.capacity + gathered.capacity) * MemoryLayout<Pair>.stride
    }

    private static var arrayHeader: Int { 32 }

    /// Visits the pairs whose first number is in a range, in order, until the closure returns false.
    @inline(__always)
    func forEach(in range: ClosedRange<UInt64>, _ body: (Pair) -> Bool) {
        if gathered.isEmpty { return visit(range, body) }
        var settled = self
        settled.settle()
        settled.visit(range, body)
    }

    @inline(__always)
    private func visit(_ range: ClosedRange<UInt64>, _ body: (Pair) -> Bool) {
        var (index, offset) = position(of: Pair(first: range.lowerBound, second: 0))
        while index < chunks.count {
            let chunk = chunks[index]
            while offset < chunk.count {
                guard chunk[offset].first <= range.upperBound, body(chunk[offset]) else { return }
                offset += 1
            }
            index += 1
            offset = 0
        }
    }

    /// Adds a pair, which ``settle()`` sorts in together with others. Reads before that are correct but slow.
    mutating func gather(_ pair: Pair) {
        gathered.append(pair)
        count += 1
    }

    /// Sorts the gathered pairs in.
    mutating func settle() {
        guard !gathered.isEmpty else { return }
        let pairs = gathered
        gathered = []
        if pairs.count * 8 < count {
            count -= pairs.count
            for pair in pairs { insert(pair) }
        } else {
            spread((chunks.flatMap(\.self) + pairs).sorted(by: <))
        }
    }

    mutating func insert(_ pair: Pair) {
        settle()
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[pair]]
            starts = [pair]
            return
        }
        let (index, offset) = position(of: pair)
        chunks[index].insert(pair, at: offset)
        if offset == 0 { starts[index] = pair }
        let length = chunks[index].count
        guard length > Self.longestChunk else { return }
        let upper = Array(chunks[index][(length / 2)...])
        chunks[index] = Array(chunks[index][..<(length / 2)])
        chunks.insert(upper, at: index + 1)
        starts.insert(upper[0], at: index + 1)
    }

    /// Removes the pair once; does nothing if it is missing.
    mutating func remove(_ pair: Pair) {
        settle()
        var (index, offset) = position(of: pair)
        if index < chunks.count, offset == chunks[index].count { (index, offset) = (index + 1, 0) }
        guard index < chunks.count, !(pair < chunks[index][offset]) else { return }
        count -= 1
        chunks[index].remove(at: offset)
        if chunks[index].isEmpty {
            chunks.remove(at: index)
            starts.remove(at: index)
            return
        }
        starts[index] = chunks[index][0]
        guard chunks[index].count < Self.shortChunk, index + 1 < chunks.count,
            chunks[index].count + chunks[index + 1].count <= Self.longestChunk * 3 / 4
        else { return }
        chunks[index] += chunks[index + 1]
        chunks.remove(at: index + 1)
        starts.remove(at: index + 1)
    }

    /// Releases memory that was reserved for growth.
    mutating func compact() {
        settle()
        spread(chunks.flatMap(\.self))
    }

    /// - Parameter pairs: All existing pairs, sorted.
    private mutating func spread(_ pairs: [Pair]) {
        chunks = stride(from: 0, to: pairs.count, by: Self.longestChunk).map {
            Array(pairs[$0..<min($0 + Self.longestChunk, pairs.count)])
        }
        starts = chunks.map { $0[0] }
    }

    /// The position of the first pair that is not less than the given pair, or the insertion point in the last chunk that begins
    /// before it.
    @inline(__always)
    private func position(of pair: Pair) -> (chunk: Int, offset: Int) {
        let index = max(0, Self.countOfLess(than: pair, in: starts) - 1)
        guard index < chunks.count else { return (0, 0) }
        return (index, Self.countOfLess(than: pair, in: chunks[index]))
    }

    @inline(__always)
    private static func countOfLess(than pair: Pair, in pairs: [Pair]) -> Int {
        var (low, high) = (0, pairs.count)
        while low < high {
            let middle = low + (high - low) / 2
            if pairs[middle] < pair { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
