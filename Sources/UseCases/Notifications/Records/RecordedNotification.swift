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
