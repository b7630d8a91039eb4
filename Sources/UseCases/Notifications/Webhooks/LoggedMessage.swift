public import Formats

/// A message in a webhook's log with its content and the responses to it.
public struct LoggedMessage: Sendable, Hashable {
    /// The attempts have the responses that the log still has.
    public let message: RecordedMessage
    /// The body that was sent, which is JSON.
    public let body: [UInt8]

    public init(message: RecordedMessage, body: [UInt8]) {
        self.message = message
        self.body = body
    }

    /// The message as in the list of messages, with the body, and with each attempt's response as text.
    public var json: JSONObject {
        var json = message.json
        json["body"] = (try? JSONValue(parsing: body)) ?? .null
        json["attempts"] = .array(
            message.attempts.map { attempt in
                var json = attempt.json
                json["response"] =
                    attempt.response.isEmpty
                    ? .null : .string(String(decoding: attempt.response, as: UTF8.self))
                return .object(json)
            })
        return json
    }
}
