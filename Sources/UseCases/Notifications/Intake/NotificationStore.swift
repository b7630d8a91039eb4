import APNsPayload
import Foundation
import Invocation
import JSON
import Routing
public import Tenancy

/// Where notifications and their deliveries are kept.
public protocol NotificationStore: Sendable {
    /// Finds those a notification is for, decides for each, and stores notification, deliveries and idempotency key: all
    /// of it or nothing. Of an audience that is larger than one part the first is taken in so, and the rest is left to
    /// ``continueAudience(of:)``.
    /// - Throws: `NotificationStoreError.unavailable`; what was sent with an idempotency key can be sent again then.
    func add(_ draft: NotificationDraft, of tenant: TenantID) async throws -> Addition

    /// Those of whom a part of an audience is still to be taken in; none that is suspended.
    func tenantsWithAudiencesToContinue() async throws -> [TenantID]

    /// Takes in the next part of the audience of the tenant that waits longest, as it was when the notification was made:
    /// all of the part or nothing.
    /// - Returns: Nil when there is none, or others are at it.
    func continueAudience(of tenant: TenantID) async throws -> AudiencePart?

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
    /// With the first ``NotificationDraft/answeredDeliveries`` deliveries, and what was decided in the first part of the
    /// audience.
    case added(NotificationTrace)
    /// The key was used for the same request before: what that was answered, with the parts of the audience that have
    /// followed since.
    case repeated(NotificationTrace)
    /// The key was used for another request.
    case keyReused
    case unknownChannel
}

/// A part of an audience that was taken in after the first.
public struct AudiencePart: Sendable, Hashable {
    public let notification: NotificationID
    public let counts: [DeliveryCount]
    /// Whether it was the last.
    public let isLast: Bool

    public init(notification: NotificationID, counts: [DeliveryCount], isLast: Bool) {
        self.notification = notification
        self.counts = counts
        self.isLast = isLast
    }
}

/// A notification that is composed, before it is known whom it goes to.
public struct NotificationDraft: Sendable {
    public let distribution: Distribution
    public let idempotencyKey: IdempotencyKey?
    private let url: String
    private let experience: RoutedExperience
    private let asked: JSONObject
    private let headers: NotificationHeaders
    private let payload: [UInt8]
    private let warnings: [RecordedNotification.Warning]

    /// How many deliveries the answer holds.
    public static let answeredDeliveries = 1_000

    init(
        _ notification: ComposedNotification, _ submission: NotificationSubmission, business: Business,
        receiver: Receiver, at now: Date
    ) {
        experience = notification.experience
        url = submission.notification.url.canonical
        asked =
            AudienceRequest(
                submission.audience, confirmedOnly: submission.confirmedOnly,
                environment: submission.environment
            ).json
        headers = notification.headers
        payload = notification.payload.bytes
        warnings = notification.warnings.map { .init(code: $0.code, detail: $0.description) }
        let router = NotificationRouter(
            clip: experience.clip, clipIsMultiBusiness: experience.clipIsMultiBusiness, receiver: receiver,
            confirmedOnly: submission.confirmedOnly, environment: submission.environment,
            expiration: notification.headers.expiration)
        distribution = Distribution(
            notification, to: submission.audience, at: business, by: router,
            createdAt: now.inMilliseconds(.down))
        idempotencyKey = submission.idempotencyKey
    }

    public var clip: BundleID { experience.clip }

    /// As it is stored for a tenant with a collapse policy.
    public func notification(id: NotificationID, under policy: CollapsePolicy) -> RecordedNotification {
        RecordedNotification(
            id: id, createdAt: distribution.createdAt, url: url, experienceURL: experience.url,
            experienceKind: experience.kind, clip: clip.text, location: distribution.business.location?.text,
            audience: asked, headers: headers(under: policy), payload: payload, warnings: warnings)
    }

    /// The policy concerns notifications alone.
    private func headers(under policy: CollapsePolicy) -> NotificationHeaders {
        guard distribution.router.receiver == .device, headers.collapseID == nil,
            let collapseID = policy.collapseID(of: distribution.business, url: url),
            let collapsing = try? NotificationHeaders(
                pushType: headers.pushType, bundleID: clip.text, priority: headers.priority,
                expiration: headers.expiration, collapseID: collapseID)
        else { return headers }
        return collapsing
    }
}
