import Metrics
import Synchronization

/// A histogram: the number of values up to each of a few fixed bounds, and the sum and number of all values.
final class PrometheusHistogram: PrometheusInstrument, RecorderHandler, TimerHandler {
    /// From ten microseconds, the time of a response from memory, to ten seconds.
    static let seconds = [
        0.000_01, 0.000_025, 0.000_05, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
        0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// Powers of four from 1 to 1,048,576, for sizes in bytes and numbers of items.
    static let amounts = (0...10).map { Double(1 << (2 * $0)) }

    let id: SeriesID
    private let bounds: [Double]
    private let state: Mutex<State>

    private struct State {
        /// The counts of the buckets. The last one counts the values above all bounds.
        var counts: [UInt64]
        var sum = 0.0
    }

    /// - Parameter bounds: The upper bounds of the buckets, inclusive, ascending.
    init(_ id: SeriesID, bounds: [Double]) {
        self.id = id
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
    func record(_ value: Int64) { record(Double(value)) }

    /// Ignores NaN and infinity, which would make the sum useless.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func write(to text: inout String) {
        let state = state.withLock { $0 }
        var total: UInt64 = 0
        for (bound, count) in zip(bounds + [.infinity], state.counts) {
            total += count
            text += id.sample("_bucket", adding: "le=\"\(PrometheusText.number(bound))\"") + " \(total)\n"
        }
        text += "\(id.sample("_sum")) \(PrometheusText.number(state.sum))\n"
        text += "\(id.sample("_count")) \(total)\n"
    }
}
