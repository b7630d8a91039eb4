public import Metrics
public import Notifications

/// Counts the decisions for instances. The counters are looked up once.
public struct DecisionCounters: Sendable {
    private let queued: Counter
    private let skipped: [String: Counter]

    public init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        func counter(_ decision: String) -> Counter {
            Counter(label: "doorstep_notifications", dimensions: [("decision", decision)], factory: factory)
        }
        queued = counter("queued")
        skipped = Dictionary(
            uniqueKeysWithValues: SkipReason.allCases.map {
                ($0.rawValue, counter($0.rawValue))
            })
    }

    public func count(_ counts: [DeliveryCount]) {
        for count in counts {
            let counter = count.state == .skipped ? skipped[count.reason ?? ""] : queued
            counter?.increment(by: count.count)
        }
    }
}
