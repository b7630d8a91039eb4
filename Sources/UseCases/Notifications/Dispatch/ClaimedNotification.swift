public import APNsPayload
public import Formats
public import Foundation
public import Tenancy

/// The data that deliveries of one notification share. All deliveries refer to one object.
public final class ClaimedNotification: Sendable {
    public let id: NotificationID
    public let createdAt: Date
    public let team: TeamID
    public let clip: BundleID
    /// The app that replaces the clip.
    public let fullApp: BundleID
    public let headers: NotificationHeaders
    public let payload: [UInt8]
    /// The trace of the request that created it.
    public let trace: TraceContext?

    public init(
        id: NotificationID, createdAt: Date, team: TeamID, clip: BundleID, fullApp: BundleID,
        headers: NotificationHeaders, payload: [UInt8], trace: TraceContext? = nil
    ) {
        self.id = id
        self.createdAt = createdAt
        self.team = team
        self.clip = clip
        self.fullApp = fullApp
        self.headers = headers
        self.payload = payload
        self.trace = trace
    }
}
