import APNsPayload
import Formats
import Foundation
import HTTPTypes
import Invocation
import Notifications
import Tenancy

/// The endpoints that list a tenant's notifications, instances and channels.
struct NotificationHistoryEndpoints: Sendable {
    let history: any NotificationHistory
    private static let noValue = "no item can have this value"

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/notifications", .storedWithin(.read, notifications), problems: .parameters),
            Endpoint(.get, "/v1/instances", .storedWithin(.read, instances), problems: .parameters),
            Endpoint(.get, "/v1/channels", .stored(.read, channels), problems: .parameters),
        ]
    }

    private func notifications(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit", "clip", "location"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { UUID(text: $0).map(NotificationID.init(_:)) }
        let selection = NotificationSelection(
            clip: try parameters.value("clip", Self.noValue) { try? BundleID($0) },
            location: try parameters.value("location", Self.noValue) { try? LocationIdentifier($0) },
            within: locations)
        return try await APIResponse.page(
            after: last, limit: limit, \.listed, place: \.id, name: \.description
        ) { try await history.notifications(selection, of: request.tenant, before: $0, limit: $1) }
    }

    private func instances(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: [
            "after", "limit", "order", "clip", "location", "url",
        ])
        let limit = try parameters.pageLength()
        let order = try parameters.order(["id", "latest_launch"])
        let selection = InstanceSelection(
            clip: try parameters.value("clip", Self.noValue) { try? BundleID($0) },
            location: try parameters.value("location", Self.noValue) { try? LocationIdentifier($0) },
            url: try parameters.value("url", Self.noValue) { try? InvocationURL($0) }, within: locations)
        guard order == "id" else {
            // The order would reveal launches at other locations.
            guard locations == nil else { throw Problem.keyIsRestricted }
            return try await APIResponse.page(
                after: try parameters.cursor { LaunchLocation(name: $0) }, limit: limit, \.json,
                place: \.launchPlace, name: \.name
            ) { try await history.latestInstances(selection, of: request.tenant, after: $0, limit: $1) }
        }
        let last = try parameters.cursor { InstanceID(text: $0) }
        return try await APIResponse.page(
            after: last, limit: limit, \.json, place: \.id, name: \.description
        ) { try await history.instances(selection, of: request.tenant, after: $0, limit: $1) }
    }

    private func channels(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit", "clip", "environment"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { ChannelCursor(name: $0) }
        let selection = ChannelSelection(
            clip: try parameters.value("clip", Self.noValue) { try? BundleID($0) },
            environment: try parameters.value("environment", Self.noValue) { APNsEnvironment(rawValue: $0) })
        return try await APIResponse.page(after: last, limit: limit, \.json, place: \.place, name: \.name) {
            try await history.channels(selection, of: request.tenant, after: $0, limit: $1)
        }
    }
}

extension LaunchLocation {
    /// The name consists of the time in microseconds, which is the database's precision, and the ID.
    fileprivate var name: String { "\(Int((launchedAt.timeIntervalSince1970 * 1e6).rounded())) \(id)" }

    fileprivate init?(name: String) {
        let parts = name.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let microseconds = Int(parts[0]), let id = InstanceID(text: String(parts[1])),
            // About 2,000 years before or after 1970, which is within the range of PostgreSQL's timestamps.
            microseconds.magnitude < 64_000_000_000_000_000
        else { return nil }
        self.init(launchedAt: Date(timeIntervalSince1970: Double(microseconds) / 1e6), id: id)
    }
}

extension ChannelCursor {
    fileprivate var name: String { "\(clip.text) \(environment.rawValue) \(id.text)" }

    fileprivate init?(name: String) {
        let parts = name.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let clip = try? BundleID(parts[0]),
            let environment = APNsEnvironment(rawValue: parts[1]), let id = ChannelID(parts[2])
        else { return nil }
        self.init(clip: clip, environment: environment, id: id)
    }
}
