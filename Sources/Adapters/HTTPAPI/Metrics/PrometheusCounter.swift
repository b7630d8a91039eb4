import Metrics

/// A number that only grows. Integers are exact up to 2⁵³, as everywhere in Prometheus.
final class PrometheusCounter: PrometheusInstrument, CounterHandler, FloatingPointCounterHandler {
    let id: SeriesID
    private let value = AtomicDouble()

    init(_ id: SeriesID) {
        self.id = id
    }

    func increment(by amount: Int64) {
        increment(by: Double(amount))
    }

    /// Ignores negative amounts, infinity and NaN.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        value.add(amount)
    }

    func reset() {
        value.store(0)
    }

    func write(to text: inout String) {
        text += "\(id.sample()) \(PrometheusText.number(value.load()))\n"
    }
}
