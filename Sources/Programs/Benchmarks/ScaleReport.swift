import Formats

/// The costs of a catalogue of one size.
struct ScaleReport {
    /// The time to apply a change.
    struct Delta {
        let rows: Int
        let times: [Duration]
    }

    let experiences: Int
    let locations: Int
    let load: Duration
    /// The size of the table, by its own account.
    let tableBytes: Int
    /// The resident memory of the process: before the load, after the load, and after freed memory was returned.
    let residentBytes: (before: Int, loaded: Int, trimmed: Int)
    let searches: [Measurement]
    let deltas: [Delta]

    var json: JSONValue {
        [
            "experiences": JSONValue(experiences), "locations": JSONValue(locations),
            "loadSeconds": JSONValue(finite: load / .seconds(1)), "tableBytes": JSONValue(tableBytes),
            "residentBytes": [
                "before": JSONValue(residentBytes.before), "loaded": JSONValue(residentBytes.loaded),
                "trimmed": JSONValue(residentBytes.trimmed),
            ],
            "searches": .array(searches.map(\.json)), "deltas": .array(deltas.map(\.json)),
        ]
    }
}

extension ScaleReport.Delta {
    fileprivate var json: JSONValue {
        let sorted = times.sorted()
        return [
            "rows": JSONValue(rows), "changes": JSONValue(sorted.count),
            "medianMilliseconds": JSONValue(finite: sorted[sorted.count / 2] / .milliseconds(1)),
            "slowestMilliseconds": JSONValue(finite: sorted[sorted.count - 1] / .milliseconds(1)),
        ]
    }
}
