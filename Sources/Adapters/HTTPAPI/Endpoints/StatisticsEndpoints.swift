import Confirmations
import Formats
import HTTPTypes
import Invocation
import Tenancy

/// The endpoint that counts lookups, confirmations, launch reports and deliveries.
struct StatisticsEndpoints: Sendable {
    let history: any ConfirmationHistory

    var endpoints: [Endpoint] {
        [Endpoint(.get, "/v1/statistics", .storedWithin(.read, list), problems: .parameters)]
    }

    private func list(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let parameters = try request.queryParameters(
            named: ["by", "after", "limit"] + ConfirmationEndpoints.filters)
        let limit = try parameters.pageLength()
        let grouping =
            try parameters.value(
                "by",
                "the parameter must be \(StatisticsGrouping.allCases.map(\.rawValue).joined(separator: ", "))",
                StatisticsGrouping.init(rawValue:)) ?? .day
        // A cursor begins with the attribute, so that the cursor of another list is refused.
        let prefix = "\(grouping.rawValue) "
        let last = try parameters.cursor { text in
            // By bytes: a group can begin with a combining character.
            text.utf8.starts(with: prefix.utf8)
                ? String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
        }
        let selection = try parameters.selection(within: locations)
        // Read at once, because each statement counts all events.
        let found = try await history.statistics(
            selection, by: grouping, of: request.tenant, .group(after: last), limit: limit + 1)
        return try await APIResponse.page(
            after: last, limit: limit, { $0.json(by: grouping) }, place: \.group, name: { prefix + $0 }
        ) { place, count in
            let previous = place.flatMap { place in
                found.firstIndex { $0.group.utf8.elementsEqual(place.utf8) }
            }
            return Array(found[(previous.map { $0 + 1 } ?? 0)...].prefix(count))
        }
    }
}

extension Statistics {
    fileprivate func json(by grouping: StatisticsGrouping) -> JSONObject {
        var json: JSONObject = [
            grouping.rawValue: group.isEmpty ? .null : .string(group), "lookups": JSONValue(lookups),
            "launchReports": JSONValue(launchReports),
        ]
        json["confirmations"] = confirmations.map { JSONValue($0) }
        json["inRegion"] = inRegion.map { JSONValue($0) }
        json["delivered"] = delivered.map { JSONValue($0) }
        return json
    }
}
