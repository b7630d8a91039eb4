import Foundation
import Metrics
import Testing

@testable import HTTPAPI

@Suite struct PrometheusRegistryTests {
    private let registry = PrometheusRegistry()

    // MARK: Instruments

    @Test func newRegistryHasDroppedNothing() {
        #expect(
            registry.exposition() == """
                # HELP doorstep_metrics_dropped_total Metrics that were not kept, because there were too many.
                # TYPE doorstep_metrics_dropped_total counter
                doorstep_metrics_dropped_total 0

                """)
    }

    @Test func countersAddIntegersAndFractions() throws {
        Counter(label: "requests", dimensions: [("kind", "lookup")], factory: registry).increment(by: 2)
        Counter(label: "requests_total", dimensions: [("kind", "lookup")], factory: registry).increment()
        FloatingPointCounter(label: "bytes", factory: registry).increment(by: 0.5)
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.types["requests_total"] == "counter")
        #expect(metrics.samples["requests_total{kind=\"lookup\"}"] == "3")
        #expect(metrics.samples["bytes_total"] == "0.5")
    }

    @Test func countersDecreaseOnlyByReset() throws {
        let handler = registry.makeCounter(label: "c", dimensions: [])
        let fractions = registry.makeFloatingPointCounter(label: "c", dimensions: [])
        handler.increment(by: 5)
        handler.increment(by: -2)
        fractions.increment(by: .nan)
        fractions.increment(by: .infinity)
        #expect(try Exposition(registry.exposition()).samples["c_total"] == "5")
        handler.reset()
        #expect(try Exposition(registry.exposition()).samples["c_total"] == "0")
    }

    @Test func gaugesAndMetersGoUpAndDown() throws {
        let meter = Meter(label: "active", factory: registry)
        meter.increment(by: 3)
        meter.decrement()
        Gauge(label: "level", factory: registry).record(-7)
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.types["active"] == "gauge")
        #expect(metrics.samples["active"] == "2")
        #expect(metrics.samples["level"] == "-7")
    }

    @Test(arguments: [
        (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (-0.0, "-0"), (1e300, "1e+300"),
        (1.0 / 3, "0.3333333333333333"), (1e-7, "1e-07"), (9_007_199_254_740_991, "9007199254740991"),
    ])
    func numbersAreInPrometheusFormat(value: Double, text: String) throws {
        Meter(label: "m", factory: registry).set(value)
        #expect(try Exposition(registry.exposition()).samples["m"] == text)
    }

    @Test func timersAreHistogramsInSeconds() throws {
        let timer = Timer(label: "wait", dimensions: [("route", "/a")], factory: registry)
        timer.recordNanoseconds(100_000)
        timer.recordNanoseconds(100_001)
        timer.recordMilliseconds(40)
        timer.recordSeconds(11)
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.types["wait_seconds"] == "histogram")
        let counts = try ["0.0001", "0.00025", "0.025", "0.05", "10", "+Inf"].map { bound in
            try #require(metrics.samples["wait_seconds_bucket{route=\"/a\",le=\"\(bound)\"}"])
        }
        #expect(counts == ["1", "2", "2", "3", "3", "4"])
        #expect(metrics.samples["wait_seconds_count{route=\"/a\"}"] == "4")
        let sum = try #require(metrics.samples["wait_seconds_sum{route=\"/a\"}"].flatMap(Double.init))
        #expect(abs(sum - 11.040200001) < 1e-9)
    }

    @Test func aggregatingRecordersAreHistograms() throws {
        let recorder = Recorder(label: "size", factory: registry)
        recorder.record(1)
        recorder.record(4097)
        recorder.record(Double.nan)
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.samples["size_bucket{le=\"1\"}"] == "1")
        #expect(metrics.samples["size_bucket{le=\"4096\"}"] == "1")
        #expect(metrics.samples["size_bucket{le=\"16384\"}"] == "2")
        #expect(metrics.samples["size_sum"] == "4098")
    }

    @Test func bucketsNeverDecrease() throws {
        let timer = Timer(label: "t", factory: registry)
        for exponent in 0..<40 { timer.recordNanoseconds(1 << exponent) }
        let buckets = try Exposition(registry.exposition()).lines.filter { $0.hasPrefix("t_seconds_bucket") }
        let counts = buckets.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counts.count == PrometheusHistogram.seconds.count + 1)
        #expect(counts == counts.sorted())
        #expect(counts.last == 40)
    }

    @Test func describedMetricHasHelpAndItsOwnBuckets() throws {
        Timer(label: "doorstep_delivery_delay", factory: registry).recordSeconds(5_000)
        let text = registry.exposition()
        #expect(text.contains("# HELP doorstep_delivery_delay_seconds Time from a notification's acceptance"))
        let metrics = try Exposition(text)
        #expect(metrics.samples["doorstep_delivery_delay_seconds_bucket{le=\"3600\"}"] == "0")
        #expect(metrics.samples["doorstep_delivery_delay_seconds_bucket{le=\"14400\"}"] == "1")
    }

    /// Source: "Metric and label naming" of Prometheus' documentation.
    @Test func descriptionsFollowNamingRules() {
        for metric in MetricDescription.all {
            #expect(metric.name.wholeMatch(of: /(doorstep|process)_[a-z_]+/) != nil, "\(metric.name)")
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.buckets.isEmpty == (metric.kind != .histogram), "\(metric.name)")
            #expect(metric.buckets == metric.buckets.sorted() && metric.buckets.count <= 12, "\(metric.name)")
            #expect(!metric.help.isEmpty && !metric.help.hasSuffix("."), "\(metric.name)")
            // A label of a histogram multiplies its buckets.
            #expect(metric.kind != .histogram || metric.labels.count <= 1, "\(metric.name)")
        }
        #expect(MetricDescription.known.count == MetricDescription.all.count)
    }

    @Test func guideContainsMetricsTable() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let guide = try String(
            contentsOf: root.appendingPathComponent("Sources/Guide/11-operations.md"), encoding: .utf8)
        #expect(
            guide.contains("\n\n\(MetricDescription.markdown)\n"),
            "put this into the guide:\n\(MetricDescription.markdown)")
    }

    // MARK: Names and labels

    @Test(arguments: [
        ("http.server-requests", "http_server_requests"), ("2xx", "_2xx"), ("naïve:é", "na_ve__"), ("", "_"),
        ("já\r\nx", "j___x"),
    ])
    func namesAreSanitised(label: String, name: String) throws {
        registry.makeMeter(label: label, dimensions: [(label, "v")]).set(Int64(1))
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.samples["\(name){\(name)=\"v\"}"] == "1")
    }

    @Test func labelValuesAreEscaped() throws {
        registry.makeMeter(label: "m", dimensions: [("path", "C:\\\"ä\"\r\n}")]).set(Int64(1))
        #expect(
            try Exposition(registry.exposition()).samples["m{path=\"C:\\\\\\\"ä\\\"\r\\n}\"}"] == "1")
    }

    @Test func dimensionOrderDoesNotCreateAnotherSeries() throws {
        Counter(label: "c", dimensions: [("b", "1"), ("a", "2")], factory: registry).increment()
        Counter(label: "c", dimensions: [("a", "2"), ("b", "1"), ("empty", "")], factory: registry)
            .increment()
        #expect(try Exposition(registry.exposition()).samples["c_total{a=\"2\",b=\"1\"}"] == "2")
    }

    @Test func duplicateAndReservedLabelsAreRenamed() throws {
        Timer(
            label: "t", dimensions: [("le", "1"), ("__name__", "x"), ("a.b", "1"), ("a-b", "2")],
            factory: registry
        )
        .recordSeconds(1)
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.samples["t_seconds_count{_name__=\"x\",a_b=\"1\",le_=\"1\"}"] == "1")
    }

    @Test func expositionOrderIsIndependentOfCreationOrder() {
        let other = PrometheusRegistry()
        let names = ["b", "a", "c"]
        for name in names { _ = registry.makeMeter(label: name, dimensions: [("x", name)]) }
        for name in names.reversed() { _ = other.makeMeter(label: name, dimensions: [("x", name)]) }
        #expect(registry.exposition() == other.exposition())
    }

    // MARK: Limits

    @Test func seriesBeyondTheLimitAreDroppedAndCounted() throws {
        let registry = PrometheusRegistry(limit: 3)
        for index in 0..<5 {
            Counter(label: "c", dimensions: [("i", "\(index)")], factory: registry).increment()
        }
        Counter(label: "c", dimensions: [("i", "0")], factory: registry).increment()
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.samples.count == 3)
        #expect(metrics.samples["c_total{i=\"0\"}"] == "2")
        #expect(metrics.samples["doorstep_metrics_dropped_total"] == "3")
    }

    @Test func metricNameHasOneType() throws {
        _ = registry.makeMeter(label: "x_seconds", dimensions: [])
        registry.makeTimer(label: "x", dimensions: []).recordNanoseconds(1)
        _ = registry.makeMeter(label: "y_count", dimensions: [])
        registry.makeRecorder(label: "y", dimensions: [], aggregate: true).record(Int64(1))
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.types["x_seconds"] == "gauge")
        #expect(metrics.types["y"] == nil)
        #expect(metrics.samples["doorstep_metrics_dropped_total"] == "2")
    }

    @Test func destroyedSeriesMakeRoomForOthers() throws {
        let registry = PrometheusRegistry(limit: 2)
        let counter = Counter(label: "c", factory: registry)
        counter.increment()
        counter.destroy()
        #expect(try Exposition(registry.exposition()).types["c_total"] == nil)
        Timer(label: "t", factory: registry).recordSeconds(1)
        counter.destroy()
        #expect(try Exposition(registry.exposition()).samples["t_seconds_count"] == "1")
        // The name is free for another type.
        Timer(label: "t", factory: registry).destroy()
        Meter(label: "t_seconds", factory: registry).set(4)
        #expect(try Exposition(registry.exposition()).samples["t_seconds"] == "4")
    }

    @Test func concurrentUpdatesAreNotLost() async throws {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask { [registry] in
                    for _ in 0..<500 {
                        Counter(label: "c", factory: registry).increment()
                        Meter(label: "m", factory: registry).increment()
                        Timer(label: "t", dimensions: [("task", "\(task % 2)")], factory: registry)
                            .recordNanoseconds(1_000_000)
                    }
                }
            }
        }
        let metrics = try Exposition(registry.exposition())
        #expect(metrics.samples["c_total"] == "4000")
        #expect(metrics.samples["m"] == "4000")
        #expect(metrics.samples["t_seconds_count{task=\"0\"}"] == "2000")
        #expect(metrics.samples["t_seconds_bucket{task=\"1\",le=\"0.001\"}"] == "2000")
    }
}

