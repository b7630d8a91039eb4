import Encodings
public import Foundation
import JSON

/// That a delivery has come to its end, as a tenant's webhook is told.
public struct OutcomeEvent: Sendable, Hashable {
    public let delivery: UUID
    public let notification: UUID
    /// Nil for a broadcast.
    public let instance: InstanceID?
    /// `delivered`, `refused`, `uncertain` or `expired`.
    public let state: String
    /// In APNs' words, or the connection's.
    public let reason: String?
    public let attempts: Int

    public init(
        delivery: UUID, notification: UUID, instance: InstanceID?, state: String, reason: String?,
        attempts: Int
    ) {
        self.delivery = delivery
        self.notification = notification
        self.instance = instance
        self.state = state
        self.reason = reason
        self.attempts = attempts
    }

    /// How many events one message holds, at most.
    static let eventsPerMessage = 100

    /// The bodies of the messages that tell of events.
    ///
    /// Source: Standard Webhooks 1.0, "Payload structure": `type`, `timestamp`, `data`.
    /// - Parameter now: When they happened.
    public static func messages(of events: [OutcomeEvent], at now: Date) -> [[UInt8]] {
        stride(from: 0, to: events.count, by: eventsPerMessage).map { start in
            let part = events[start..<min(start + eventsPerMessage, events.count)]
            return JSONValue.object([
                "type": "deliveries.finished",
                "timestamp": .string(now.rfc3339),
                "data": ["deliveries": .array(part.map { .object($0.json) })],
            ]).serialized()
        }
    }

    private var json: JSONObject {
        [
            "id": .string(delivery.uuidString.lowercased()),
            "notification": .string(notification.uuidString.lowercased()),
            "instance": instance.map { .string($0.description) } ?? .null,
            "state": .string(state), "reason": reason.map(JSONValue.string) ?? .null,
            "attempts": JSONValue(attempts),
        ]
    }
}
