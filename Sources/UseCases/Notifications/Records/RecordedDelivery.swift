public import APNsPayload
import Formats
public import Foundation

/// A stored delivery of a notification to one receiver, with all responses of APNs.
public struct RecordedDelivery: Sendable, Hashable {
    public let id: DeliveryID
    /// Nil for a broadcast.
    public let instance: InstanceID?
    public let receiver: Receiver
    public let environment: APNsEnvironment
    /// The `target-content-id` of this delivery: the URL that launched the instance; nil if it is the notification's.
    public private(set) var target: String?
    public let state: DeliveryState
    public let reason: String?
    /// To the millisecond.
    public let expiresAt: Date?
    public let attempt: Int
    public let dueAt: Date?
    public let finishedAt: Date?
    public let responses: [DeliveryResponse]
    public let warnings: [String]

    public init(
        id: DeliveryID, instance: InstanceID?, receiver: Receiver, environment: APNsEnvironment,
        target: String? = nil, state: DeliveryState, reason: String? = nil, expiresAt: Date?,
        attempt: Int = 0, dueAt: Date? = nil, finishedAt: Date? = nil, responses: [DeliveryResponse] = [],
        warnings: [String] = []
    ) {
        self.id = id
        self.instance = instance
        self.receiver = receiver
        self.environment = environment
        self.target = target
        self.state = state
        self.reason = reason
        self.expiresAt = expiresAt?.inMilliseconds(.toNearestOrEven)
        self.attempt = attempt
        self.dueAt = dueAt
        self.finishedAt = finishedAt
        self.responses = responses
        self.warnings = warnings
    }

    /// Sets the target of the notification's payload, unless the delivery has its own.
    public mutating func setTarget(ofPayload payload: [UInt8]?) {
        guard target == nil, let payload else { return }
        let aps = (try? JSONValue(parsing: payload))?.objectValue?["aps"]?.objectValue
        target = aps?["target-content-id"]?.stringValue
    }

    /// Another business's notification that waits for the device while it is offline is replaced by this one: APNs keeps
    /// one for each app and device [Apple].
    public static let mayOverwrite = "may_overwrite"
}
