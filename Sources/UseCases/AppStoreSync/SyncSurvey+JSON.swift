public import Formats
import Invocation

extension SyncSurvey {
    /// The version of the JSON plan; the meaning of its members does not change within one version. [ours]
    public static let formatVersion = 1

    /// The plan for scripts.
    /// - Parameter showsUnmanaged: whether experiences are listed that Doorstep did not make; they are counted anyway.
    public func json(showsUnmanaged: Bool = false) -> JSONObject {
        var json = summary
        json["rows"] = .array(shownRows(withUnmanaged: showsUnmanaged).map { .object($0.json) })
        return json
    }

    /// The plan without its rows.
    var summary: JSONObject {
        [
            "version": JSONValue(Self.formatVersion), "inStep": .bool(isInStep),
            "target": target.map(JSONValue.string) ?? .null,
            "listing": [
                "experiences": JSONValue(listing.listing.experiences.count),
                "isComplete": .bool(listing.listing.isComplete),
            ],
            "counts": Self.json(counts), "places": Self.json(placeCounts),
            "findings": Self.json(findingCounts),
            "missing": .array(missing.map(JSONValue.string)),
            "forecast": [
                "requests": JSONValue(forecast.requests), "requestsPerHour": JSONValue(allowance),
                "hours": forecast.hours(requestsPerHour: allowance).flatMap { JSONNumber($0) }.map(
                    JSONValue.number) ?? .null,
                "images": JSONValue(forecast.images), "imageBytes": JSONValue(forecast.imageBytes),
            ],
            "defaultExperiences": .array(defaultExperiences.map(JSONValue.string)),
            "uncodable": .array(uncodableURLs.map(JSONValue.string)),
        ]
    }

    /// Counts by their names.
    static func json(_ counts: [(name: String, count: Int)]) -> JSONValue {
        var json: JSONObject = [:]
        for (name, count) in counts { json[name] = JSONValue(count) }
        return .object(json)
    }

    /// The rows with a finding.
    func shownRows(withUnmanaged showsUnmanaged: Bool) -> [SyncPlan.Row] {
        plan.rows.filter { row in
            switch row.step {
            case .unmanaged: showsUnmanaged || row.isUnreadable
            case .inStep: !row.findings.isEmpty
            default: true
            }
        }
    }

    /// The numbers of places of the checked experiences that Maps has found, is looking for, and has not found.
    var placeCounts: [(name: String, count: Int)] {
        let urls = Set(plan.rows.map(\.url))
        let own = Set(memory.applied.filter { urls.contains($0.url.canonical) }.compactMap(\.id))
        let states = Dictionary(
            grouping: listing.listing.experiences.filter { own.contains($0.id) }.compactMap(\.placeStatus)
        ) { $0 }.mapValues(\.count)
        return RemoteExperience.PlaceStatus.allCases.map { ($0.rawValue.lowercased(), states[$0] ?? 0) }
    }

    /// The identifier of the location that an experience is bound to.
    func location(of url: String) -> String? { desired[url]?.location }

    /// The number of rows of each step, including all steps.
    public var counts: [(name: String, count: Int)] {
        let counted = Dictionary(grouping: plan.rows, by: \.step.name).mapValues(\.count)
        return SyncPlan.Step.names.map { ($0, counted[$0] ?? 0) }
    }
}

extension SyncPlan.Row {
    /// Whether an experience that Doorstep did not make cannot be read.
    var isUnreadable: Bool { findings.contains { $0.code == "unreadable" } }

    public var json: JSONObject {
        var json: JSONObject = ["url": .string(url), "step": .string(step.name)]
        switch step {
        case .update(let id, let changes, _), .adopt(let id, let changes, _):
            json["id"] = .string(id)
            json["changes"] = .array(changes.map { .object($0.json) })
        case .remove(let id): json["id"] = .string(id)
        case .blocked(let blocks): json["blocks"] = .array(blocks.map { .object($0.json) })
        case .unmanaged(let ids): json["ids"] = .array(ids.map(JSONValue.string))
        case .create, .inStep: break
        }
        if !findings.isEmpty { json["findings"] = .array(findings.map { .object($0.json) }) }
        return json
    }
}

extension SyncPlan.Step {
    static let names = ["create", "update", "remove", "adopt", "blocked", "unmanaged", "in_step"]

    /// A name that stays the same across versions.
    public var name: String {
        switch self {
        case .create: "create"
        case .update: "update"
        case .remove: "remove"
        case .adopt: "adopt"
        case .blocked: "blocked"
        case .unmanaged: "unmanaged"
        case .inStep: "in_step"
        }
    }
}

extension FieldChange {
    var json: JSONObject {
        ["path": .string(path), "old": old ?? .null, "new": new, "cause": .string(cause.rawValue)]
    }
}

extension SyncPlan.Block {
    var json: JSONObject {
        var json: JSONObject = ["code": .string(code)]
        json["detail"] = detail.map(JSONValue.string)
        return json
    }

    /// Details beyond the code.
    var detail: String? {
        switch self {
        case .missing(let path): path
        case .notOwned(let id), .unlisted(let id): id
        case .unreadable(let id, let member): "\(id): \(member)"
        case .ambiguous(let ids): ids.joined(separator: ", ")
        case .tooManyRemovals(let count), .massRemoval(let count): "\(count)"
        case .grace(let since): "since \(since.rfc3339)"
        case .obstacle, .deactivated, .appTransfer, .unsettledCreation, .incompleteListing, .nothingDesired:
            nil
        }
    }
}

extension SyncPlan.Finding {
    var json: JSONObject {
        var json: JSONObject = ["code": .string(code)]
        json["detail"] = detail.map(JSONValue.string)
        return json
    }

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .duplicate: "duplicate"
        case .unlisted: "unlisted"
        case .placeNotMatched: "place_not_matched"
        case .placePending: "place_pending"
        case .placeRewritten: "place_rewritten"
        case .languageMissing: "language_missing"
        case .unreadable: "unreadable"
        }
    }

    var detail: String? {
        switch self {
        case .duplicate(let ids): ids.joined(separator: ", ")
        case .unlisted(let id): id
        case .languageMissing(let language): language
        case .unreadable(let id, let member): "\(id): \(member)"
        case .placeRewritten(let paths): paths.joined(separator: ", ")
        case .placeNotMatched, .placePending: nil
        }
    }
}
