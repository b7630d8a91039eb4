import Lookups
import Synchronization
import Tenancy

/// Counts refusals by caller and cause. The first refusal of a kind has a line in the log. Further ones are reported as a count.
///
/// A line for each refusal would cost more than the refusal itself, because all threads share the log's lock.
final class RefusalCounts: Sendable {
    struct Kind: Hashable {
        let endpoint: String
        let status: Int
        /// The limit that was reached; nil for other causes.
        let limit: String?
        /// Nil for requests without a valid key.
        let tenant: TenantID?
        let key: KeyID?
    }

    /// The interval at which the log reports counts. [ours]
    static let interval = Duration.seconds(10)

    private let counts = Mutex<[Kind: Int]>([:])

    /// Counts a refusal.
    /// - Returns: Whether it is the first of its kind after an interval without such a refusal.
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

    /// The counts since the last call, without the first refusal of each kind. If a kind had no refusal since the last call, its
    /// next refusal counts as the first again.
    func take() -> [Kind: Int] {
        counts.withLock { counts in
            let taken = counts.filter { $0.value > 0 }
            counts = taken.mapValues { _ in 0 }
            return taken
        }
    }
}
