import Metrics
import Notifications
import Synchronization

/// Counts and times deliveries.
///
/// The counters are looked up once, because finding a counter costs more than incrementing it.
final class DeliveryMetrics: Sendable {
    private let outcomes: [DeliveryState: Counter]
    private let unreadable = Counter(label: "doorstep_tokens_unreadable")
    private let delay = Timer(label: "doorstep_delivery_delay_seconds")
    private let inFlight = Meter(label: "doorstep_deliveries_in_flight")
    private let overdue = Meter(label: "doorstep_deliveries_overdue_seconds")

    init() {
        outcomes = Dictionary(
            uniqueKeysWithValues: DeliveryState.allCases.filter { $0 != .skipped && $0 != .sending }.map {
                ($0, Counter(label: "doorstep_deliveries", dimensions: [("outcome", Self.name(of: $0))]))
            })
    }

    /// Deliveries that are given back are tried again.
    private static func name(of state: DeliveryState) -> String {
        state == .queued ? "retried" : state.rawValue
    }

    func count(_ event: Dispatcher.Event) {
        switch event {
        case .attempted(let state, _, _, let delay):
            outcomes[state]?.increment()
            if let delay { self.delay.recordSeconds(max(0, delay)) }
        case .decided(let state, let reason):
            outcomes[state]?.increment()
            if reason == DeliveryVerdict.tokenUnreadable { unreadable.increment() }
        case .failed, .recovered, .unwritable, .abandoned: break
        }
    }

    /// Measures the deliveries on request.
    func update(_ dispatcher: Dispatcher) {
        inFlight.set(dispatcher.inFlight)
        overdue.set(dispatcher.overdue / .seconds(1))
    }
}
