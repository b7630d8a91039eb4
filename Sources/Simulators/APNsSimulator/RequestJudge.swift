import APNsPayload
import Formats
import Foundation
import NIOHPACK

/// Decides how APNs would respond to a request.
///
/// Sources: "Sending notification requests to APNs", "Handling notification responses from APNs", "Sending broadcast push
/// notification requests to APNs", "Sending channel management requests to APNs", "Handling error responses from Apple Push
/// Notification service" [Apple]. If a request has several errors, our choice decides which one is reported. The reason for a
/// payload that is not a JSON object is also our choice, because Apple lists none.
struct RequestJudge {
    private let environment: APNsEnvironment
    private let teams: [String: APNsSimulator.Team]
    private let devices: [String: APNsSimulator.Device]
    private(set) var tokens: ProviderTokenVerifier
    private var channels: BroadcastChannels

    /// The state of a connection.
    struct ConnectionHistory {
        var team: String?
        fileprivate var keyID: String?
        fileprivate var authorization: String?
        fileprivate var updatedAt: Date?
    }

    /// The resource that a path names.
    enum Place: Hashable {
        case device(String)
        case broadcast(bundleID: String)
        case channels(bundleID: String)
        case allChannels(bundleID: String)
    }

    /// The minimum time between two new provider tokens on a connection. [Apple]
    private static let minimumTokenAge = 20.0 * 60
    /// [ours] Apple says that there is a maximum length, but not which.
    private static let maximumChannelIDLength = 256

