public import APNsPayload
import Formats
public import Foundation
public import Invocation
import Lookups
public import Tenancy

/// A stored notification.
public struct RecordedNotification: Sendable, Hashable {
    public let id: NotificationID
    /// To the millisecond.
    public let createdAt: Date
    /// The target of the notification.
    public let url: String
    /// The registered URL of the experience that it matches.
    public let experienceURL: String
    public let experienceKind: ExperienceKind
    public let clip: BundleID
    /// The location of the target; nil if the experience is not bound to one.
    public let location: LocationIdentifier?
    public internal(set) var audience: AudienceRequest
    public internal(set) var headers: NotificationHeaders
    /// JSON in UTF-8, as APNs takes it.
    public let payload: [UInt8]
    public let warnings: [Warning]
    /// When it was cancelled; nil if it was not.
    public let cancelledAt: Date?

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
        experienceKind: ExperienceKind, clip: BundleID, location: LocationIdentifier?,
        audience: AudienceRequest, headers: NotificationHeaders, payload: [UInt8], warnings: [Warning],
        cancelledAt: Date? = nil
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
        self.cancelledAt = cancelledAt
    }

    /// One that is made now.
    init(
        _ composed: ComposedNotification, _ submission: NotificationSubmission, at business: Business,
        now: Date
    ) {
        let createdAt = now.inMilliseconds(.down)
        self.init(
            id: NotificationID(.timeOrdered(at: createdAt)), createdAt: createdAt,
            url: submission.notification.url.canonical, experienceURL: composed.experience.url,
            experienceKind: composed.experience.kind, clip: composed.experience.clip,
            location: business.location, audience: submission.audience, headers: composed.headers,
            payload: composed.payload.bytes,
            warnings: composed.warnings.map { Warning(code: $0.code, detail: $0.description) })
    }

    /// The business that it leads to.
    public var business: Business {
        if let location { .location(location) } else { .experience(experienceURL) }
    }
}
