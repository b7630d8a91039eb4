public import APNsPayload
public import Foundation
public import Tenancy

/// The deliveries that are still to be made, lent to one server at a time.
///
/// A loan ends when it is completed, or after its time: any server may take the delivery then. The number of the attempt
/// fences: a completion of an earlier attempt than the last does nothing, unless it is that APNs has taken the delivery.
public protocol Outbox: Sendable {
    /// The tenants that something is due of, in the order of their IDs.
    func tenantsWithDueDeliveries() async throws -> [DueTenant]

    /// Takes those that are due longest, at most so many, for as long as the loan lasts.
    ///
    /// One that was lent before, and never completed, has a lost reply more: its server may have sent it.
    func claim(_ limit: Int, of tenant: TenantID, for lease: Duration) async throws -> [ClaimedDelivery]

    /// Writes down what became of deliveries, and of their tokens: all of it or nothing.
    /// - Returns: How many were still lent by the attempt that completes them.
    /// - Throws: `NotificationStoreError.unavailable` when it may be done as it is asked another time; anything else is
    ///   about what is asked.
    @discardableResult
    func complete(_ completions: [Completion], of tenant: TenantID) async throws -> Int
}

/// A tenant that something is due of.
public struct DueTenant: Sendable, Hashable {
    public let tenant: TenantID
    /// How long it is due, by the outbox's own clock.
    public let overdue: Duration

    public init(tenant: TenantID, overdue: Duration) {
        self.tenant = tenant
        self.overdue = overdue
    }
}

/// A delivery that is lent to this server.
public struct ClaimedDelivery: Sendable {
    public let id: DeliveryID
    public let notification: ClaimedNotification
    /// The number of the loan, from 1.
    public let attempt: Int
    /// Of how many attempts before no answer came back.
    public let lostReplies: Int
    /// How often APNs has asked to try again later.
    public let postponements: Int
    /// When there is no more point in sending it.
    public let expiresAt: Date?
    public let environment: APNsEnvironment
    /// In the place of the notification's own; nil for that.
    public let target: String?
    public let destination: Destination

    /// Where it goes now; an instance may have changed since it was queued.
    public enum Destination: Sendable, Hashable {
        /// - Parameter digest: What the token is found by; tells whether it is still the same.
        case device(PushToken, app: InstalledApp, instance: InstanceID, place: TokenPlace, digest: [UInt8])
        case channel(String)
        /// It can go nowhere any more; the reason is a stable name.
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

    /// What is sent; nil for a delivery that can go nowhere.
    ///
    /// The full app has replaced the clip: its topic then, whichever the notification was composed for [Apple].
    func request(of tenant: TenantID) throws(PayloadError) -> PushRequest? {
        let clip = notification.clip
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
                pushType: notification.pushType, bundleID: app.text, priority: notification.priority,
                expiration: expiration, collapseID: notification.collapseID, id: id.description),
            payload: try payload)
    }

    /// As it is sent: the notification's, with the delivery's own target.
    public var payload: [UInt8] {
        get throws(PayloadError) {
            guard let target else { return notification.payload }
            return try EncodedPayload(
                notification.payload, targeting: target, for: notification.pushType
            ).bytes
        }
    }

    /// What was asked for, but never later than the delivery's own.
    private var expiration: NotificationHeaders.Expiration? {
        guard notification.expiration != .immediate, let expiresAt else { return notification.expiration }
        return NotificationHeaders.Expiration(epochSeconds: Int(max(0, expiresAt.timeIntervalSince1970)))
    }
}

/// What deliveries of one notification share: one object for all of them, which are handed on many times.
public final class ClaimedNotification: Sendable {
    public let id: NotificationID
    public let createdAt: Date
    public let team: TeamID
    public let clip: BundleID
    /// What replaces the clip.
    public let fullApp: BundleID
    public let pushType: PushType
    public let priority: NotificationHeaders.Priority
    public let collapseID: String?
    public let expiration: NotificationHeaders.Expiration?
    public let payload: [UInt8]

    public init(
        id: NotificationID, createdAt: Date, team: TeamID, clip: BundleID, fullApp: BundleID,
        pushType: PushType, priority: NotificationHeaders.Priority, collapseID: String?,
        expiration: NotificationHeaders.Expiration?, payload: [UInt8]
    ) {
        self.id = id
        self.createdAt = createdAt
        self.team = team
        self.clip = clip
        self.fullApp = fullApp
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiration = expiration
        self.payload = payload
    }
}

/// What became of one attempt.
public struct Completion: Sendable {
    public let delivery: ClaimedDelivery
    public let verdict: DeliveryVerdict
    /// Nil when nothing was tried.
    public let answer: DeliveryAnswer?

    public init(delivery: ClaimedDelivery, verdict: DeliveryVerdict, answer: DeliveryAnswer?) {
        self.delivery = delivery
        self.verdict = verdict
        self.answer = answer
    }
}
