public import APNsPayload
public import Foundation
import Invocation
public import JSON
import Routing
public import Tenancy

/// Where notifications and their deliveries are kept.
public protocol NotificationStore: Sendable {
    /// Finds those a notification is for, decides for each, and stores notification, deliveries and idempotency key: all
    /// of it or nothing.
    /// - Throws: `NotificationStoreError.unavailable`; what was sent with an idempotency key can be sent again then.
    func add(_ draft: NotificationDraft, of tenant: TenantID) async throws -> Addition

    /// What was stored with a key within 24 hours; nil when nothing was.
    func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition?

    /// A notification with its deliveries behind the one named, in the order of their IDs; nil when the tenant has none of
    /// this ID.
    func trace(
        _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace?
}

/// What became of a notification that was to be stored.
public enum Addition: Sendable, Hashable {
    /// With the first ``NotificationDraft/answeredDeliveries`` deliveries, as they were when it was stored.
    case added(NotificationTrace)
    /// The key was used for the same request before: what that was answered.
    case repeated(NotificationTrace)
    /// The key was used for another request.
    case keyReused
    case audienceTooLarge
    case unknownChannel
}

/// A notification that is composed, before it is known whom it goes to.
public struct NotificationDraft: Sendable {
    public let url: String
    public let experienceURL: String
    public let clip: BundleID
    public let clipIsMultiBusiness: Bool
    public let business: Business
    public let audience: Audience
    /// As it was asked for.
    public let asked: JSONObject
    public let payload: [UInt8]
    public let warnings: [RecordedNotification.Warning]
    public let router: NotificationRouter
    public let idempotencyKey: IdempotencyKey?
    /// When it is made, to the millisecond.
    public let createdAt: Date
    private let headers: NotificationHeaders

    /// The most instances one notification goes to [ours].
    public static let maximumAudience = 10_000
    /// How many deliveries the answer holds.
    public static let answeredDeliveries = 1_000

    init(
        _ notification: ComposedNotification, _ submission: NotificationSubmission, business: Business,
        receiver: Receiver, at now: Date
    ) {
        let experience = notification.experience
        url = submission.notification.url.canonical
        experienceURL = experience.url
        clip = experience.clip
        clipIsMultiBusiness = experience.clipIsMultiBusiness
        self.business = business
        audience = submission.audience
        asked = submission.asked
        headers = notification.headers
        payload = notification.payload.bytes
        warnings = notification.warnings.map { .init(code: $0.code, detail: $0.description) }
        router = NotificationRouter(
            clip: experience.clip, clipIsMultiBusiness: experience.clipIsMultiBusiness, receiver: receiver,
            confirmedOnly: submission.confirmedOnly, environment: submission.environment,
            expiration: notification.headers.expiration)
        idempotencyKey = submission.idempotencyKey
        createdAt = now.inMilliseconds(.down)
    }

    /// The headers of a tenant with a collapse policy, which concerns notifications alone.
    public func headers(under policy: CollapsePolicy) -> NotificationHeaders {
        guard router.receiver == .device, headers.collapseID == nil,
            let collapseID = policy.collapseID(of: business, url: url),
            let collapsing = try? NotificationHeaders(
                pushType: headers.pushType, bundleID: clip.text, priority: headers.priority,
                expiration: headers.expiration, collapseID: collapseID)
        else { return headers }
        return collapsing
    }

    /// Since when those who are meant by ``Audience/business`` were launched there.
    public var audienceStart: Date { createdAt.addingTimeInterval(-NotificationRouter.presence) }

    /// Until when a broadcast is sent.
    public var broadcastExpiry: Date? { router.lifetime(from: createdAt) }

    /// What becomes of a candidate, as it is stored; `id` is the delivery's.
    public func delivery(to candidate: Candidate, id: DeliveryID) -> RecordedDelivery {
        switch router.decide(candidate, at: createdAt) {
        case .send(let expiresAt):
            RecordedDelivery(
                id: id, instance: candidate.instance, receiver: router.receiver,
                environment: candidate.environment, state: .queued,
                expiresAt: expiresAt?.inMilliseconds(.down),
                warnings: candidate.hasOtherBusiness ? [RecordedDelivery.mayOverwrite] : [])
        case .skip(let reason):
            RecordedDelivery(
                id: id, instance: candidate.instance, receiver: router.receiver,
                environment: candidate.environment, state: .skipped, reason: reason.rawValue, expiresAt: nil)
        }
    }
}
