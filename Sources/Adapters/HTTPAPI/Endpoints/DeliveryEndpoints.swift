import Administration
import Formats
import Foundation
import HTTPTypes
import Notifications
import Tenancy

/// The endpoints that list a tenant's deliveries and send dead letters again.
struct DeliveryEndpoints: Sendable {
    let ledger: any DeliveryLedger

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/deliveries", .stored(.notify, list), problems: .parameters),
            Endpoint(
                .get, "/v1/deliveries/{id}", .stored(.notify, show),
                problems: .parameters + [.unknownDelivery, .notFound]),
            Endpoint(.post, "/v1/deliveries/retry", .stored(.notify, retry), problems: .parameters),
        ]
    }

    /// The most deliveries that one request queues again. [ours]
    static let retryLimit = 10_000
    private static let states = DeliveryState.allCases.map(\.rawValue).joined(separator: ", ")
    /// The most deliveries that one request names. [ours]
    private static let maximumIDs = 1_000
    private static let noReason = "must not be empty or contain U+0000"

    /// Whether the text is a valid reason. PostgreSQL's text cannot hold U+0000.
    private static func isReason(_ text: String) -> Bool { !text.isEmpty && !text.utf8.contains(0) }

    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit", "state", "reason", "since"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { UUID(text: $0).map(DeliveryID.init(_:)) }
        let selection = DeliverySelection(
            state: try parameters.value("state", "the parameter must be one of \(Self.states)") {
                DeliveryState(rawValue: $0)
            },
            reason: try parameters.value("reason", Self.noReason) { Self.isReason($0) ? $0 : nil },
            since: try parameters.value(
                "since", "the parameter must be a date and time such as 2026-03-01T12:30:00Z"
            ) {
                Date(rfc3339: $0)
            })
        return try await APIResponse.page(
            after: last, limit: limit, \.json, place: \.delivery.id, name: \.description
        ) { try await ledger.deliveries(selection, of: request.tenant, before: $0, limit: $1) }
    }

    private func show(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        guard let uuid = UUID(text: request.parameter("id")),
            let delivery = try await ledger.deliveries(
                DeliverySelection(ids: [DeliveryID(uuid)]), of: request.tenant, before: nil, limit: 1
            ).first
        else { throw Problem(.notFound, "unknown_delivery", "no delivery has this ID") }
        return APIResponse(uncached: JSONValue.object(delivery.json).serialized())
    }

    private func retry(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let selection: DeliverySelection
        do throws(JSONFieldError) {
            selection = try Self.selection(request.body)
        } catch {
            throw Problem(error)
        }
        let counts = try await ledger.retry(
            selection, of: request.tenant, at: request.now, expecting: nil, upTo: Self.retryLimit,
            by: request.actor.name)
        return APIResponse(.accepted, uncached: JSONValue.object(counts.json).serialized())
    }

    /// Reads `ids`, or `state` with `reason` and `since`.
    private static func selection(_ json: JSONObject) throws(JSONFieldError) -> DeliverySelection {
        var body = JSONObjectReader(json)
        let values = try body.optionalArray("ids")
        let name = try body.optionalString("state")
        let reason = try body.optionalString("reason")
        let since = try body.optionalDate("since")
        try body.finish()
        guard reason.map(isReason) ?? true else { throw .invalid(path: "reason", reason: noReason) }
        guard let values else {
            guard let name else { throw .missing(path: "ids") }
            let states = DeliveryState.retriable
            guard let state = states.first(where: { $0.rawValue == name }) else {
                let names = states.map(\.rawValue).joined(separator: ", ")
                throw .invalid(path: "state", reason: "the parameter must be one of \(names)")
            }
            return DeliverySelection(state: state, reason: reason, since: since)
        }
        for (name, isThere) in [("state", name != nil), ("reason", reason != nil), ("since", since != nil)] {
            guard !isThere else { throw .invalid(path: name, reason: "cannot be combined with ids") }
        }
        let ids = values.prefix(maximumIDs + 1).compactMap { $0.stringValue.flatMap { UUID(text: $0) } }
        guard !ids.isEmpty, ids.count == values.count, ids.count <= maximumIDs else {
            throw .invalid(path: "ids", reason: "must be 1 to \(maximumIDs) IDs of deliveries")
        }
        return DeliverySelection(ids: ids.map(DeliveryID.init(_:)))
    }
}
