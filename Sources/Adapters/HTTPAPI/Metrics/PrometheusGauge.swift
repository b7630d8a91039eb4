import Metrics

/// A number that can increase and decrease. Its value is the last number that was set.
final class PrometheusGauge: PrometheusInstrument, MeterHandler, RecorderHandler {
    let id: SeriesID
    private let value = AtomicDouble()

    init(_ id: SeriesID) {
        self.id = id
    }

    func set(_ value: Int64) { self.value.store(Double(value)) }
    func set(_ value: Double) { self.value.store(value) }
    func increment(by amount: Double) { value.add(amount) }
    func decrement(by amount: Double) { value.add(-amount) }
    func record(_ value: Int64) { self.value.store(Double(value)) }
    func record(_ value: Double) { self.value.store(value) }

    func write(to text: inout String) {
        text += "\(id.sample()) \(PrometheusText.number(value.load()))\n"
    }
}
