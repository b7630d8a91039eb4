public import APNsPayload
public import Foundation
public import Invocation
public import JSON

/// A notification as it is stored.
public struct RecordedNotification: Sendable, Hashable {
    public let id: NotificationID
    public let createdAt: Date
    /// Where it leads.
    public let url: String
    /// The registered URL of the experience that it matches.
    public let experienceURL: String
    public let experienceKind: ExperienceKind
    public let clip: String
    public let location: String?
    /// Whom it is for, as it was asked.
    public let audience: JSONObject
    public let headers: NotificationHeaders
    /// JSON in UTF-8, as APNs takes it.
    public let payload: [UInt8]
    public let warnings: [Warning]

    /// Something that its sender may not expect.
    public struct Warning: Sendable, Hashable {
        public let code: String
        public let detail: String

        public init(code: String, detail: String) {
            self.code = code
            self.detail = detail
        }
    }

    public init(
        id: NotificationID, createdAt: Date, url: String, experienceURL: String,
        experienceKind: ExperienceKind, clip: String, location: String?, audience: JSONObject,
        headers: NotificationHeaders, payload: [UInt8], warnings: [Warning]
    ) {
        self.id = id
        self.createdAt = createdAt
        self.url = url
        self.experienceURL = experienceURL
        self.experienceKind = experienceKind
        self.clip = clip
        self.location = location
        self.audience = audience
        self.headers = headers
        self.payload = payload
        self.warnings = warnings
    }
}

/// How it stands with a delivery.
public enum DeliveryState: String, Sendable, Hashable, CaseIterable {
    /// Never sent, by decision.
    case skipped
    case queued
    /// Lent to a server, which is sending it.
    case sending
    /// APNs has taken it.
    case delivered
    /// APNs has not taken it and will not: a dead letter.
    case refused
    /// APNs may have taken it: no answer came.
    case uncertain
    /// There was no more point in sending it.
    case expired
}

/// A notification's delivery to one receiver as it is stored, with all that APNs has said.
public struct RecordedDelivery: Sendable, Hashable {
    public let id: DeliveryID
    /// Nil for a broadcast.
    public let instance: InstanceID?
    public let receiver: Receiver
    public let environment: APNsEnvironment
    /// The URL by which the instance was launched, as the target in the place of the notification's; nil for that.
    public let target: String?
    public let state: DeliveryState
    public let reason: String?
    /// To the millisecond.
    public let expiresAt: Date?
    public let attempt: Int
    public let dueAt: Date?
    public let finishedAt: Date?
    public let answers: [DeliveryAnswer]
    public let warnings: [String]

    public init(
        id: DeliveryID, instance: InstanceID?, receiver: Receiver, environment: APNsEnvironment,
        target: String? = nil, state: DeliveryState, reason: String? = nil, expiresAt: Date?,
        attempt: Int = 0, dueAt: Date? = nil, finishedAt: Date? = nil, answers: [DeliveryAnswer] = [],
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
        self.answers = answers
        self.warnings = warnings
    }

    /// Another business's notification that waits for the device while it is offline is replaced by this one: APNs keeps
    /// one for each app and device [Apple].
    public static let mayOverwrite = "may_overwrite"
}

/// How one attempt of a delivery ended.
public struct DeliveryAnswer: Sendable, Hashable {
    public let attempt: Int
    public let at: Date
    public let result: Result

    public enum Result: Sendable, Hashable {
        case answered(status: Int, reason: String?, uniqueID: String?)
        /// Whether APNs has it is not known where the failure came after it was sent.
        case failed(String)
    }

    public init(attempt: Int, at: Date, result: Result) {
        self.attempt = attempt
        self.at = at
        self.result = result
    }
}

/// How many deliveries of a notification are in a state, for a reason.
public struct DeliveryCount: Sendable, Hashable {
    public let state: DeliveryState
    public let reason: String?
    public let count: Int

    public init(state: DeliveryState, reason: String?, count: Int) {
        self.state = state
        self.reason = reason
        self.count = count
    }
}

/// A notification with some of its deliveries, in the order of their IDs.
public struct NotificationTrace: Sendable, Hashable {
    public let notification: RecordedNotification
    /// Of all deliveries, and of those who were skipped without one.
    public let counts: [DeliveryCount]
    public let deliveries: [RecordedDelivery]
    /// Whether there are more behind them.
    public let hasMore: Bool
    /// Whether the whole audience has been taken in; until then there are deliveries to come.
    public let isComplete: Bool

    public init(
        notification: RecordedNotification, counts: [DeliveryCount], deliveries: [RecordedDelivery],
        hasMore: Bool, isComplete: Bool = true
    ) {
        self.notification = notification
        self.counts = counts
        self.deliveries = deliveries
        self.hasMore = hasMore
        self.isComplete = isComplete
    }
}
