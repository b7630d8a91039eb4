/// An instrument that changes and writes the value of one series.
protocol PrometheusInstrument: AnyObject, Sendable {
    var id: SeriesID { get }

    /// Appends the lines of the series.
    func write(to text: inout String)
}

/// The name and the labels of a series, in the form of the text format.
struct SeriesID: Hashable {
    let name: String
    /// For example `method="GET",status="200"`, sorted by name; empty without labels.
    var labels = ""

    /// The start of a line: name, suffix and labels.
    func sample(_ suffix: String = "", adding label: String = "") -> String {
        let all = labels.isEmpty || label.isEmpty ? labels + label : labels + "," + label
        return all.isEmpty ? name + suffix : name + suffix + "{" + all + "}"
    }
}

/// The kind of an instrument. All instruments with one name have the same kind.
enum InstrumentKind {
    case counter
    case gauge
    /// A histogram of durations in seconds.
    case duration
    /// A histogram of sizes and other amounts.
    case distribution

    var typeName: String {
        switch self {
        case .counter: "counter"
        case .gauge: "gauge"
        case .duration, .distribution: "histogram"
        }
    }

    /// The name of a metric, made from its label in swift-metrics, with the suffix that Prometheus' naming rules require.
    func name(_ label: String) -> String {
        let name = PrometheusText.name(label)
        let suffix =
            switch self {
            case .counter: "_total"
            case .duration: "_seconds"
            case .gauge, .distribution: ""
            }
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// The name of the label that the instrument itself writes.
    var reservedLabel: String? {
        switch self {
        case .counter, .gauge: nil
        case .duration, .distribution: "le"
        }
    }

    func sampleNames(_ name: String) -> [String] {
        switch self {
        case .counter, .gauge: [name]
        case .duration, .distribution: [name, name + "_bucket", name + "_sum", name + "_count"]
        }
    }

    private var standardBounds: [Double] {
        self == .duration ? PrometheusHistogram.seconds : PrometheusHistogram.amounts
    }

    func instrument(_ id: SeriesID) -> any PrometheusInstrument {
        switch self {
        case .counter: PrometheusCounter(id)
        case .gauge: PrometheusGauge(id)
        case .duration, .distribution:
            PrometheusHistogram(id, bounds: MetricDescription.known[id.name]?.buckets ?? standardBounds)
        }
    }
}
