public import Formats
import Foundation
import Invocation

extension RegisteredWebhook {
    public var json: JSONObject {
        [
            "id": .string(id.description), "name": name.map { .string($0.text) } ?? .null,
            "url": .string(url.text),
            "events": .array(events.names.map(JSONValue.string)), "enabled": .bool(switchOff == nil),
            "createdAt": JSONValue(createdAt), "failingSince": failingSince.map { JSONValue($0) } ?? .null,
            "disabledAt": (switchOff?.at).map { JSONValue($0) } ?? .null,
            "disabledReason": (switchOff?.reason).map(JSONValue.string) ?? .null,
            "waiting": JSONValue(waitingCount),
            "previousSecretEndsAt": previousSecretEndsAt.map { JSONValue($0) } ?? .null,
        ]
    }

    /// The JSON with the secret. Only the response that creates the secret contains it.
    public func json(showing secret: WebhookSecret) -> JSONObject {
        var json = json
        json["secret"] = .string(secret.text)
        return json
    }
}
