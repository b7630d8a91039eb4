public import APNsPayload
public import Foundation
import Tenancy

/// A delivery that is leased to this server.
public struct ClaimedDelivery: Sendable {
    public let id: DeliveryID
    public let notification: ClaimedNotification
    /// The number of the lease, from 1.
    public let attempt: Int
    /// The number of earlier attempts without a response.
    public let lostReplies: Int
    /// The number of times that APNs has asked to try again later.
    public let postponements: Int
    /// The latest time to send it.
    public let expiresAt: Date?
    public let environment: APNsEnvironment
    /// In the place of the notification's own; nil for that.
    public let target: String?
    public let destination: Destination

    /// The current receiver, because an instance may have changed since the delivery was queued.
    public enum Destination: Sendable, Hashable {
        /// - Parameter digest: Identifies the token, and shows whether it has changed.
        case device(PushToken, app: InstalledApp, instance: InstanceID, place: TokenKind, digest: [UInt8])
        case channel(String)
        /// The delivery has no receiver any more. The reason is a stable name.
        case nowhere(String)
    }

    public init(
        id: DeliveryID, notification: ClaimedNotification, attempt: Int, lostReplies: Int,
        postponements: Int, expiresAt: Date?, environment: APNsEnvironment, target: String? = nil,
        destination: Destination
    ) {
        self.id = id
        self.notification = notification
        self.attempt = attempt
        self.lostReplies = lostReplies
        self.postponements = postponements
        self.expiresAt = expiresAt
        self.environment = environment
        self.target = target
        self.destination = destination
    }

    /// The data to send; nil for a delivery without a target.
    ///
    /// The full app has replaced the clip: its topic then, whichever the notification was composed for [Apple].
    func request(of tenant: TenantID) throws(PayloadError) -> PushRequest? {
        let (clip, headers) = (notification.clip, notification.headers)
        let app: BundleID
        let pushDestination: PushRequest.Destination
        switch destination {
        case .nowhere: return nil
        case .channel(let id):
            app = clip
            pushDestination = .channel(id, bundleID: clip)
        case .device(let token, let installed, _, _, _):
            app = installed == .full ? notification.fullApp : clip
            pushDestination = .device(token)
        }
        return PushRequest(
            tenant: tenant, team: notification.team, environment: environment, destination: pushDestination,
            headers: try NotificationHeaders(
                pushType: headers.pushType, bundleID: app.text, priority: headers.priority,
                expiration: expiration, collapseID: headers.collapseID, id: id.description),
            payload: try payload)
    }

    /// As sent: the notification's payload, with the delivery's own target.
    public var payload: [UInt8] {
        get throws(PayloadError) {
            guard let target else { return notification.payload }
            return try EncodedPayload(
                notification.payload, targeting: target, for: notification.headers.pushType
            ).bytes
        }
    }

    /// The requested expiration, limited by the delivery's own.
    private var expiration: NotificationHeaders.Expiration? {
        let asked = notification.headers.expiration
        guard asked != .immediate, let expiresAt else { return asked }
        return NotificationHeaders.Expiration(epochSeconds: Int(max(0, expiresAt.timeIntervalSince1970)))
    }
}
