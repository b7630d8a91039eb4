public import APNsPayload
public import Foundation
public import Tenancy

/// What deliveries of one notification share: one object for all of them, which are handed on many times.
public final class ClaimedNotification: Sendable {
    public let id: NotificationID
    public let createdAt: Date
    public let team: TeamID
    public let clip: BundleID
    /// What replaces the clip.
    public let fullApp: BundleID
    public let headers: NotificationHeaders
    public let payload: [UInt8]

    public init(
        id: NotificationID, createdAt: Date, team: TeamID, clip: BundleID, fullApp: BundleID,
        headers: NotificationHeaders, payload: [UInt8]
    ) {
        self.id = id
        self.createdAt = createdAt
        self.team = team
        self.clip = clip
        self.fullApp = fullApp
        self.headers = headers
        self.payload = payload
    }
}
