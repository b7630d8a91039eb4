public import Formats

extension SyncSurvey {
    /// More rows are counted and not shown. [ours]
    private static let maximumRows = 200
    /// A list within a line names this many items and counts the others. [ours]
    private static let maximumNamed = 10

    /// The plan for people: a line for each row that is not in sync, the cost, and further findings.
    public func text(showsUnmanaged: Bool = false) -> String {
        let shown = plan.rows.filter { row in
            switch row.step {
            case .inStep: false
            case .unmanaged: showsUnmanaged || row.isUnreadable
            default: true
            }
        }
        var lines = shown.prefix(Self.maximumRows).flatMap(\.lines)
        if shown.count > Self.maximumRows {
            lines.append("… and \(shown.count - Self.maximumRows) more: use --format json for all")
        }
        if !lines.isEmpty { lines.append("") }
        lines += missing.prefix(Self.maximumRows).map {
            "Missing at App Store Connect, not removed by Doorstep: \($0)"
        }
        lines.append(
            (target.map { "Plan of \($0) only: " } ?? "Plan: ")
                + counts.map { "\($0.count) \($0.name.replacing("_", with: " "))" }.joined(separator: ", "))
        lines += findingLines
        if !listing.listing.isComplete {
            lines.append(
                "The list of App Store Connect has gaps or duplicate rows: nothing is created or removed.")
        }
        if plan.rows.contains(where: \.step.isChange) { lines.append(costLine) }
        if !defaultExperiences.isEmpty {
            lines.append(
                "Set default experiences on the page of the app's version in App Store Connect: "
                    + defaultExperiences.joined(separator: ", "))
        }
        let uncodable = uncodableURLs
        if !uncodable.isEmpty {
            let more = uncodable.count - Self.maximumNamed
            lines.append(
                "No App Clip Code can hold "
                    + uncodable.prefix(Self.maximumNamed).joined(separator: ", ")
                    + (more > 0 ? " and \(more) more; of the others" : "; of the others")
                    + " Apple's generator makes codes")
        }
        return lines.joined(separator: "\n")
    }

    /// The changes that others made at Apple, for people.
    public var driftText: String {
        var lines = (drifted + unreadable).prefix(Self.maximumRows).flatMap(\.lines)
        if drifted.count > Self.maximumRows {
            lines.append("… and \(drifted.count - Self.maximumRows) more: use --format json for all")
        }
        let unmanaged = counts.first { $0.name == "unmanaged" }?.count ?? 0
        lines.append(
            "Drift: \(drifted.count - missing.count) changed, \(missing.count) missing, \(unmanaged) unmanaged"
        )
        return (lines + findingLines).joined(separator: "\n")
    }

    /// The changes that others made at Apple, for scripts.
    public var driftJSON: JSONObject {
        [
            "version": JSONValue(Self.formatVersion), "drifted": .bool(!drifted.isEmpty),
            "missing": .array(missing.map(JSONValue.string)),
            "unmanaged": JSONValue(counts.first { $0.name == "unmanaged" }?.count ?? 0),
            "places": Self.json(placeCounts), "findings": Self.json(findingCounts),
            "rows": .array(drifted.map { .object($0.json) }),
            "unreadable": .array(unreadable.map { .object($0.json) }),
        ]
    }

    var findingCounts: [(name: String, count: Int)] {
        let codes = plan.rows.flatMap { row in Set(row.findings.map(\.code)) }
        return Dictionary(grouping: codes) { $0 }.map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
    }

    private var findingLines: [String] {
        let found = findingCounts.map { "Findings, \($0.count) experiences: \($0.name)" }
        guard placeCounts.contains(where: { $0.count > 0 }) else { return found }
        let places = placeCounts.map { "\($0.count) \($0.name.replacing("_", with: " "))" }
        return found + ["Maps places: " + places.joined(separator: ", ")]
    }

    private var costLine: String {
        let hours = forecast.hours(requestsPerHour: allowance) ?? 0
        let duration =
            hours > 1 ? "\((hours * 10).rounded(.up) / 10) hours" : "less than an hour"
        var line = "Needs \(forecast.requests) requests at \(allowance) an hour: \(duration)"
        if forecast.images > 0 {
            line +=
                ", and \(forecast.images) images of \((forecast.megabytes * 10).rounded() / 10) MB together"
        }
        return line + "."
    }
}

extension SyncPlan.Row {
    fileprivate var lines: [String] {
        switch step {
        case .create, .inStep: ["\(mark) \(url)"]
        case .update(_, let changes, _), .adopt(_, let changes, _):
            ["\(mark) \(url)"] + changes.map(\.line)
        case .remove(let id): ["\(mark) \(url) (\(id))"]
        case .blocked(let blocks):
            [
                "\(mark) \(url): "
                    + blocks.map { block in block.detail.map { "\(block.code) (\($0))" } ?? block.code }
                    .joined(
                        separator: ", ")
            ]
        case .unmanaged(let ids):
            ["\(mark) \(url) (\(ids.joined(separator: ", ")))"]
                + findings.filter { $0.code == "unreadable" }.map { "    unreadable (\($0.detail ?? ""))" }
        }
    }

    private var mark: String {
        switch step {
        case .create: "+"
        case .update: "~"
        case .remove: "-"
        case .adopt: "<"
        case .blocked: "!"
        case .unmanaged: "?"
        case .inStep: "="
        }
    }
}

extension FieldChange {
    fileprivate var line: String {
        "    \(path): \(old?.text ?? "nothing") → \(new.text)"
            + (cause == .intended ? "" : " (\(cause.rawValue))")
    }
}
