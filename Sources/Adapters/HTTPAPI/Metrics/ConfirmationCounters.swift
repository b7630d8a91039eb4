import Locations
import Metrics
import Receipts

/// Counts confirmations by outcome, and receipts.
///
/// The counters are found once: to find one by its label costs more than to use it.
struct ConfirmationCounters: Sendable {
    private let outcomes: [Counter]
    private let receipts: Counter

    init(_ factory: any MetricsFactory) {
        outcomes = Confirmation.Outcome.allCases.map { outcome in
            Counter(
                label: "doorstep_confirmations", dimensions: [("outcome", outcome.rawValue)], factory: factory
            )
        }
        receipts = Counter(label: "doorstep_receipts_signed", factory: factory)
    }

    func count(_ outcome: Confirmation.Outcome) { outcomes[outcome.index].increment() }
    func countReceipt() { receipts.increment() }
}

extension Confirmation.Outcome {
    /// The position among all cases.
    fileprivate var index: Int {
        switch self {
        case .inRegion: 0
        case .notInRegion: 1
        case .doesNotMatch: 2
        case .disallowed: 3
        case .undetermined: 4
        }
    }
}
