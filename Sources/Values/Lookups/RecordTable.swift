/// A table of byte records, found by a 64-bit hash. Each record has a fixed header and a text. Thousands of records share a few
/// arrays.
///
/// The table is a value. The upper bits of the hash assign records to shards, and a change to a copy copies only the changed
/// shards. Therefore a change to one of a million records is cheap while other readers use the old table. Within a shard, open
/// addressing leads from the hash to an offset in one array of bytes.
///
/// The table keeps all records with equal hashes; the caller distinguishes them by header and text.
struct RecordTable<Header: BitwiseCopyable & Sendable>: Sendable {
    /// The position of a record; valid until the table changes.
    struct Place: Sendable, Equatable {
        fileprivate let shard: Int
        fileprivate let offset: Int
    }

    private typealias Shard = RecordShard<Header>

    /// Small enough to copy a shard in about ten microseconds, and large enough to have few shards.
    private static var recordsPerShard: Int { 256 }

    private var shards: [Shard]
    private(set) var count = 0

    /// - Parameter expectedCount: The expected number of records; a wrong guess only costs time.
    init(expectedCount: Int = 0) {
        var shardCount = 1
        while shardCount * Self.recordsPerShard < expectedCount { shardCount *= 2 }
        shards = Array(repeating: Shard(), count: shardCount)
    }

    // MARK: Reading

    /// Returns the first non-nil result of the closure for a record of this hash.
    @inline(__always)
    func first<Found>(_ hash: UInt64, _ body: (Header, Span<UInt8>, Place) -> Found?) -> Found? {
        let index = shardIndex(hash)
        // A span borrows the shard. An array's element would be retained, and its reference count is not in the cache.
        return shards.span[index].first(hash) { header, text, offset in
            body(header, text, Place(shard: index, offset: offset))
        }
    }

    /// Passes a record to the closure.
    @inline(__always)
    func read<Result>(_ place: Place, _ body: (Header, Span<UInt8>) -> Result) -> Result {
        shards.span[place.shard].read(at: place.offset, body)
    }

    /// Passes every record to the closure, in no order.
    func forEach(_ body: (Header, Span<UInt8>) throws -> Void) rethrows {
        for shard in shards { try shard.forEach { try body($0.header, $1) } }
    }

    /// The size of the table in bytes.
    var memory: Int { shards.reduce(0) { $0 + $1.memory } }

    // MARK: Changing

    /// Adds a record whose text is the concatenation of two texts.
    mutating func insert(
        _ hash: UInt64, _ header: Header, _ text: Span<UInt8>, _ more: Span<UInt8> = Span()
    ) {
        if count >= shards.count * Self.recordsPerShard * 2 { spread() }
        let prefix = Shard.Prefix(hash: hash, header: header, textLength: UInt32(text.count + more.count))
        shards[shardIndex(hash)].insert(prefix, text, more)
        count += 1
    }

    /// Removes the first record of this hash for which the closure returns true; returns its header.
    @discardableResult
    mutating func remove(_ hash: UInt64, where isMeant: (Header, Span<UInt8>) -> Bool) -> Header? {
        let index = shardIndex(hash)
        let found = shards[index].first(hash) { header, text, offset in
            isMeant(header, text) ? (header: header, offset: offset) : nil
        }
        guard let found else { return nil }
        shards[index].remove(hash, at: found.offset)
        count -= 1
        return found.header
    }

    /// Removes every record for which the closure returns true.
    mutating func removeAll(where isMeant: (Header, Span<UInt8>) -> Bool) {
        for index in shards.indices {
            shards[index].rebuild(keeping: { !isMeant($0, $1) })
        }
        count = shards.reduce(0) { $0 + $1.count }
    }

    /// Replaces the header of the first record of this hash for which the closure returns a new one;
    /// returns whether there was one.
    mutating func update(_ hash: UInt64, _ change: (Header, Span<UInt8>) -> Header?) -> Bool {
        let index = shardIndex(hash)
        let found = shards[index].first(hash) { header, text, offset in
            change(header, text).map { (header: $0, offset: offset) }
        }
        guard let found else { return false }
        shards[index].replaceHeader(at: found.offset, by: found.header)
        return true
    }

    /// Releases memory that was reserved for growth.
    mutating func compact() {
        for index in shards.indices { shards[index].rebuild(keeping: { _, _ in true }) }
    }

    /// Doubles the number of shards.
    private mutating func spread() {
        let old = shards
        shards = Array(repeating: Shard(), count: old.count * 2)
        for shard in old {
            shard.forEach { prefix, text in
                shards[shardIndex(prefix.hash)].insert(prefix, text, Span())
            }
        }
    }

    @inline(__always)
    private func shardIndex(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash >> 40) & (shards.count - 1)
    }
}
