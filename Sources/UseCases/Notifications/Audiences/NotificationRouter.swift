public import APNsPayload
public import Foundation
public import Tenancy

/// Decides for each instance whether a notification is sent to it, and until when that makes sense.
///
/// Pure: what it decides depends on its arguments alone.
public struct NotificationRouter: Sendable, Hashable {
    /// The clip that the notification is for.
    public let clip: BundleID
    public let clipIsMultiBusiness: Bool
    public let receiver: Receiver
    /// Whether only those are meant who were confirmed at the target's location within 8 hours.
    public let confirmedOnly: Bool
    /// Nil for both.
    public let environment: APNsEnvironment?
    /// As it was asked for.
    public let expiration: NotificationHeaders.Expiration?

    public init(
        clip: BundleID, clipIsMultiBusiness: Bool, receiver: Receiver, confirmedOnly: Bool = false,
        environment: APNsEnvironment? = nil, expiration: NotificationHeaders.Expiration? = nil
    ) {
        self.clip = clip
        self.clipIsMultiBusiness = clipIsMultiBusiness
        self.receiver = receiver
        self.confirmedOnly = confirmedOnly
        self.environment = environment
        self.expiration = expiration
    }

    public enum Decision: Sendable, Hashable {
        /// - Parameter expiresAt: When there is no more point in sending it; nil leaves it to APNs.
        case send(expiresAt: Date?)
        case skip(SkipReason)
    }

    /// Why an instance is not sent a notification.
    public enum SkipReason: String, Sendable, Hashable, CaseIterable {
        /// It was not launched at the target's business, or is of another clip: APNs would show nothing, or the wrong
        /// business.
        case otherBusiness = "other_business"
        case wrongEnvironment = "wrong_environment"
        case notConfirmed = "not_confirmed"
        case permissionDenied = "permission_denied"
        case permissionNotDetermined = "permission_not_determined"
        case noToken = "no_token"
        case tokenDead = "token_dead"
        /// The 8 hours after its latest launch are over.
        case windowClosed = "window_closed"
        /// The URL by which it was launched, which is its target, makes the payload larger than APNs takes.
        case payloadTooLarge = "payload_too_large"
    }

    /// How long a launch or a confirmation makes somebody one of those at a business: as long as a launch lets a clip
    /// receive notifications.
    public static let presence = NotificationComposer.ephemeralPermission

    /// With these an instance may be shown notifications.
    public static let reachablePermissions: [NotificationPermission] = [
        .ephemeral, .authorized, .provisional,
    ]

    /// How long a notification that APNs is to try once (`expiration` 0) is tried to be handed to APNs [ours].
    public static let immediateLifetime: TimeInterval = 60

    /// The first reason that holds, in the order of ``SkipReason``; but what the payload is it does not know.
    ///
    /// The full app has replaced the clip and has all that the clip had: it is one, whatever businesses there are, so
    /// that nothing has to find the right instance [Apple, "Choosing the right functionality for your App Clip"].
    /// Permission and the 8 hours are about notifications: a Live Activity has its own token, which ends with it [ours].
    public func decide(_ candidate: Candidate, at now: Date) -> Decision {
        let recent = now.addingTimeInterval(-Self.presence)
        guard candidate.clip == clip else { return .skip(.otherBusiness) }
        if clipIsMultiBusiness, candidate.app == .clip, candidate.launchedAtBusiness == nil {
            return .skip(.otherBusiness)
        }
        if let environment, candidate.environment != environment { return .skip(.wrongEnvironment) }
        if confirmedOnly {
            guard let confirmedAt = candidate.confirmedAt, confirmedAt > recent else {
                return .skip(.notConfirmed)
            }
        }
        if receiver == .device {
            switch candidate.permission {
            case .denied: return .skip(.permissionDenied)
            case .notDetermined: return .skip(.permissionNotDetermined)
            case .ephemeral, .authorized, .provisional: break
            }
        }
        switch candidate.token {
        case .none: return .skip(.noToken)
        case .dead: return .skip(.tokenDead)
        case .good: break
        }
        guard receiver == .device, candidate.app == .clip, candidate.permission == .ephemeral else {
            return .send(expiresAt: lifetime(from: now))
        }
        // A launch that a skewed clock puts in the future counts as one of now.
        let end = min(candidate.launchedAt, now).addingTimeInterval(NotificationComposer.ephemeralPermission)
        guard end > now else { return .skip(.windowClosed) }
        return .send(expiresAt: lifetime(from: now).map { min($0, end) } ?? end)
    }

    /// Until when it is to be sent by its own expiration.
    func lifetime(from now: Date) -> Date? {
        expiration.map { expiration in
            expiration == .immediate
                ? now.addingTimeInterval(Self.immediateLifetime)
                : Date(timeIntervalSince1970: TimeInterval(expiration.epochSeconds))
        }
    }
}
