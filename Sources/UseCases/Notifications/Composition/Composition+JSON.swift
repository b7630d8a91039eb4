import APNsPayload
public import Formats
import Invocation
import Lookups

extension ComposedNotification {
    /// The form in responses.
    public var json: JSONObject {
        [
            "payload": payload.json,
            "headers": JSONValue(headers.fields),
            "experience": JSONValue(experience),
            "size": JSONValue(payload.bytes.count),
            "warnings": .array(
                warnings.map { ["code": .string($0.code), "detail": .string($0.description)] }),
        ]
    }
}

extension JSONValue {
    /// Headers by the names that APNs has for them.
    init(_ fields: [(name: String, value: String)]) {
        var object = JSONObject()
        for field in fields { object[field.name] = .string(field.value) }
        self = .object(object)
    }
}

extension CompositionRefusal: Refusal {
    public var members: JSONObject {
        var members = JSONObject()
        switch self {
        case .doesNotMatch, .launchTooLongAgo: break
        case .notBusinessSpecific(let matched, let register):
            members["experience"] = JSONValue(matched)
            members["register"] = register.map { .string($0.canonical) }
        case .invalid(.payloadTooLarge(let size, let limit)):
            members["size"] = JSONValue(size)
            members["limit"] = JSONValue(limit)
        case .invalid(let error):
            members["field"] = error.field.map(JSONValue.string)
        }
        return members
    }
}

extension IntakeRefusal: Refusal {
    public var members: JSONObject {
        switch self {
        case .composition(let refusal): refusal.members
        case .wrongAudience, .unknownChannel, .unknownInstance: ["field": "audience"]
        case .channelStoresNothing: ["field": "headers.expiration"]
        case .sandboxOnly: ["field": "environment"]
        case .idempotencyKeyReused: ["field": "Idempotency-Key"]
        }
    }
}
