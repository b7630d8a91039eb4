import Lookups
import Synchronization
import Tenancy

/// Counts refusals by whose they are and why: the log tells of the first of a kind, and of those that follow by count.
///
/// A line for each would cost more than the refusal itself, and is written under one lock for all.
final class RefusalCounts: Sendable {
    struct Kind: Hashable {
        let endpoint: String
        let status: Int
        /// The limit that was reached; nil for what is refused for another reason.
        let limit: String?
        /// Nil for those without a valid key.
        let tenant: TenantID?
        let key: KeyID?
    }

    /// How often counts are told [ours].
    static let interval = Duration.seconds(10)

    private let counts = Mutex<[Kind: Int]>([:])

    /// Counts a refusal.
    /// - Returns: Whether it is the first of its kind since an interval went by without one.
    func add(_ kind: Kind) -> Bool {
        counts.withLock { counts in
            guard let count = counts[kind] else {
                counts[kind] = 0
                return true
            }
            counts[kind] = count + 1
            return false
        }
    }

    /// How many came since the last time, those aside that were the first of their kind. Of what came not at all, the next
    /// is the first again.
    func take() -> [Kind: Int] {
        counts.withLock { counts in
            let taken = counts.filter { $0.value > 0 }
            counts = taken.mapValues { _ in 0 }
            return taken
        }
    }
}
