public import Formats

extension SyncOutcome {
    public var json: JSONObject {
        var json: JSONObject = [
            "created": JSONValue(created), "updated": JSONValue(updated), "adopted": JSONValue(adopted),
            "removed": JSONValue(removed),
            "failures": .array(failures.map { .object($0.json) }),
            "inStep": .bool(stopped == nil && survey?.isInStep == true),
            "target": survey?.target.map(JSONValue.string) ?? .null,
        ]
        json["stopped"] = (stopped ?? createsNoMore).map {
            ["code": .string($0.code), "detail": .string("\($0)")]
        }
        return json
    }

    /// In one line, and one for each code of a failure.
    public var text: String {
        var lines = ["Created \(created), updated \(updated), adopted \(adopted), removed \(removed)"]
        lines += failuresByCode.map { failure in
            let first = failures.first { $0.code == failure.code }
            let place = first?.source.map { " at \($0)" } ?? ""
            let request = first?.requestID.map { ", request \($0)" } ?? ""
            return "\(failure.count) failed with \(failure.code)\(place): \(first?.url ?? "")\(request)"
        }
        if stopped == nil, let survey {
            let blocked = survey.plan.rows.count { if case .blocked = $0.step { true } else { false } }
            let left = survey.plan.rows.count(where: \.step.isChange)
            if survey.isInStep {
                lines.append(
                    survey.target.map {
                        "\($0) is in sync with the catalogue; nothing else was checked"
                    } ?? "App Store Connect is in sync with the catalogue")
            } else {
                let place = survey.target.map { " (only \($0) was checked)" } ?? ""
                lines.append(
                    "\(left) changes are left, \(blocked) blocked\(place): 'doorstep appstore plan' shows them"
                )
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension SyncOutcome.RowFailure {
    var json: JSONObject {
        var json: JSONObject = ["url": .string(url), "code": .string(code)]
        json["source"] = source.map(JSONValue.string)
        json["requestID"] = requestID.map(JSONValue.string)
        return json
    }
}
