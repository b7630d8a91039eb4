public import Formats
import Foundation

/// The headers of a request to APNs, but for the path and the authorization.
///
/// Source: "Sending notification requests to APNs". [Apple]
public struct NotificationHeaders: Sendable, Hashable {
    public let pushType: PushType
    /// The bundle ID of the app or App Clip that receives the notification.
    public let bundleID: String
    /// The bundle ID with the push type's suffix.
    public let topic: String
    public let priority: Priority
    /// The time until which APNs tries to deliver; nil for APNs' own storage policy.
    public var expiration: Expiration?
    /// Notifications with one collapse ID are shown as one: 1 to 64 bytes.
    public let collapseID: String?
    /// A UUID in lower case.
    public let id: String?

    /// The urgency of delivery.
    public enum Priority: Int, Sendable, Hashable, CaseIterable {
        /// Deliver immediately.
        case immediate = 10
        /// With regard to the power of the device.
        case powerAware = 5
        /// With regard to the power of the device above all, never waking it.
        case low = 1
    }

    /// The time until which an undeliverable notification is stored.
    public struct Expiration: Sendable, Hashable {
        /// A time in seconds since 1970; 0 for a notification that is tried once and never stored.
        public let epochSeconds: Int

        /// Tried once, never stored.
        public static let immediate = Expiration(checked: 0)

        /// Nil if the time is before 1970.
        public init?(epochSeconds: Int) {
            guard epochSeconds >= 0 else { return nil }
            self.init(checked: epochSeconds)
        }

        private init(checked epochSeconds: Int) {
            self.epochSeconds = epochSeconds
        }
    }

    /// Checks and completes the headers for an app or App Clip.
    ///
    /// - Parameters:
    ///   - priority: If nil, 5 for background notifications, which allow no higher one, and 10 for others.
    ///   - collapseID: 1 to 64 bytes; printable ASCII without a space at either end, since it is the value of
    ///     an HTTP field. [ours]
    ///   - id: A UUID in any case; it is sent in lower case.
    /// - Throws: `PayloadError.invalid` with the field's path under `headers`.
    public init(
        pushType: PushType, bundleID: String, priority: Priority? = nil, expiration: Expiration? = nil,
        collapseID: String? = nil, id: String? = nil
    ) throws(PayloadError) {
        guard let topic = pushType.topic(bundleID: bundleID) else {
            throw .invalid(field: "headers.pushType", reason: "must not be mdm: its topic is not a bundle ID")
        }
        if pushType == .background, priority == .immediate {
            throw .invalid(field: "headers.priority", reason: "must not be 10 for the push type background")
        }
        if let collapseID {
            try Self.validate(collapseID: collapseID)
        }
        if let id, UUID(text: id) == nil {
            throw .invalid(field: "headers.id", reason: "must be a UUID")
        }
        self.pushType = pushType
        self.bundleID = bundleID
        self.topic = topic
        self.priority = priority ?? (pushType == .background ? .powerAware : .immediate)
        self.expiration = expiration
        self.collapseID = collapseID
        self.id = id?.lowercased()
    }

    /// The names and values of the header fields, always in the same order.
    public var fields: [(name: String, value: String)] {
        var fields = [
            (name: "apns-push-type", value: pushType.rawValue),
            (name: "apns-topic", value: topic),
            (name: "apns-priority", value: String(priority.rawValue)),
        ]
        if let expiration {
            fields.append((name: "apns-expiration", value: String(expiration.epochSeconds)))
        }
        if let collapseID {
            fields.append((name: "apns-collapse-id", value: collapseID))
        }
        if let id {
            fields.append((name: "apns-id", value: id))
        }
        return fields
    }

    /// The same for a broadcast: its path names the app, it has no collapse ID, and an expiration is required. [Apple]
    public var broadcastFields: [(name: String, value: String)] {
        var headers = self
        headers.expiration = expiration ?? .immediate
        return headers.fields.filter { $0.name != "apns-topic" && $0.name != "apns-collapse-id" }
    }

    private static func validate(collapseID: String) throws(PayloadError) {
        let bytes = collapseID.utf8
        if bytes.isEmpty || bytes.count > 64 {
            throw .invalid(field: "headers.collapseID", reason: "must have 1 to 64 bytes")
        }
        let space = UInt8(ascii: " ")
        if !bytes.allSatisfy({ (0x20...0x7E).contains($0) }) || bytes.first == space || bytes.last == space {
            throw .invalid(
                field: "headers.collapseID",
                reason: "must be printable ASCII without a space at either end")
        }
    }
}

// MARK: - JSON

extension NotificationHeaders {
    /// Reads the headers of a request for an App Clip.
    ///
    /// The members, all optional: `pushType` (`alert` by default), `priority` (10, 5 or 1), `expiration`
    /// (seconds since 1970, or 0 for one attempt), `collapseID`, `id`.
    ///
    /// - Throws: `PayloadError.invalid` with the field's path under `headers`, also for push types that an
    ///   App Clip cannot receive.
    public init(json: JSONObject, appClip bundleID: String) throws(PayloadError) {
        var pushType: PushType?
        var priority: Priority?
        var expiration: Expiration?
        var collapseID: String?
        var id: String?
        do throws(JSONFieldError) {
            var reader = JSONObjectReader(json, path: "headers")
            pushType = try reader.optionalCase("pushType", of: PushType.self)
            if let value = try reader.optionalInteger("priority") {
                priority = Priority(rawValue: value)
                if priority == nil {
                    throw .invalid(path: reader.path(of: "priority"), reason: "must be 10, 5 or 1")
                }
            }
            if let value = try reader.optionalInteger("expiration") {
                if let reason = EpochSeconds.defect(of: value) {
                    throw .invalid(path: reader.path(of: "expiration"), reason: reason)
                }
                expiration = Expiration(epochSeconds: value)
            }
            collapseID = try reader.optionalString("collapseID")
            id = try reader.optionalString("id")
            try reader.finish()
        } catch {
            throw PayloadError(error)
        }
        if let reason = pushType?.reasonAppClipsCannotReceiveIt {
            throw .invalid(field: "headers.pushType", reason: "is refused: \(reason)")
        }
        try self.init(
            pushType: pushType ?? .alert, bundleID: bundleID, priority: priority, expiration: expiration,
            collapseID: collapseID, id: id)
    }
}
