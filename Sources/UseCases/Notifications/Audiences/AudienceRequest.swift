public import APNsPayload
public import JSON

/// Whom a notification is for, with all that narrows it, as it was asked for.
public struct AudienceRequest: Sendable, Hashable {
    public let audience: Audience
    /// Whether only those are meant who were confirmed at the target's location within 8 hours.
    public let confirmedOnly: Bool
    /// Nil for both.
    public let environment: APNsEnvironment?

    public init(_ audience: Audience, confirmedOnly: Bool = false, environment: APNsEnvironment? = nil) {
        self.audience = audience
        self.confirmedOnly = confirmedOnly
        self.environment = environment
    }

    var isBroadcast: Bool { if case .channel = audience { true } else { false } }
}

// MARK: - JSON

extension AudienceRequest {
    /// Reads what ``json`` says.
    public init(_ json: JSONObject) throws(JSONFieldError) {
        var object = JSONObjectReader(json)
        audience = try Audience(&object)
        confirmedOnly = try object.optionalBool("confirmedOnly") ?? false
        environment = try object.optionalCase("environment", of: APNsEnvironment.self)
        try object.finish()
    }

    public var json: JSONObject {
        var object = audience.json
        if confirmedOnly { object["confirmedOnly"] = true }
        object["environment"] = environment.map { .string($0.rawValue) }
        return object
    }
}
