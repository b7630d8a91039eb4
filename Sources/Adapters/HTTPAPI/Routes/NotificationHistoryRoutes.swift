import APNsPayload
import Foundation
import HTTPSyntax
import HTTPTypes
import Invocation
import JSON
import Notifications
import Tenancy

/// Where a tenant lists its notifications, instances and channels.
struct NotificationHistoryRoutes: Sendable {
    let history: any NotificationHistory

    var routes: [Route] {
        [
            Route(.get, "/v1/notifications", .storedWithin(.read, notifications)),
            Route(.get, "/v1/instances", .storedWithin(.read, instances)),
            Route(.get, "/v1/channels", .stored(.read, channels)),
        ]
    }

    private func notifications(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> Answer {
        let parameters = try request.queryParameters(named: ["after", "limit", "clip", "location"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { UUID(text: $0).map(NotificationID.init(_:)) }
        let selection = NotificationSelection(
            clip: try parameters.value("clip") { try? BundleID($0) },
            location: try parameters.value("location") { try? LocationIdentifier($0) }, within: locations)
        return try await Answer.page(
            after: last, limit: limit, \.listed, place: \.id, name: \.description
        ) { try await history.notifications(selection, of: request.tenant, before: $0, limit: $1) }
    }

    private func instances(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> Answer {
        let parameters = try request.queryParameters(named: ["after", "limit", "clip", "location", "url"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { InstanceID(text: $0) }
        let selection = InstanceSelection(
            clip: try parameters.value("clip") { try? BundleID($0) },
            location: try parameters.value("location") { try? LocationIdentifier($0) },
            url: try parameters.value("url") { try? InvocationURL($0) }, within: locations)
        return try await Answer.page(
            after: last, limit: limit, \.json, place: \.id, name: \.description
        ) { try await history.instances(selection, of: request.tenant, after: $0, limit: $1) }
    }

    private func channels(_ request: AdmittedRequest) async throws -> Answer {
        let parameters = try request.queryParameters(named: ["after", "limit", "clip", "environment"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { ChannelPlace(name: $0) }
        let selection = ChannelSelection(
            clip: try parameters.value("clip") { try? BundleID($0) },
            environment: try parameters.value("environment") { APNsEnvironment(rawValue: $0) })
        return try await Answer.page(after: last, limit: limit, \.json, place: \.place, name: \.name) {
            try await history.channels(selection, of: request.tenant, after: $0, limit: $1)
        }
    }
}

extension QueryParameters {
    /// The value of a parameter, nil where it is not there.
    /// - Parameter read: nil for a text that nothing can have.
    fileprivate func value<Value>(
        _ name: String, _ read: (String) -> Value?
    ) throws(Problem) -> Value? {
        guard let text = optional(name) else { return nil }
        guard let value = read(text) else {
            throw .noSuchValue(name, "nothing can have this value")
        }
        return value
    }
}

extension ChannelPlace {
    fileprivate var name: String { "\(clip.text) \(environment.rawValue) \(id.text)" }

    fileprivate init?(name: String) {
        let parts = name.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let clip = try? BundleID(parts[0]),
            let environment = APNsEnvironment(rawValue: parts[1]), let id = ChannelID(parts[2])
        else { return nil }
        self.init(clip: clip, environment: environment, id: id)
    }
}