    init(_ options: APNsSimulator.Options) throws {
        environment = options.environment
        teams = Dictionary(options.teams.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        devices = Dictionary(options.devices.map { ($0.token, $0) }, uniquingKeysWith: { $1 })
        tokens = try ProviderTokenVerifier(teams: options.teams, environment: options.environment)
        channels = BroadcastChannels(maximum: options.maximumChannels)
    }

    /// The resource of a path; nil for an unknown path.
    static func place(_ path: String) -> Place? {
        if path.hasPrefix("/3/device/") { return .device(path.dropFirst(10).lowercased()) }
        if path == "/3/device" { return .device("") }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 5, parts[..<4] == ["", "4", "broadcasts", "apps"], !parts[4].isEmpty {
            return .broadcast(bundleID: parts[4])
        }
        guard parts.count == 5, parts[..<3] == ["", "1", "apps"], !parts[3].isEmpty else { return nil }
        switch parts[4] {
        case "channels": return .channels(bundleID: parts[3])
        case "all-channels": return .allChannels(bundleID: parts[3])
        default: return nil
        }
    }

    mutating func judge(
        method: String, place: Place?, headers: HPACKHeaders, body: [UInt8],
        on connection: inout ConnectionHistory, now: Date
    ) -> Reply {
        do throws(Refusal) {
            try refuseDuplicates(headers)
            guard let place else { throw Refusal(.badPath) }
            try refuseMethod(method, at: place)
            let team = try authorize(headers.first(name: "authorization"), on: &connection, now: now)
            switch place {
            case .device(let token):
                try judge(push: headers, to: token, body: body, of: team)
                return .accepted
            case .broadcast(let bundleID):
                try judge(broadcast: headers, of: bundleID, body: body, of: team)
                return .accepted
            case .channels(let bundleID):
                return try manage(method: method, headers: headers, of: bundleID, body: body, of: team)
            case .allChannels(let bundleID):
                try refuseForeign(bundleID, of: team, as: .topicMismatch)
                return Reply(
                    status: 200,
                    body: ["channels": .array(channels.ids(of: bundleID).map(JSONValue.string))])
            }
        } catch {
            return Reply(error)
        }
    }

    // MARK: Every request

    private func refuseDuplicates(_ headers: HPACKHeaders) throws(Refusal) {
        var seen = Set<String>(minimumCapacity: headers.count)
        for (name, _, _) in headers where !seen.insert(name).inserted {
            throw Refusal(.duplicateHeaders)
        }
    }

    private func refuseMethod(_ method: String, at place: Place) throws(Refusal) {
        let allowed =
            switch place {
            case .device, .broadcast: ["POST"]
            case .channels: ["POST", "GET", "DELETE"]
            case .allChannels: ["GET"]
            }
        guard allowed.contains(method) else { throw Refusal(.methodNotAllowed) }
    }

    /// The team of a connection, from its first valid token on.
    private mutating func authorize(
        _ authorization: String?, on connection: inout ConnectionHistory, now: Date
    ) throws(Refusal) -> APNsSimulator.Team {
        let claims = try tokens.verify(authorization, now: now)
        guard let team = teams[claims.team] else { throw Refusal(.invalidProviderToken) }
        if authorization == connection.authorization { return team }
        if let known = connection.team {
            // "APNs doesn't support authentication tokens from multiple developer accounts over a single connection"
            // [Apple]; the reason is ours.
            guard known == claims.team else { throw Refusal(.invalidProviderToken) }
            guard connection.keyID == claims.keyID else { throw Refusal(.unrelatedKeyIdInToken) }
            if let updated = connection.updatedAt,
                now.timeIntervalSince(updated) < Self.minimumTokenAge
            {
                throw Refusal(.tooManyProviderTokenUpdates)
            }
        }
        // The first token of a connection counts, too. [observed: pushy #931]
        connection.updatedAt = now
        connection.team = claims.team
        connection.keyID = claims.keyID
        connection.authorization = authorization
        return team
    }

    private func refuseForeign(
        _ bundleID: String, of team: APNsSimulator.Team, as reason: APNsReason
    ) throws(Refusal) {
        if let own = team.bundleIDs, !own.contains(bundleID) { throw Refusal(reason) }
    }

    private func refuseID(_ name: String, in headers: HPACKHeaders) throws(Refusal) {
        if let id = headers.first(name: name), UUID(text: id) == nil { throw Refusal(.badMessageId) }
    }

    private func priority(in headers: HPACKHeaders) throws(Refusal) -> NotificationHeaders.Priority? {
        guard let text = headers.first(name: "apns-priority") else { return nil }
        guard let priority = Int(text).flatMap(NotificationHeaders.Priority.init) else {
            throw Refusal(.badPriority)
        }
        return priority
    }

    private func expiration(in headers: HPACKHeaders) throws(Refusal) -> Int? {
        guard let text = headers.first(name: "apns-expiration") else { return nil }
        guard let seconds = Int(text), seconds >= 0 else { throw Refusal(.badExpirationDate) }
        return seconds
    }

    private func refusePayload(_ body: [UInt8], over maximum: Int) throws(Refusal) {
        if body.isEmpty { throw Refusal(.payloadEmpty) }
        if body.count > maximum { throw Refusal(.payloadTooLarge) }
        _ = try object(body)
    }

    private func object(_ body: [UInt8]) throws(Refusal) -> JSONObject {
        guard let object = (try? JSONValue(parsing: body))?.objectValue else {
            throw Refusal(.badRequestPayload)
        }
        return object
    }

    // MARK: Devices

    private func judge(
        push headers: HPACKHeaders, to token: String, body: [UInt8], of team: APNsSimulator.Team
    ) throws(Refusal) {
        try refuseID("apns-id", in: headers)
        if token.isEmpty { throw Refusal(.missingDeviceToken) }
        guard PushToken(hex: token) != nil else { throw Refusal(.badDeviceToken) }
        guard let topic = headers.first(name: "apns-topic") else { throw Refusal(.missingTopic) }
        guard !topic.isEmpty, topic.utf8.allSatisfy(Self.isTopicByte) else { throw Refusal(.badTopic) }
        let pushType: PushType
        if let text = headers.first(name: "apns-push-type") {
            guard let known = PushType(rawValue: text) else { throw Refusal(.invalidPushType) }
            pushType = known
        } else {
            // Without the header, the topic determines the push type. [ours]
            pushType = PushType.allCases.last { Self.bundleID(topic, for: $0) != nil } ?? .alert
        }
        let priority = try priority(in: headers)
        if pushType == .background, priority == .immediate { throw Refusal(.badPriority) }
        _ = try expiration(in: headers)
        if let collapseID = headers.first(name: "apns-collapse-id"), collapseID.utf8.count > 64 {
            throw Refusal(.badCollapseId)
        }
        try refusePayload(body, over: pushType.maximumPayloadSize)
        guard let bundleID = Self.bundleID(topic, for: pushType) else { throw Refusal(.topicDisallowed) }
        try refuseForeign(bundleID, of: team, as: .topicDisallowed)
        guard let device = devices[token] else { return }
        if let environment = device.environment, environment != self.environment {
            throw Refusal(.badDeviceToken)
        }
        if let own = device.bundleID, own != bundleID { throw Refusal(.deviceTokenNotForTopic) }
        switch device.state {
        case .registered: break
        case .unregistered(let since): throw Refusal(.unregistered, invalidSince: since)
        case .expired(let since): throw Refusal(.expiredToken, invalidSince: since)
        }
    }

    /// The bundle ID in a topic; nil if the topic has the wrong suffix for its push type.
    private static func bundleID(_ topic: String, for pushType: PushType) -> String? {
        guard let suffix = pushType.topic(bundleID: "") else { return topic }
        guard suffix.isEmpty else {
            return topic.hasSuffix(suffix) && topic.count > suffix.count
                ? String(topic.dropLast(suffix.count)) : nil
        }
        return PushType.allCases.contains {
            guard let other = $0.topic(bundleID: ""), !other.isEmpty else { return false }
            return topic.hasSuffix(other)
        } ? nil : topic
    }

    /// The characters of bundle IDs and of the suffixes of topics.
    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    // MARK: Channels

    private func judge(
        broadcast headers: HPACKHeaders, of bundleID: String, body: [UInt8], of team: APNsSimulator.Team
    ) throws(Refusal) {
        try refuseBroadcast(headers, of: bundleID, of: team)
        let channel = try channelID(in: headers)
        guard let storesLastMessage = channels.storesLastMessage(channel, of: bundleID) else {
            throw Refusal(.channelNotRegistered)
        }
        guard let pushType = headers.first(name: "apns-push-type") else { throw Refusal(.missingPushType) }
        guard pushType.lowercased() == PushType.liveActivity.rawValue else { throw Refusal(.invalidPushType) }
        guard try priority(in: headers) != nil else { throw Refusal(.badPriority) }
        guard let expiration = try expiration(in: headers), expiration == 0 || storesLastMessage else {
            throw Refusal(.badExpirationDate)
        }
        try refusePayload(body, over: PushType.maximumBroadcastPayloadSize)
    }

    private mutating func manage(
        method: String, headers: HPACKHeaders, of bundleID: String, body: [UInt8], of team: APNsSimulator.Team
    ) throws(Refusal) -> Reply {
        try refuseBroadcast(headers, of: bundleID, of: team)
        if method == "POST" {
            let storesLastMessage = try configuration(body)
            guard let id = channels.create(for: bundleID, storesLastMessage: storesLastMessage) else {
                throw Refusal(.cannotCreateChannelConfig)
            }
            return Reply(status: 201, fields: [("apns-channel-id", id)])
        }
        let id = try channelID(in: headers)
        if method == "DELETE" {
            guard channels.delete(id, of: bundleID) else { throw Refusal(.channelNotRegistered) }
            return Reply(status: 204)
        }
        guard let storesLastMessage = channels.storesLastMessage(id, of: bundleID) else {
            throw Refusal(.channelNotRegistered)
        }
        return Reply(
            status: 200,
            body: ["message-storage-policy": storesLastMessage ? 1 : 0, "push-type": "LiveActivity"])
    }

    private func refuseBroadcast(
        _ headers: HPACKHeaders, of bundleID: String, of team: APNsSimulator.Team
    ) throws(Refusal) {
        try refuseID("apns-request-id", in: headers)
        try refuseID("apns-id", in: headers)
        if bundleID.contains(".push-type.") { throw Refusal(.topicDisallowed) }
        try refuseForeign(bundleID, of: team, as: .topicMismatch)
        if let enabled = team.broadcastBundleIDs, !enabled.contains(bundleID) {
            throw Refusal(.featureNotEnabled)
        }
    }

    private func channelID(in headers: HPACKHeaders) throws(Refusal) -> String {
        guard let id = headers.first(name: "apns-channel-id") else { throw Refusal(.missingChannelId) }
        guard !id.isEmpty, id.utf8.count <= Self.maximumChannelIDLength, Data(base64Encoded: id) != nil else {
            throw Refusal(.badChannelId)
        }
        return id
    }

    /// Whether a new channel stores its last message.
    private func configuration(_ body: [UInt8]) throws(Refusal) -> Bool {
        if body.isEmpty { throw Refusal(.payloadEmpty) }
        let object = try object(body)
        let known: Set = ["message-storage-policy", "push-type"]
        guard object.allSatisfy({ known.contains($0.key) }) else { throw Refusal(.badRequestParams) }
        guard let pushType = object["push-type"]?.stringValue else { throw Refusal(.missingPushType) }
        guard pushType.lowercased() == PushType.liveActivity.rawValue else { throw Refusal(.invalidPushType) }
        switch object["message-storage-policy"]?.numberValue?.int {
        case 0: return false
        case 1: return true
        default: throw Refusal(.badRequestParams)
        }
    }
}
