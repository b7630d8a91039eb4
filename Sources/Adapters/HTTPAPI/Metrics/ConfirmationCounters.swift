import Confirmations
import Metrics
import Receipts

/// Counts confirmations by outcome, and receipts.
///
/// The counters are looked up once, because finding a counter costs more than incrementing it.
struct ConfirmationCounters: Sendable {
    private let outcomes: [Confirmation.Outcome: Counter]
    private let receipts: Counter

    init(_ factory: any MetricsFactory) {
        let counters = Confirmation.Outcome.allCases.map { outcome in
            let counter = Counter(
                label: "doorstep_confirmations", dimensions: [("outcome", outcome.rawValue)], factory: factory
            )
            return (outcome, counter)
        }
        outcomes = Dictionary(uniqueKeysWithValues: counters)
        receipts = Counter(label: "doorstep_receipts_signed", factory: factory)
    }

    func count(_ outcome: Confirmation.Outcome) { outcomes[outcome]?.increment() }
    func countReceipt() { receipts.increment() }
}
