import APNsPayload
public import Foundation
import Invocation
import JSON
import Routing
import Tenancy

/// How a notification goes to those it is for: the same for every part of its audience, whichever server takes it in.
public struct Distribution: Sendable {
    public let audience: Audience
    public let business: Business
    public let router: NotificationRouter
    /// When the notification was made, to the millisecond.
    public let createdAt: Date
    private let experienceURL: String
    private let pushType: PushType
    private let payload: [UInt8]

    init(
        _ notification: ComposedNotification, to audience: Audience, at business: Business,
        by router: NotificationRouter, createdAt: Date
    ) {
        self.audience = audience
        self.business = business
        self.router = router
        self.createdAt = createdAt
        experienceURL = notification.experience.url
        pushType = notification.headers.pushType
        payload = notification.payload.bytes
    }

    /// The same as when the notification was made, from what is stored of it; nil for what no request makes.
    public init?(_ notification: RecordedNotification, clipIsMultiBusiness: Bool) {
        guard let request = AudienceRequest(notification.audience),
            let clip = try? BundleID(notification.clip),
            let payload = (try? JSONValue(parsing: notification.payload))?.objectValue,
            let receiver = try? Receiver(
                of: payload, notification.headers.pushType, for: request.audience)
        else { return nil }
        if let location = notification.location {
            guard let location = try? LocationIdentifier(location) else { return nil }
            business = .location(location)
        } else {
            business = .experience(notification.experienceURL)
        }
        audience = request.audience
        router = NotificationRouter(
            clip: clip, clipIsMultiBusiness: clipIsMultiBusiness, receiver: receiver,
            confirmedOnly: request.confirmedOnly, environment: request.environment,
            expiration: notification.headers.expiration)
        createdAt = notification.createdAt
        experienceURL = notification.experienceURL
        pushType = notification.headers.pushType
        self.payload = notification.payload
    }

    /// Since when those who are meant by ``Audience/business`` were launched there.
    public var audienceStart: Date { createdAt.addingTimeInterval(-NotificationRouter.presence) }

    /// Until when a broadcast is sent.
    public var broadcastExpiry: Date? { router.lifetime(from: createdAt) }

    /// What becomes of a candidate, as it is stored; `id` is the delivery's.
    public func delivery(to candidate: Candidate, id: DeliveryID) -> RecordedDelivery {
        let target = target(of: candidate)
        switch decide(candidate, target) {
        case .send(let expiresAt):
            return RecordedDelivery(
                id: id, instance: candidate.instance, receiver: router.receiver,
                environment: candidate.environment, target: target, state: .queued,
                expiresAt: expiresAt?.inMilliseconds(.down),
                warnings: candidate.hasOtherBusiness ? [RecordedDelivery.mayOverwrite] : [])
        case .skip(let reason):
            return RecordedDelivery(
                id: id, instance: candidate.instance, receiver: router.receiver,
                environment: candidate.environment, target: target, state: .skipped,
                reason: reason.rawValue, expiresAt: nil)
        }
    }

    /// Why a candidate, and all that are like it, is skipped; nil for one that is sent the notification.
    public func skipReason(of candidate: Candidate) -> NotificationRouter.SkipReason? {
        if case .skip(let reason) = decide(candidate, target(of: candidate)) { reason } else { nil }
    }

    /// The URL by which the instance was launched, where the notification's own URL is of another experience.
    ///
    /// On a device each experience of a clip has an instance of its own, so a target of another one would lead past it
    /// [ours]. The full app is one, whatever launched it.
    private func target(of candidate: Candidate) -> String? {
        guard candidate.app == .clip, let route = candidate.route, route.experienceURL != experienceURL else {
            return nil
        }
        return route.url
    }

    private func decide(_ candidate: Candidate, _ target: String?) -> NotificationRouter.Decision {
        let decision = router.decide(candidate, at: createdAt)
        guard case .send = decision, let target else { return decision }
        do throws(PayloadError) {
            _ = try EncodedPayload(payload, targeting: target, for: pushType)
            return decision
        } catch {
            return .skip(.payloadTooLarge)
        }
    }
}

extension Receiver {
    /// Live Activities are started by a token for their type, and changed by the token of each or on a channel.
    /// - Parameter payload: The whole of it.
    init(
        of payload: JSONObject, _ pushType: PushType, for audience: Audience
    ) throws(IntakeRefusal) {
        let aps = payload["aps"]?.objectValue
        let event = aps?["event"]?.stringValue
        let isActivity = pushType == .liveActivity
        switch audience {
        case .instance, .business, .urlPrefix:
            guard isActivity else {
                self = .device
                return
            }
            guard event == "start" else {
                throw .wrongAudience("a Live Activity is updated and ended by activity or channel")
            }
            self = .token(.start(attributesType: aps?["attributes-type"]?.stringValue ?? ""))
        case .activity(_, let id):
            guard isActivity, event != "start" else {
                throw .wrongAudience("an activity takes updates and ends of push type liveactivity")
            }
            self = .token(.activity(id))
        case .channel(let id):
            guard isActivity, event != "start" else {
                throw .wrongAudience("a channel takes updates and ends of push type liveactivity")
            }
            self = .channel(id)
        }
    }
}
