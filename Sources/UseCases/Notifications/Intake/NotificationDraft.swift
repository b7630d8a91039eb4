import APNsPayload
import Foundation
import Invocation
import JSON
import Routing
public import Tenancy

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
