public import Formats
public import Foundation

/// The webhook event of a finished delivery.
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

    public var json: JSONObject {
        [
            "id": .string(delivery.uuidString.lowercased()),
            "notification": .string(notification.uuidString.lowercased()),
            "instance": instance.map { .string($0.description) } ?? .null,
            "state": .string(state), "reason": reason.map(JSONValue.string) ?? .null,
            "attempts": JSONValue(attempts),
        ]
    }
}
