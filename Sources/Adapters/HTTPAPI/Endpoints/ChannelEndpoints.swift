import APNsPayload
import Formats
import Foundation
import HTTPTypes
import Notifications
import Tenancy

/// The endpoints that create and delete a tenant's broadcast channels.
struct ChannelEndpoints: Sendable {
    /// Nil if the server has no keys for APNs.
    let directory: ChannelDirectory?

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post, "/v1/channels", .stored(.notify, create), idempotency: .storedResponse,
                problems: [.quotaExceeded, .unknownClip, .sandboxOnly, .notificationsNotConfigured] + .apns),
            Endpoint(
                .delete, "/v1/channels/{id}", .stored(.notify, delete),
                problems: [.unknownChannel, .notificationsNotConfigured] + .apns),
        ]
    }

    private func create(_ request: AdmittedRequest) async throws -> APIResponse {
        let directory = try configured()
        let clip: String
        let environment: APNsEnvironment?
        let storesLastMessage: Bool
        do throws(JSONFieldError) {
            var body = JSONObjectReader(request.body)
            clip = try body.requiredString("clip")
            environment = try body.optionalCase("environment", of: APNsEnvironment.self)
            storesLastMessage = try body.optionalBool("storesLastMessage") ?? false
            try body.finish()
        } catch {
            throw Problem(error)
        }
        guard let clip = try? BundleID(clip) else { throw Problem(ChannelDirectory.Refusal.unknownClip) }
        do {
            let channel = try await directory.create(
                of: clip, environment, storesLastMessage: storesLastMessage, of: request.tenant,
                at: request.now)
            return APIResponse(.created, uncached: JSONValue.object(channel.json).serialized())
        } catch let refusal as ChannelDirectory.Refusal {
            throw Problem(refusal)
        }
    }

    private func delete(_ request: AdmittedRequest) async throws -> APIResponse {
        let directory = try configured()
        // The ID in its form for paths, or in APNs' own form, percent-encoded.
        guard let text = request.parameter("id").removingPercentEncoding,
            let id = ChannelID(pathComponent: text)
        else { throw Problem(ChannelDirectory.Refusal.unknownChannel) }
        do {
            try await directory.delete(id, of: request.tenant)
        } catch let refusal as ChannelDirectory.Refusal {
            throw Problem(refusal)
        }
        return APIResponse(.noContent)
    }

    private func configured() throws(Problem) -> ChannelDirectory {
        guard let directory else { throw .channelsNotConfigured }
        return directory
    }
}

extension BroadcastChannel {
    var json: JSONObject {
        [
            "id": .string(id.text), "path": .string("/v1/channels/\(id.pathComponent)"),
            "clip": .string(clip.text), "environment": .string(environment.rawValue),
            "storesLastMessage": .bool(storesLastMessage), "createdAt": .string(createdAt.rfc3339),
        ]
    }
}

extension Problem {
    fileprivate init(_ refusal: ChannelDirectory.Refusal) {
        switch refusal {
        case .unknownClip: self = .unknownClip
        case .unknownChannel:
            self.init(.notFound, "unknown_channel", "the tenant has no channel with this ID")
        case .sandboxOnly: self.init(IntakeRefusal.sandboxOnly)
        case .refused(let response):
            var members: JSONObject = ["apnsStatus": JSONValue(response.status)]
            members["apnsReason"] = response.reason.map { .string($0.rawValue) }
            self.init(.badGateway, "apns_refused", "APNs rejected the request", members: members)
        case .notSent(let failure):
            self.init(
                .badGateway, "apns_not_reached", "APNs could not be reached; nothing was changed",
                members: ["failure": .string(failure.rawValue)])
        case .unanswered(let failure):
            self.init(
                .badGateway, "apns_unanswered", "APNs did not respond, and may have carried out the request",
                members: ["failure": .string(failure.rawValue)])
        }
    }
}
