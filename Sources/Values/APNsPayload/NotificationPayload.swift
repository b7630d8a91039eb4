public import Formats

/// The body of a request to APNs: the `aps` dictionary and the App Clip's own members beside it.
public struct NotificationPayload: Sendable, Hashable {
    public var aps: APS
    /// The members of the notification's `userInfo` besides `aps`.
    public let custom: JSONObject

    /// - Throws: `PayloadError.invalid` if a custom member is named `aps`.
    public init(aps: APS, custom: JSONObject = [:]) throws(PayloadError) {
        if custom["aps"] != nil {
            throw .invalid(field: "custom.aps", reason: "is not a name for custom data")
        }
        self.aps = aps
        self.custom = custom
    }

    /// Reads a whole payload, as it is sent.
    public init(json: JSONObject) throws(PayloadError) {
        var custom = json
        custom["aps"] = nil
        self.custom = custom
        switch json["aps"] {
        case .object(let aps): self.aps = try APS(json: aps)
        case nil: throw .invalid(field: "aps", reason: "is missing")
        default: throw .invalid(field: "aps", reason: "must be an object")
        }
    }

    /// Returns the payload's bytes, with sorted keys: equal payloads give equal bytes.
    ///
    /// - Parameters:
    ///   - pushType: The push type; contradictions to it are refused.
    ///   - isBroadcast: Whether it goes to a channel, which allows 5,120 bytes. [Apple]
    /// - Throws: `PayloadError.invalid` with the first invalid field, or `.payloadTooLarge`.
    public func encoded(
        for pushType: PushType, isBroadcast: Bool = false
    ) throws(PayloadError) -> EncodedPayload {
        let dictionary = aps.json
        try aps.validate(dictionary, for: pushType)
        var object = custom
        object["aps"] = .object(dictionary)
        let json = JSONValue.object(object)
        let bytes = json.serialized()
        let limit = isBroadcast ? PushType.maximumBroadcastPayloadSize : pushType.maximumPayloadSize
        if bytes.count > limit {
            throw .payloadTooLarge(size: bytes.count, limit: limit)
        }
        return EncodedPayload(json: json, bytes: bytes)
    }

    /// The members that are allowed but have less effect on an App Clip than the sender may expect.
    public var warnings: [PayloadWarning] {
        var warnings: [PayloadWarning] = []
        if aps.contentAvailable {
            warnings.append(.contentAvailableHasNoEffect)
        }
        if aps.mutableContent {
            warnings.append(.mutableContentHasNoEffect)
        }
        if aps.isCriticalAlert {
            warnings.append(.criticalAlertNeedsEntitlement)
        }
        if let activity = aps.liveActivity, activity.event != .end, activity.dismissalDate != nil {
            warnings.append(.dismissalDateWithoutEnd)
        }
        if case .start(let start) = aps.liveActivity?.event, start.updates == nil {
            warnings.append(.startWithoutUpdates)
        }
        return warnings
    }
}

/// A payload that has been found valid, ready to be sent.
public struct EncodedPayload: Sendable, Hashable {
    public let json: JSONValue
    /// The same as UTF-8, without white space.
    public let bytes: [UInt8]

    init(json: JSONValue, bytes: [UInt8]) {
        self.json = json
        self.bytes = bytes
    }

    /// Creates an encoded payload with another `target-content-id`; everything else remains unchanged.
    ///
    /// - Throws: `PayloadError.payloadTooLarge`, or `.invalid` for bytes that are no encoded payload.
    public init(
        _ bytes: [UInt8], targeting target: String, for pushType: PushType
    ) throws(PayloadError) {
        guard var payload = (try? JSONValue(parsing: bytes))?.objectValue,
            var aps = payload["aps"]?.objectValue
        else { throw .invalid(field: "aps", reason: "is missing") }
        aps["target-content-id"] = .string(target)
        payload["aps"] = .object(aps)
        self.init(json: .object(payload), bytes: JSONValue.object(payload).serialized())
        guard self.bytes.count <= pushType.maximumPayloadSize else {
            throw .payloadTooLarge(size: self.bytes.count, limit: pushType.maximumPayloadSize)
        }
    }
}

extension APS {
    fileprivate var isCriticalAlert: Bool {
        if case .dictionary(isCritical: true, _, _) = sound {
            return true
        }
        return interruptionLevel == .critical
    }
}
