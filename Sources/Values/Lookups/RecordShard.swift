/// A few hundred records of a ``RecordTable``, and the slots of their hash table.
struct RecordShard<Header: BitwiseCopyable & Sendable>: Sendable {
    /// The bytes before a record's text.
    struct Prefix: BitwiseCopyable {
        let hash: UInt64
        var header: Header
        let textLength: UInt32

        static var length: Int { MemoryLayout<Self>.size }
    }

    /// An empty slot is 0. Other slots contain 32 bits of the hash and, in the lower half, the record's offset plus 1.
    private var slots: [UInt64] = []
    /// The number of slots minus one. The number is a power of two. The mask is stored here, because reading the array's count
    /// would be an additional memory access in each search.
    private var mask = -1
    /// The records one after another: prefix and text.
    private var bytes: [UInt8] = []
    /// The number of records that are not removed.
    private(set) var count = 0
    /// The number of slots of removed records, at which a search must continue.
    private var removedSlots = 0
    private var removedBytes = 0

    /// The size of the shard in bytes.
    var memory: Int { MemoryLayout<Self>.stride + bytes.capacity + slots.capacity * 8 }

    // MARK: Reading

    @inline(__always)
    func first<Found>(_ hash: UInt64, _ body: (Header, Span<UInt8>, Int) -> Found?) -> Found? {
        guard mask >= 0 else { return nil }
        let slots = slots.span
        var position = Int(truncatingIfNeeded: hash) & mask
        while slots[position] != 0 {
            let slot = slots[position]
            position = (position + 1) & mask
            guard slot >> 32 == Self.tag(hash), let offset = Self.offset(slot) else { continue }
            let prefix = prefix(at: offset)
            guard prefix.hash == hash else { continue }
            let text = bytes.span.extracting(textRange(of: prefix, at: offset))
            if let found = body(prefix.header, text, offset) { return found }
        }
        return nil
    }

    @inline(__always)
    func read<Result>(at offset: Int, _ body: (Header, Span<UInt8>) -> Result) -> Result {
        let prefix = prefix(at: offset)
        return body(prefix.header, bytes.span.extracting(textRange(of: prefix, at: offset)))
    }

    func forEach(_ body: (Prefix, Span<UInt8>) throws -> Void) rethrows {
        for slot in slots {
            guard let offset = Self.offset(slot) else { continue }
            let prefix = prefix(at: offset)
            try body(prefix, bytes.span.extracting(textRange(of: prefix, at: offset)))
        }
    }

    @inline(__always)
    private func prefix(at offset: Int) -> Prefix {
        bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Prefix.self)
    }

    @inline(__always)
    private func textRange(of prefix: Prefix, at offset: Int) -> Range<Int> {
        let start = offset + Prefix.length
        return start..<start + Int(prefix.textLength)
    }

    // MARK: Changing

    mutating func insert(_ prefix: Prefix, _ text: Span<UInt8>, _ more: Span<UInt8>) {
        if (count + removedSlots + 1) * 4 > slots.count * 3 {
            rehash(slotCount: max(8, (count + 1) * 2 > slots.count ? slots.count * 2 : slots.count))
        }
        let offset = bytes.count
        let length = Prefix.length + text.count + more.count
        if offset + length > bytes.capacity {
            // Grows by a quarter: doubling would leave half of the memory unused.
            bytes.reserveCapacity(max(offset + length, offset + offset / 4))
        }
        withUnsafeBytes(of: prefix) { bytes.append(contentsOf: $0[..<Prefix.length]) }
        text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        more.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        place(prefix.hash, at: offset)
        count += 1
    }

    private mutating func place(_ hash: UInt64, at offset: Int) {
        var position = Int(truncatingIfNeeded: hash) & mask
        while slots[position] != 0 { position = (position + 1) & mask }
        slots[position] = Self.tag(hash) << 32 | UInt64(offset + 1)
    }

    mutating func remove(_ hash: UInt64, at offset: Int) {
        var position = Int(truncatingIfNeeded: hash) & mask
        while Self.offset(slots[position]) != offset { position = (position + 1) & mask }
        slots[position] = Self.removed
        let prefix = prefix(at: offset)
        count -= 1
        removedSlots += 1
        removedBytes += Prefix.length + Int(prefix.textLength)
        if removedBytes * 2 > bytes.count { rebuild(keeping: { _, _ in true }) }
    }

    mutating func replaceHeader(at offset: Int, by header: Header) {
        var prefix = prefix(at: offset)
        prefix.header = header
        bytes.withUnsafeMutableBytes { bytes in
            withUnsafeBytes(of: prefix) { source in
                bytes[offset..<offset + Prefix.length].copyBytes(from: source[..<Prefix.length])
            }
        }
    }

    private mutating func rehash(slotCount: Int) {
        let old = slots
        slots = Array(repeating: 0, count: slotCount)
        mask = slotCount - 1
        removedSlots = 0
        for slot in old {
            guard let offset = Self.offset(slot) else { continue }
            let hash = bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            place(hash, at: offset)
        }
    }

    /// Rebuilds the shard without removed records and without spare memory.
    mutating func rebuild(keeping isKept: (Header, Span<UInt8>) -> Bool) {
        var kept = 0
        var length = 0
        forEach { prefix, text in
            guard isKept(prefix.header, text) else { return }
            kept += 1
            length += Prefix.length + text.count
        }
        var rebuilt = Self()
        rebuilt.bytes.reserveCapacity(length)
        var slotCount = 8
        while slotCount * 3 < kept * 4 { slotCount *= 2 }
        if kept > 0 {
            rebuilt.slots = Array(repeating: 0, count: slotCount)
            rebuilt.mask = slotCount - 1
        }
        forEach { prefix, text in
            if isKept(prefix.header, text) { rebuilt.insert(prefix, text, Span()) }
        }
        self = rebuilt
    }

    // MARK: Slots

    private static var removed: UInt64 { UInt64(UInt32.max) }

    /// Bits that select neither the shard (in a table of up to sixteen million records) nor the slot in the shard.
    @inline(__always)
    private static func tag(_ hash: UInt64) -> UInt64 {
        (hash >> 8) & 0xFFFF_FFFF
    }

    @inline(__always)
    private static func offset(_ slot: UInt64) -> Int? {
        let low = slot & 0xFFFF_FFFF
        return low == 0 || low == removed ? nil : Int(low) - 1
    }
}
