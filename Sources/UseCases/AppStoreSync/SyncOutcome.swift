/// The result of a run.
public struct SyncOutcome: Sendable {
    public internal(set) var created = 0
    public internal(set) var updated = 0
    public internal(set) var adopted = 0
    public internal(set) var removed = 0
    public internal(set) var failures: [RowFailure] = []
    /// The reason why the run stopped early; nil if it did everything possible.
    public internal(set) var stopped: ServiceFailure?
    /// The reason why the run stopped creating experiences; nil if it did not.
    public internal(set) var createsNoMore: ServiceFailure?
    /// The last look, which is after all changes unless the run was stopped.
    public internal(set) var survey: SyncSurvey?
    private var refusedCreations: [String: Int] = [:]
    private var refusalsInARow = 0

    /// The failure of one experience.
    public struct RowFailure: Sendable, Hashable {
        public let url: String
        public let code: String
        /// The part of the request that Apple names.
        public let source: String?
        public let requestID: String?

        init(_ url: String, _ failure: ServiceFailure) {
            self.url = url
            code = failure.code
            source = failure.source
            requestID = failure.requestID
        }
    }

    /// Whether all changes were made.
    public var hasSucceeded: Bool { failures.isEmpty && stopped == nil && createsNoMore == nil }

    /// The number of failures by code, the most frequent first.
    public var failuresByCode: [(code: String, count: Int)] {
        Dictionary(grouping: failures, by: \.code).map { ($0.key, $0.value.count) }
            .sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    }

    mutating func count(_ kind: Call.Kind) {
        switch kind {
        case .create:
            created += 1
            refusalsInARow = 0
        case .update: updated += 1
        case .adopt: adopted += 1
        case .remove: removed += 1
        }
    }

    /// After this number of refused creations in a row, or of equal refusals among twenty, no more are created, because all
    /// would fail. [ours]
    private static let maximumInARow = 20

    mutating func countRefusedCreation(_ failure: ServiceFailure, of total: Int) {
        refusalsInARow += 1
        refusedCreations[failure.code, default: 0] += 1
        let equal = refusedCreations[failure.code, default: 0]
        if refusalsInARow > Self.maximumInARow || equal > max(Self.maximumInARow, total / 20) {
            createsNoMore = failure
        }
    }
}
