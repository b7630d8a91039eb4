public import Metrics
import Synchronization

/// Stores the process's metrics and writes them in Prometheus' text format 0.0.4.
///
/// Labels and dimensions of swift-metrics become names that Prometheus accepts: `_` replaces every other character. The name of a
/// counter ends in `_total`, the name of a timer in `_seconds`. Timers and aggregating recorders are histograms; other recorders
/// are gauges. Help texts and buckets come from ``MetricDescription/all``.
///
/// The registry has at most 10,000 series. A histogram counts as one. A series beyond the limit, or one whose name already has
/// another type, has no effect and is counted in `doorstep_metrics_dropped_total`.
///
/// Safe to use from many threads: finding a series takes one short lock, and changing it takes no shared lock.
public final class PrometheusRegistry: MetricsFactory, Sendable {
    private let limit: Int
    private let catalogue: Mutex<Catalogue>
    private let dropped: PrometheusCounter

    public convenience init() {
        self.init(limit: 10_000)
    }

    /// - Parameter limit: The maximum number of series, including the counter of dropped ones.
    init(limit: Int) {
        self.limit = limit
        dropped = PrometheusCounter(SeriesID(name: "doorstep_metrics_dropped_total"))
        catalogue = Mutex(Catalogue(dropped))
    }

    /// All metrics as text of the type `text/plain; version=0.0.4`, sorted by name and labels.
    public func exposition() -> String {
        // Copied under the lock, written without it.
        let families = catalogue.withLock { $0.families }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            if let help = MetricDescription.known[name]?.help { text += "# HELP \(name) \(help).\n" }
            text += "# TYPE \(name) \(family.kind.typeName)\n"
            for (_, instrument) in family.instruments.sorted(by: { $0.key < $1.key }) {
                instrument.write(to: &text)
            }
        }
        return text
    }

    // MARK: MetricsFactory

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        instrument(.counter, label, dimensions, as: PrometheusCounter.self) ?? NOOPMetricsHandler.instance
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        instrument(.counter, label, dimensions, as: PrometheusCounter.self) ?? NOOPMetricsHandler.instance
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        instrument(.gauge, label, dimensions, as: PrometheusGauge.self) ?? NOOPMetricsHandler.instance
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        if aggregate {
            instrument(.distribution, label, dimensions, as: PrometheusHistogram.self)
                ?? NOOPMetricsHandler.instance
        } else {
            instrument(.gauge, label, dimensions, as: PrometheusGauge.self) ?? NOOPMetricsHandler.instance
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        instrument(.duration, label, dimensions, as: PrometheusHistogram.self) ?? NOOPMetricsHandler.instance
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    private func instrument<Instrument: PrometheusInstrument>(
        _ kind: InstrumentKind, _ label: String, _ dimensions: [(String, String)], as type: Instrument.Type
    ) -> Instrument? {
        let id = SeriesID(
            name: kind.name(label), labels: PrometheusText.labels(dimensions, reserved: kind.reservedLabel))
        let instrument = catalogue.withLock { $0.instrument(kind, id, limit: limit) }
        if instrument == nil { dropped.increment(by: Int64(1)) }
        return instrument as? Instrument
    }

    private func forget(_ handler: any AnyObject & Sendable) {
        guard let instrument = handler as? any PrometheusInstrument else { return }
        catalogue.withLock { $0.remove(instrument) }
    }
}

/// The instruments by name and labels.
private struct Catalogue {
    struct Family {
        let kind: InstrumentKind
        var instruments: [String: any PrometheusInstrument] = [:]
    }

    private(set) var families: [String: Family] = [:]
    /// Every name that is written before a value. A histogram writes three names.
    private var sampleNames: Set<String> = []
    private var count = 0

    init(_ counter: PrometheusCounter) {
        insert(counter, .counter)
    }

    /// The instrument of a series, which is created if it is new; nil if the registry cannot store it.
    mutating func instrument(
        _ kind: InstrumentKind, _ id: SeriesID, limit: Int
    ) -> (any PrometheusInstrument)? {
        if let family = families[id.name] {
            guard family.kind == kind else { return nil }
            if let known = family.instruments[id.labels] { return known }
        } else if !sampleNames.isDisjoint(with: kind.sampleNames(id.name)) {
            return nil
        }
        guard count < limit else { return nil }
        let instrument = kind.instrument(id)
        insert(instrument, kind)
        return instrument
    }

    private mutating func insert(_ instrument: any PrometheusInstrument, _ kind: InstrumentKind) {
        families[instrument.id.name, default: Family(kind: kind)].instruments[instrument.id.labels] =
            instrument
        sampleNames.formUnion(kind.sampleNames(instrument.id.name))
        count += 1
    }

    mutating func remove(_ instrument: any PrometheusInstrument) {
        let id = instrument.id
        guard let family = families[id.name], family.instruments[id.labels] === instrument else { return }
        count -= 1
        if family.instruments.count > 1 {
            families[id.name]?.instruments[id.labels] = nil
        } else {
            families[id.name] = nil
            sampleNames.subtract(family.kind.sampleNames(id.name))
        }
    }
}