/// A reader of the text format that is written from the format's documentation only.
private struct Exposition {
    /// Types by name.
    private(set) var types: [String: String] = [:]
    /// Values, as written, by name and labels.
    private(set) var samples: [String: String] = [:]
    private(set) var lines: [String] = []

    init(_ text: String) throws {
        // A line ends with a line feed alone; "\r\n" would be one Character.
        let bytes = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines = bytes.map { String(decoding: $0, as: UTF8.self) }
        try #require(lines.popLast() == "", "the last line ends with a line feed")
        var current: String?
        for line in lines {
            if line.hasPrefix("# HELP ") {
                try #require(line.split(separator: " ").count > 3, "a help text: \(line)")
            } else if line.hasPrefix("#") {
                let words = line.split(separator: " ")
                try #require(words.count == 4 && words[1] == "TYPE")
                let name = String(words[2])
                try #require(
                    types.updateValue(String(words[3]), forKey: name) == nil, "one TYPE line for a name")
                current = name
            } else {
                let sample = try #require(try Self.sample.wholeMatch(in: line), "not a sample: \(line)")
                let metric = try #require(current, "a TYPE line before the first sample")
                let suffixes = types[metric] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                try #require(
                    suffixes.contains { metric + $0 == sample.output.name }, "the samples follow their TYPE")
                let value = String(sample.output.value)
                try #require(["NaN", "+Inf", "-Inf"].contains(value) || Double(value)?.isFinite == true)
                let key = String(sample.output.name) + (sample.output.labels.map(String.init) ?? "")
                try #require(samples.updateValue(value, forKey: key) == nil, "one line for a series")
            }
        }
    }

    private static var sample: Regex<(Substring, name: Substring, labels: Substring?, value: Substring)> {
        /(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?<labels>\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\n"])*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\n"])*")*\})? (?<value>\S+)/
    }
}
