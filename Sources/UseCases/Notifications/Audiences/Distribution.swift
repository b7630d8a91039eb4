import APNsPayload
import Formats
public import Foundation
public import Tenancy

/// The decisions about a notification's audience. They are the same for every part and on every server.
///
/// Pure: the decision depends only on the notification and the arguments.
public struct Distribution: Sendable {
    public private(set) var notification: RecordedNotification
    public let clipIsMultiBusiness: Bool
    public let receiver: Receiver

    /// - Throws: `IntakeRefusal.wrongAudience` if the notification does not fit the audience.
    public init(
        _ notification: RecordedNotification, clipIsMultiBusiness: Bool
    ) throws(IntakeRefusal) {
        self.notification = notification
        self.clipIsMultiBusiness = clipIsMultiBusiness
        receiver = try Receiver(of: notification)
    }

    public var audience: Audience { notification.audience.audience }

    /// The earliest launch that counts for ``Audience/business``.
    public var audienceStart: Date { notification.createdAt.addingTimeInterval(-Self.presence) }

    /// With the collapse ID of the tenant's policy, if the notification has none. The policy concerns shown notifications, not
    /// Live Activities.
    public func collapsing(under policy: CollapsePolicy) -> Distribution {
        let headers = notification.headers
        guard receiver == .device, headers.collapseID == nil,
            let collapseID = policy.collapseID(of: notification.business, url: notification.url),
            let collapsing = try? NotificationHeaders(
                pushType: headers.pushType, bundleID: notification.clip.text, priority: headers.priority,
                expiration: headers.expiration, collapseID: collapseID)
        else { return self }
        var distribution = self
        distribution.notification.headers = collapsing
        return distribution
    }

    /// Only in the environment `sandbox`, for a test tenant.
    /// - Throws: `IntakeRefusal.sandboxOnly` if the audience is in the environment `production`.
    public func inSandboxOnly() throws(IntakeRefusal) -> Distribution {
        guard notification.audience.environment != .production else { throw .sandboxOnly }
        var distribution = self
        distribution.notification.audience.environment = .sandbox
        return distribution
    }

    /// The stored result for a candidate. `id` is the delivery's ID.
    public func delivery(to candidate: Candidate, id: DeliveryID) -> RecordedDelivery {
        let (state, reason, expiresAt): (DeliveryState, SkipReason?, Date?) =
            switch decide(candidate) {
            case .send(let expiresAt): (.queued, nil, expiresAt?.inMilliseconds(.down))
            case .skip(let reason): (.skipped, reason, nil)
            }
        let mayOverwrite = state == .queued && candidate.hasOtherBusiness
        return RecordedDelivery(
            id: id, instance: candidate.instance, receiver: receiver, environment: candidate.environment,
            target: target(of: candidate), state: state, reason: reason?.rawValue, expiresAt: expiresAt,
            warnings: mayOverwrite ? [RecordedDelivery.mayOverwrite] : [])
    }

    /// The reason why a candidate, and all like it, are skipped; nil if the notification is sent to them.
    public func skipReason(of candidate: Candidate) -> SkipReason? {
        if case .skip(let reason) = decide(candidate) { reason } else { nil }
    }

    /// The URL that launched the instance, if the notification's own URL belongs to another experience.
    ///
    /// iOS routes a notification to one experience of the clip, so a target of another experience would miss this launch
    /// [ours]. iOS does not distinguish experiences in the full app.
    func target(of candidate: Candidate) -> String? {
        guard receiver == .device, candidate.app == .clip, let launch = candidate.launch,
            launch.experienceURL != notification.experienceURL
        else { return nil }
        return launch.url
    }
}

extension Receiver {
    /// Live Activities are started by a token for their type, and changed by the token of each or on a channel.
    fileprivate init(of notification: RecordedNotification) throws(IntakeRefusal) {
        let isActivity = notification.headers.pushType == .liveActivity
        let aps = isActivity ? notification.aps : nil
        let event = aps?["event"]?.stringValue
        switch notification.audience.audience {
        case .instance, .business, .urlPrefix:
            guard isActivity else {
                self = .device
                return
            }
            guard event == "start" else {
                throw .wrongAudience("name an activity or a channel to update or end a Live Activity")
            }
            self = .token(.start(attributesType: aps?["attributes-type"]?.stringValue ?? ""))
        case .activity(_, let id):
            guard isActivity, event != "start" else {
                throw .wrongAudience("an activity accepts only updates and ends of push type liveactivity")
            }
            self = .token(.activity(id))
        case .channel(let id):
            guard isActivity, event != "start" else {
                throw .wrongAudience("a channel accepts only updates and ends of push type liveactivity")
            }
            self = .channel(id)
        }
    }
}

extension RecordedNotification {
    fileprivate var aps: JSONObject? {
        (try? JSONValue(parsing: payload))?.objectValue?["aps"]?.objectValue
    }
}
