import CAllocations
import Formats

/// The measured cost of one call.
struct Measurement {
    let name: String
    /// Nanoseconds per call in the median batch.
    let median: Double
    /// Nanoseconds per call in the batch that 99 of 100 are not slower than.
    let percentile99: Double
    /// Heap allocations per call.
    let allocations: Double

    /// Calls `body` with 0, 1, 2 … in batches of about 50 µs, which is much longer than a reading of the clock.
    ///
    /// - Throws: What `body` throws.
    @inline(__always)
    init<Result>(_ name: String, batches: Int, _ body: (Int) throws -> Result) rethrows {
        let clock = ContinuousClock()
        func nanoseconds(calling calls: Int) throws -> Double {
            let start = clock.now
            for call in 0..<calls { blackHole(try body(call)) }
            return (clock.now - start) / .nanoseconds(1)
        }
        let warmUp = 2_000
        let perCall = try nanoseconds(calling: warmUp) / Double(warmUp)
        let calls = max(1, Int(50_000 / max(perCall, 1)))
        let times = try (0..<batches).map { _ in try nanoseconds(calling: calls) / Double(calls) }

        allocations_start()
        for call in 0..<warmUp { blackHole(try body(call)) }
        let counted = allocations_stop()
        self.init(name, times, allocations: Double(counted) / Double(warmUp))
    }

    /// Calls `body`, which takes far longer than the clock, once for each sample.
    ///
    /// - Throws: What `body` throws.
    init<Result>(_ name: String, samples: Int, awaiting body: () async throws -> Result) async rethrows {
        let clock = ContinuousClock()
        blackHole(try await body())
        var times: [Double] = []
        for _ in 0..<samples {
            let start = clock.now
            blackHole(try await body())
            times.append((clock.now - start) / .nanoseconds(1))
        }
        let counted = 20
        allocations_start()
        for _ in 0..<counted { blackHole(try await body()) }
        let allocations = Double(allocations_stop()) / Double(counted)
        self.init(name, times, allocations: allocations)
    }

    /// Calls `body` once with each input, in batches.
    ///
    /// - Parameters:
    ///   - callsPerBatch: Few, so that a slow call is not hidden among many; enough that the clock's own cost is small
    ///     beside theirs.
    ///   - prepare: Called with each of a batch's inputs before the batch is timed.
    /// - Throws: What `body` throws.
    @inline(__always)
    init<Input, Result>(
        _ name: String, callsPerBatch: Int, over inputs: [Input], preparing prepare: (Input) -> Void,
        _ body: (Input) throws -> Result
    ) rethrows {
        let clock = ContinuousClock()
        var times: [Double] = []
        times.reserveCapacity(inputs.count / callsPerBatch + 1)
        for first in stride(from: 0, to: inputs.count, by: callsPerBatch) {
            let batch = first..<min(first + callsPerBatch, inputs.count)
            for index in batch { prepare(inputs[index]) }
            let start = clock.now
            for index in batch { blackHole(try body(inputs[index])) }
            times.append((clock.now - start) / .nanoseconds(1) / Double(batch.count))
        }

        allocations_start()
        for input in inputs { blackHole(try body(input)) }
        let counted = allocations_stop()
        self.init(name, times, allocations: Double(counted) / Double(inputs.count))
    }

    private init(_ name: String, _ times: [Double], allocations: Double) {
        let sorted = times.sorted()
        self.name = name
        self.allocations = allocations
        median = sorted[sorted.count / 2]
        percentile99 = sorted[sorted.count * 99 / 100]
    }
}

extension Measurement {
    var json: JSONValue {
        [
            "name": .string(name), "medianNanoseconds": JSONValue(finite: median),
            "percentile99Nanoseconds": JSONValue(finite: percentile99),
            "allocations": JSONValue(finite: allocations),
        ]
    }

    /// One line each, numbers to the right.
    static func table(_ measurements: [Measurement]) -> String {
        let rows =
            [["what", "ns p50", "ns p99", "allocations per call"]]
            + measurements.map {
                [$0.name, tenths($0.median), tenths($0.percentile99), tenths($0.allocations)]
            }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private static func tenths(_ value: Double) -> String {
        "\((value * 10).rounded() / 10)"
    }
}
