import Invocation

/// The identifier rules of all experiences, by number.
///
/// The last experience with a rule removes the rule. Its number can then be used again.
struct RuleTable: Sendable {
    private struct Entry {
        let rule: IdentifierRule
        let text: [UInt8]

        static let unused = Entry(rule: .path(1), text: [])
    }

    private var entries: [Entry] = []
    /// The numbers by the bytes of the rule's text, because `String` compares composed and decomposed characters as equal.
    private var numbers: [[UInt8]: UInt32] = [:]
    private var uses = UseCounts()

    /// The number of rules.
    var count: Int { numbers.count }
    /// The number of rules and of unused numbers.
    var capacity: Int { entries.count }

    subscript(number: Int) -> IdentifierRule { entries[number].rule }

    /// Adds an experience with a rule; returns the rule's number, or nil if the text is not a rule.
    mutating func add(_ text: String) -> UInt32? {
        let bytes = Array(text.utf8)
        if let known = numbers[bytes] {
            uses.add(known)
            return known
        }
        guard let rule = try? IdentifierRule(text) else { return nil }
        let number = uses.unusedNumber()
        let entry = Entry(rule: rule, text: bytes)
        if Int(number) < entries.count { entries[Int(number)] = entry } else { entries.append(entry) }
        numbers[bytes] = number
        uses.add(number)
        return number
    }

    /// Removes experiences with a rule.
    mutating func remove(_ number: UInt32, count: UInt32 = 1) {
        uses.remove(number, count: count)
        guard !uses.isUsed(number) else { return }
        numbers[entries[Int(number)].text] = nil
        entries[Int(number)] = .unused
        uses.release(number)
        if numbers.isEmpty { self = Self() }
    }
}

/// The number of experiences that use each number, and the numbers that can be used again.
struct UseCounts: Sendable {
    private var counts: [UInt32] = []
    private var unused: [UInt32] = []

    /// Returns a released number, or the next one.
    mutating func unusedNumber() -> UInt32 {
        if let number = unused.popLast() { return number }
        counts.append(0)
        return UInt32(counts.count - 1)
    }

    func isUsed(_ number: UInt32) -> Bool { counts[Int(number)] > 0 }

    mutating func add(_ number: UInt32) { counts[Int(number)] += 1 }

    mutating func remove(_ number: UInt32, count: UInt32) { counts[Int(number)] -= count }

    mutating func release(_ number: UInt32) { unused.append(number) }
}
