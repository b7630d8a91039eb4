public import Formats
import Foundation
public import Invocation

/// The audience of a notification.
public enum Audience: Sendable, Hashable {
    case instance(InstanceID)
    /// Every instance that was launched at the target's business within 8 hours.
    case business
    /// Every instance that was launched by a URL which this is a prefix of, such as an order's.
    case urlPrefix(URLPrefix)
    /// One Live Activity on one instance, by the ID that ActivityKit gave it.
    case activity(InstanceID, String)
    /// Everybody who follows a broadcast channel of the clip.
    case channel(String)
}

// MARK: - JSON

extension Audience {
    /// Reads the member that names the audience: `instance`, `business`, `urlPrefix`, `activity` or `channel`.
    public init(_ object: inout JSONObjectReader) throws(JSONFieldError) {
        let instance = try object.optionalString("instance")
        let business = try object.optionalBool("business")
        let urlPrefix = try object.optionalString("urlPrefix")
        let activity = try object.optionalObject("activity")
        let channel = try object.optionalString("channel")
        let given = [instance != nil, business != nil, urlPrefix != nil, activity != nil, channel != nil]
        guard given.count(where: { $0 }) == 1 else {
            throw .invalid(
                path: object.path,
                reason: "must have exactly one of instance, business, urlPrefix, activity and channel")
        }
        if let instance {
            self = .instance(try Self.instance(instance, at: object.path(of: "instance")))
        } else if let urlPrefix {
            do {
                self = .urlPrefix(try URLPrefix(urlPrefix))
            } catch {
                throw .invalid(path: object.path(of: "urlPrefix"), reason: "is refused: \(error)")
            }
        } else if var activity {
            let id = try activity.requiredString("activity")
            let instance = try activity.requiredString("instance")
            try activity.finish()
            try Self.check(id, at: activity.path(of: "activity"))
            self = .activity(try Self.instance(instance, at: activity.path(of: "instance")), id)
        } else if let channel {
            try Self.check(channel, at: object.path(of: "channel"))
            self = .channel(channel)
        } else {
            guard business == true else {
                throw .invalid(path: object.path(of: "business"), reason: "must be true")
            }
            self = .business
        }
    }

    private static func check(_ name: String, at path: String) throws(JSONFieldError) {
        guard TokenKind.isName(name) else {
            throw .invalid(path: path, reason: "must have 1 to 128 characters, without the character 0")
        }
    }

    private static func instance(_ text: String, at path: String) throws(JSONFieldError) -> InstanceID {
        guard let uuid = UUID(text: text) else { throw .invalid(path: path, reason: "must be a UUID") }
        return InstanceID(uuid)
    }

    /// As requested.
    public var json: JSONObject {
        switch self {
        case .instance(let id): ["instance": .string(id.description)]
        case .business: ["business": true]
        case .urlPrefix(let prefix): ["urlPrefix": .string(prefix.canonical)]
        case .activity(let instance, let id):
            ["activity": ["instance": .string(instance.description), "activity": .string(id)]]
        case .channel(let id): ["channel": .string(id)]
        }
    }
}
