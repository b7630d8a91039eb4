import Administration
import AppStoreSync
import Formats
import Foundation
import HTTPTypes
import Invocation
import Tenancy

/// The endpoint for the results of the last check of App Store Connect.
///
/// It sends no request to App Store Connect. A check would take a request for every 200 experiences from a budget that the App
/// Store sync needs.
struct AppStoreEndpoints: Sendable {
    let checks: any LatestChecks

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get, "/v1/appstore/plan", .storedWithin(.read, plan), problems: .parameters + [.notConnected]
            )
        ]
    }

    private func plan(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit", "clip"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { $0 }
        let check = try await check(of: parameters.optional("clip"), request.tenant)
        var head: JSONObject = [
            "clip": .string(check.clip.text), "checkedAt": check.checkedAt.map { JSONValue($0) } ?? .null,
            "failure": check.failure.map(JSONValue.string) ?? .null,
        ]
        // The summary also counts and names items of other locations, and is the same for each page.
        let summarized =
            locations == nil && last == nil
            ? try await checks.latest(of: check.clip, of: request.tenant) : nil
        head["summary"] = summarized?.summary.map(JSONValue.object) ?? .null
        let within = locations?.map(\.text).sorted()
        return try await APIResponse.page(
            head: head, after: last, limit: limit, \.json, place: \.url, name: { $0 }
        ) {
            try await checks.rows(of: check.clip, of: request.tenant, within: within, after: $0, limit: $1)
        }
    }

    /// The check of the named clip; without a name, of the only clip.
    private func check(of name: String?, _ tenant: TenantID) async throws -> LatestCheck {
        let clip = name.map { try? BundleID($0) }
        if case .some(nil) = clip { throw Self.notConnected }
        let all = try await checks.latest(of: tenant, clip: clip ?? nil, summarized: false)
        guard name != nil else {
            guard all.count <= 1 else {
                throw Problem.field(
                    "clip", code: "invalid_parameter", "several clips are connected: name one")
            }
            guard let only = all.first else { throw Self.notConnected }
            return only
        }
        guard let named = all.first else { throw Self.notConnected }
        return named
    }

    private static let notConnected = Problem(
        .notFound, "not_connected", "the clip does not exist or is not connected to App Store Connect")
}
