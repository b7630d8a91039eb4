import Invocation

/// The identifier rules of all experiences, by number.
///
/// The last experience with a rule removes the rule. Its number can then be used again. Like experiences, the rules are stored in
/// parts, so that a change to a copy copies few of them.
struct RuleTable: Sendable {
    struct Entry {
        let rule: IdentifierRule
        /// The hash of the rule's text.
        let hash: UInt64

        static let unused = Entry(rule: .path(1), hash: 0)
    }

    private let seed: UInt64
    private(set) var entries = ChunkedArray<Entry>()
    /// The numbers by the bytes of the rule's text, because `String` compares composed and decomposed characters as equal.
    private var numbers = RecordTable<UInt32>()
    private(set) var uses = UseCounts()

    /// - Parameter seed: The seed of the hashes of texts, which tenants choose.
    init(seed: UInt64) {
        self.seed = seed
    }

    /// The number of rules.
    var count: Int { numbers.count }
    /// The number of rules and of unused numbers.
    var capacity: Int { entries.count }

    subscript(number: Int) -> IdentifierRule {
        @inline(__always) get { entries[number].rule }
    }

    /// Adds an experience with a rule; returns the rule's number, or nil if the text is not a rule.
    mutating func add(_ text: String) -> UInt32? {
        let utf8 = text.utf8
        let bytes = utf8.span
        var hashed = ByteHash(seed: seed)
        hashed.combine(bytes)
        let hash = hashed.value
        let known = numbers.first(hash) { number, text, _ in text.isEqual(to: bytes) ? number : nil }
        if let known {
            uses.add(known)
            return known
        }
        guard let rule = try? IdentifierRule(text) else { return nil }
        let number = uses.unusedNumber()
        let entry = Entry(rule: rule, hash: hash)
        if Int(number) < entries.count { entries[Int(number)] = entry } else { entries.append(entry) }
        numbers.insert(hash, number, bytes)
        uses.add(number)
        return number
    }

    /// Removes experiences with a rule.
    mutating func remove(_ number: UInt32, count: UInt32 = 1) {
        uses.remove(number, count: count)
        guard !uses.isUsed(number) else { return }
        numbers.remove(entries[Int(number)].hash) { known, _ in known == number }
        entries[Int(number)] = .unused
        uses.release(number)
        if numbers.count == 0 { self = Self(seed: seed) }
    }
}

/// The number of experiences that use each number, and the numbers that can be used again.
struct UseCounts: Sendable {
    /// Of a number that can be used again: the next such number, or `UInt32.max`.
    private(set) var counts = ChunkedArray<UInt32>()
    private var firstUnused = UInt32.max

    /// Returns a released number, or the next one.
    mutating func unusedNumber() -> UInt32 {
        guard firstUnused != .max else {
            counts.append(0)
            return UInt32(counts.count - 1)
        }
        let number = firstUnused
        firstUnused = counts[Int(number)]
        counts[Int(number)] = 0
        return number
    }

    func isUsed(_ number: UInt32) -> Bool { counts[Int(number)] > 0 }

    mutating func add(_ number: UInt32) { counts[Int(number)] += 1 }

    mutating func remove(_ number: UInt32, count: UInt32) { counts[Int(number)] -= count }

    /// Makes an unused number available again. Until ``unusedNumber()`` returns it, nothing may ask for its uses.
    mutating func release(_ number: UInt32) {
        counts[Int(number)] = firstUnused
        firstUnused = number
    }
}
