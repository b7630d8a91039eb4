public import Formats
import Foundation

extension RecordedMessage {
    public var json: JSONObject {
        [
            "id": .string(id.uuidString.lowercased()), "type": .string(type),
            "state": .string(state.rawValue), "createdAt": JSONValue(createdAt),
            "dueAt": dueAt.map { JSONValue($0) } ?? .null,
            "attempts": .array(attempts.map { .object($0.json) }),
        ]
    }
}

extension WebhookAttempt {
    /// The form in the log and in storage, without the response's body.
    public var json: JSONObject {
        var json: JSONObject = [
            "at": .string(at.rfc3339WithMilliseconds),
            "milliseconds": JSONValue(Int((duration / .milliseconds(1)).rounded())),
            "status": .null, "reason": .null,
        ]
        switch reply {
        case .status(let status, _): json["status"] = JSONValue(status)
        case .noResponse(let reason): json["reason"] = .string(reason)
        }
        return json
    }

    /// - Throws: `JSONFieldError` for what ``json`` does not make.
    public init(_ json: JSONValue) throws(JSONFieldError) {
        var reader = try JSONObjectReader(json)
        let text = try reader.requiredString("at")
        guard let at = Date(rfc3339: text) else { throw .invalid(path: "at", reason: "must be a time") }
        let duration = Duration.milliseconds(try reader.requiredInteger("milliseconds"))
        let status = try reader.requiredValue("status").numberValue?.int
        let reason = try reader.requiredValue("reason").stringValue
        try reader.finish()
        self.init(
            at: at, duration: duration,
            reply: status.map { .status($0) } ?? .noResponse(reason ?? ""))
    }
}
