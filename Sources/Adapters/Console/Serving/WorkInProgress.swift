import Synchronization

/// How much that takes long is under way for whom, so that nobody has the console do all of it at once.
final class WorkInProgress<Key: Hashable & Sendable>: Sendable {
    private let counts = Mutex<[Key: Int]>([:])
    private let maximum: Int
    private let refusal: ConsoleRefusal

    /// - Parameters:
    ///   - maximum: how many at a time for one.
    ///   - refusal: what is thrown where as many are under way.
    init(maximum: Int, otherwise refusal: ConsoleRefusal) {
        self.maximum = maximum
        self.refusal = refusal
    }

    /// - Throws: ``ConsoleRefusal`` where as many are under way.
    func with<Result>(_ key: Key, _ body: () async throws -> Result) async throws -> Result {
        let isAdmitted = counts.withLock { counts in
            guard counts[key, default: 0] < maximum else { return false }
            counts[key, default: 0] += 1
            return true
        }
        guard isAdmitted else { throw refusal }
        defer {
            counts.withLock { counts in
                let count = (counts[key] ?? 1) - 1
                counts[key] = count == 0 ? nil : count
            }
        }
        return try await body()
    }
}
