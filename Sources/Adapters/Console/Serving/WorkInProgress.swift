import Synchronization

/// Limits the slow operations that run at a time for one owner, so that no owner can occupy the console.
final class WorkInProgress<Key: Hashable & Sendable>: Sendable {
    private let counts = Mutex<[Key: Int]>([:])
    private let maximum: Int
    private let refusal: ConsoleRefusal

    /// - Parameters:
    ///   - maximum: operations at a time per owner.
    ///   - refusal: the error if as many operations are running.
    init(maximum: Int, otherwise refusal: ConsoleRefusal) {
        self.maximum = maximum
        self.refusal = refusal
    }

    /// - Throws: The refusal if as many operations are running.
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
