import Foundation
public import JSON

extension RegisteredWebhook {
    /// Without its secret, which is shown once.
    public var json: JSONObject {
        [
            "url": .string(webhook.url.text), "createdAt": JSONValue(createdAt),
            "waiting": JSONValue(waitingCount),
        ]
    }
}
