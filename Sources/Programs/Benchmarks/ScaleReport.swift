import JSON

/// What a catalogue of one size costs.
struct ScaleReport {
    /// What it takes to bring a change in.
    struct Delta {
        let rows: Int
        let times: [Duration]
    }

    let experiences: Int
    let locations: Int
    let load: Duration
    /// What the table says of itself.
    let tableBytes: Int
    /// Of the process: before the load, after it, and when what was freed had been given back.
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
