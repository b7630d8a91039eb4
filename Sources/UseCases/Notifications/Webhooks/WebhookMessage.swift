public import Formats
public import Foundation

/// A message on its way to a tenant.
public struct WebhookMessage: Sendable, Hashable {
    /// The same for every webhook and every attempt, so that receivers can recognize repetitions.
    public let id: UUID
    /// JSON.
    public let body: [UInt8]
    /// 1 for the first attempt. A lease names it, and results with another number are ignored.
    public let attempt: Int
    /// The trace of the request that caused the event; nil if its caller named none.
    public let trace: TraceContext?

    public init(id: UUID, body: [UInt8], attempt: Int, trace: TraceContext? = nil) {
        self.id = id
        self.body = body
        self.attempt = attempt
        self.trace = trace
    }

    /// A new one, which was not sent yet.
    ///
    /// Source: Standard Webhooks 1.0, "Payload structure": `type`, `timestamp`, `data`; `id` is also the field `webhook-id`.
    /// - Parameters:
    ///   - isSample: Whether no such event happened. The message then has `sample: true`.
    ///   - now: The time of the event.
    public init(_ type: String, _ data: JSONObject, isSample: Bool = false, at now: Date) {
        let id = UUID.timeOrdered(at: now)
        var body: JSONObject = [
            "id": .string(id.uuidString.lowercased()), "type": .string(type),
            "timestamp": .string(now.rfc3339), "data": .object(data),
        ]
        if isSample { body["sample"] = true }
        self.init(id: id, body: JSONValue.object(body).serialized(), attempt: 0)
    }

    /// A sample of an event.
    public init(sampleOf event: WebhookEvent, at now: Date) {
        self.init(event.rawValue, event.sample, isSample: true, at: now)
    }

    /// Maximum number of items in one message.
    public static let itemLimit = 100

    /// New messages with all these items, split by the maximum.
    /// - Parameter name: The member of a message's data that contains them.
    public static func messages(
        _ event: WebhookEvent, _ name: String, _ items: [JSONObject], at now: Date
    ) -> [WebhookMessage] {
        stride(from: 0, to: items.count, by: itemLimit).map { start in
            let part = items[start..<min(start + itemLimit, items.count)]
            return WebhookMessage(event.rawValue, [name: .array(part.map { .object($0) })], at: now)
        }
    }
}
