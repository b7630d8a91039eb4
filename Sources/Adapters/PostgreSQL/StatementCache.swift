/// The names of the statements prepared on one connection, the least recently used given up first.
struct StatementCache {
    struct Key: Hashable {
        let sql: String
        let types: [UInt32]
    }

    /// The steps to run a statement.
    enum Step: Equatable {
        case execute(name: String)
        /// `evict` is deallocated first.
        case prepare(name: String, evict: String?)
        case runUnprepared
    }

    private let capacity: Int
    private let prefix: String
    private var entries: [Key: (name: String, usedAt: Int)] = [:]
    private var clock = 0

    /// The prefix keeps the names of two connections apart, should a pooler put both on one session.
    init(capacity: Int, prefix: String) {
        self.capacity = capacity
        self.prefix = prefix
    }

    /// The step for a statement; a `prepare` counts only once `prepared` is called.
    mutating func step(for key: Key) -> Step {
        guard capacity > 0 else { return .runUnprepared }
        clock += 1
        if let entry = entries[key] {
            entries[key] = (entry.name, clock)
            return .execute(name: entry.name)
        }
        let oldest = entries.count < capacity ? nil : entries.min { $0.value.usedAt < $1.value.usedAt }
        return .prepare(name: "\(prefix)\(clock)", evict: oldest?.value.name)
    }

    mutating func prepared(_ key: Key, name: String) {
        entries[key] = (name, clock)
    }

    mutating func forget(name: String) {
        entries = entries.filter { $0.value.name != name }
    }
}
