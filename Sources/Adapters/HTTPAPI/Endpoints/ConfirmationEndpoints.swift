import Confirmations
import Formats
import Foundation
import HTTPTypes
import Invocation
import Tenancy

/// The endpoints that list a tenant's recorded confirmations.
struct ConfirmationEndpoints: Sendable {
    let history: any ConfirmationHistory

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/confirmations", .storedWithin(.read, list), problems: .parameters),
            Endpoint(
                .get, "/v1/confirmations/summary", .storedWithin(.read, summarize), problems: .parameters),
        ]
    }

    static let filters = ["location", "from", "to"]

    private func list(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit", "order"] + Self.filters)
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { ConfirmationCursor(name: $0) }
        let selection = try parameters.selection(within: locations)
        let order = try parameters.order(["newest", "oldest"])
        return try await APIResponse.page(after: last, limit: limit, \.json, place: \.place, name: \.name) {
            order == "oldest"
                ? try await history.oldest(selection, of: request.tenant, after: $0, limit: $1)
                : try await history.latest(selection, of: request.tenant, before: $0, limit: $1)
        }
    }

    private func summarize(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: Self.filters)
        let counts = try await history.counts(
            parameters.selection(within: locations), of: request.tenant)
        var response = APIResponse(
            uncached: JSONValue.object(["data": .array(counts.map { .object($0.json) })]).serialized())
        response.isCompressible = true
        return response
    }
}

extension QueryParameters {
    /// The range of whole days of UTC, including the last one.
    func selection(
        within locations: Set<LocationIdentifier>?
    ) throws(Problem) -> ConfirmationSelection {
        var selection = ConfirmationSelection(within: locations)
        if let text = optional("location") {
            guard let location = try? LocationIdentifier(text) else {
                throw .field("location", code: "invalid_parameter", "no item can have this value")
            }
            selection.location = location
        }
        if let start = try day("from") { selection.start = start }
        if let last = try day("to") { selection.end = last.addingTimeInterval(86_400) }
        return selection
    }

    private func day(_ name: String) throws(Problem) -> Date? {
        guard let text = optional(name) else { return nil }
        guard let day = Date(rfc3339: text + "T00:00:00Z") else {
            throw .field(name, code: "invalid_parameter", "the parameter must be a day such as 2026-03-01")
        }
        return day
    }
}

extension ConfirmationCursor {
    fileprivate var name: String { "\(minute.rfc3339) \(id.uuidString.lowercased())" }

    fileprivate init?(name: String) {
        let parts = name.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let minute = Date(rfc3339: String(parts[0])),
            let id = UUID(text: String(parts[1]))
        else { return nil }
        self.init(minute: minute, id: id)
    }
}
