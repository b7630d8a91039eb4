public import APNsPayload
public import Formats

/// The audience of a notification with its conditions, as requested.
public struct AudienceRequest: Sendable, Hashable {
    public let audience: Audience
    /// Whether only those are meant who were confirmed at the target's location within 8 hours.
    public let confirmedOnly: Bool
    /// Nil for both environments.
    public internal(set) var environment: APNsEnvironment?
    /// Whether only instances that were launched at the target's location count, and only their data there: for a key that is
    /// restricted to locations.
    public internal(set) var isOfLocation: Bool

    public init(
        _ audience: Audience, confirmedOnly: Bool = false, environment: APNsEnvironment? = nil,
        isOfLocation: Bool = false
    ) {
        self.audience = audience
        self.confirmedOnly = confirmedOnly
        self.environment = environment
        self.isOfLocation = isOfLocation
    }

    var isBroadcast: Bool { if case .channel = audience { true } else { false } }
}

// MARK: - JSON

extension AudienceRequest {
    /// Reads the ``json``.
    public init(_ json: JSONObject) throws(JSONFieldError) {
        var object = JSONObjectReader(json)
        audience = try Audience(&object)
        confirmedOnly = try object.optionalBool("confirmedOnly") ?? false
        environment = try object.optionalCase("environment", of: APNsEnvironment.self)
        isOfLocation = try object.optionalBool("ofLocation") ?? false
        try object.finish()
    }

    public var json: JSONObject {
        var object = audience.json
        if confirmedOnly { object["confirmedOnly"] = true }
        if isOfLocation { object["ofLocation"] = true }
        object["environment"] = environment.map { .string($0.rawValue) }
        return object
    }
}
