import APNsPayload
import JSON

/// Whom a notification is for, with all that narrows it, as it was asked for.
struct AudienceRequest: Sendable, Hashable {
    let audience: Audience
    let confirmedOnly: Bool
    let environment: APNsEnvironment?

    init(_ audience: Audience, confirmedOnly: Bool, environment: APNsEnvironment?) {
        self.audience = audience
        self.confirmedOnly = confirmedOnly
        self.environment = environment
    }

    /// Reads what ``json`` says; nil for anything else.
    init?(_ json: JSONObject) {
        do throws(JSONFieldError) {
            var object = JSONObjectReader(json)
            audience = try Audience(&object)
            confirmedOnly = try object.optionalBool("confirmedOnly") ?? false
            environment = try object.optionalCase("environment", of: APNsEnvironment.self)
            try object.finish()
        } catch {
            return nil
        }
    }

    var json: JSONObject {
        var object = audience.json
        if confirmedOnly { object["confirmedOnly"] = true }
        object["environment"] = environment.map { .string($0.rawValue) }
        return object
    }
}
