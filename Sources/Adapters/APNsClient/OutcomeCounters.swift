import APNsPayload
import CoreMetrics
import Metrics
import Notifications
import Synchronization

/// Counts requests by result: `doorstep_apns_requests_total`.
final class OutcomeCounters: Sendable {
    private struct Name: Hashable {
        let environment: APNsEnvironment
        let outcome: String
        let reason: String
    }

    private let counters = Mutex([Name: Counter]())

    func count(_ outcome: PushOutcome, in environment: APNsEnvironment) {
        let (kind, reason) =
            switch outcome {
            case .answered(let response)
            where response.reason == nil && (200..<300).contains(response.status):
                ("accepted", "")
            // Unknown reasons are combined, so that APNs cannot create series without limit.
            case .answered(let response):
                ("refused", response.reason.map { $0.status == nil ? "unknown" : $0.rawValue } ?? "none")
            case .notSent(let failure): ("not_sent", failure.rawValue)
            case .unanswered(let failure): ("unanswered", failure.rawValue)
            }
        let name = Name(environment: environment, outcome: kind, reason: reason)
        let counter = counters.withLock { counters in
            if let counter = counters[name] { return counter }
            let counter = Counter(
                label: "doorstep_apns_requests",
                dimensions: [
                    ("environment", environment.rawValue), ("outcome", kind), ("reason", reason),
                ])
            counters[name] = counter
            return counter
        }
        counter.increment()
    }
}
