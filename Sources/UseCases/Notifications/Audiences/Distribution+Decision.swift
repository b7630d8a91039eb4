import APNsPayload
public import Foundation
import Tenancy

extension Distribution {
    public enum Decision: Sendable, Hashable {
        /// - Parameter expiresAt: The latest time to send it; nil leaves it to APNs.
        case send(expiresAt: Date?)
        case skip(SkipReason)
    }

    /// The time for which a launch or a confirmation makes an instance a visitor of a business. It equals the time for which a
    /// launch allows notifications.
    public static let presence = NotificationComposer.ephemeralPermission

    /// With these an instance may be shown notifications.
    public static let reachablePermissions: [NotificationPermission] = [
        .ephemeral, .authorized, .provisional,
    ]

    /// The time for which the server tries to send a notification with the expiration 0, which APNs itself tries once. [ours]
    public static let immediateLifetime: TimeInterval = 60

    /// Whether the notification is sent to an instance, and until when that makes sense: the first reason against it that
    /// holds, in the order of ``SkipReason``.
    ///
    /// The full app has replaced the clip and has all that the clip had: it is one, whatever businesses there are, so
    /// that nothing has to find the right experience [Apple, "Choosing the right functionality for your App Clip"].
    /// Permission and the 8 hours are about notifications: a Live Activity has its own token, which ends with it [ours].
    public func decide(_ candidate: Candidate) -> Decision {
        let now = notification.createdAt
        let asked = notification.audience
        let recent = now.addingTimeInterval(-Self.presence)
        guard candidate.clip == notification.clip else { return .skip(.otherBusiness) }
        if clipIsMultiBusiness, candidate.app == .clip, candidate.launchedAtBusiness == nil,
            !(namesInstance && candidate.launch?.isOfNoLocation == true)
        {
            return .skip(.otherBusiness)
        }
        if let environment = asked.environment, candidate.environment != environment {
            return .skip(.wrongEnvironment)
        }
        if asked.confirmedOnly {
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
        var end = expiresAt
        if receiver == .device, candidate.app == .clip, candidate.permission == .ephemeral {
            // A launch that a skewed clock puts in the future counts as one of now.
            let launchedAt = asked.isOfLocation ? candidate.launchedAtBusiness : candidate.launchedAt
            let window = min(launchedAt ?? candidate.launchedAt, now).addingTimeInterval(
                NotificationComposer.ephemeralPermission)
            guard window > now else { return .skip(.windowClosed) }
            end = end.map { min($0, window) } ?? window
        }
        if let target = target(of: candidate) {
            do throws(PayloadError) {
                _ = try EncodedPayload(
                    notification.payload, targeting: target, for: notification.headers.pushType)
            } catch {
                return .skip(.payloadTooLarge)
            }
        }
        return .send(expiresAt: end)
    }

    /// Whether the audience is one instance. If its latest launch led to no location, it is reached whatever business the
    /// notification is of, by the URL of that launch: a person who launches the clip by a generic URL and then chooses a
    /// business is at that business. [ours; WWDC20-10118: the experience with the longest matching prefix receives it]
    public var namesInstance: Bool {
        switch audience {
        case .instance, .activity: true
        case .business, .urlPrefix, .channel: false
        }
    }

    /// The latest time to send it by its own expiration; nil leaves it to APNs.
    public var expiresAt: Date? {
        notification.headers.expiration.map { expiration in
            expiration == .immediate
                ? notification.createdAt.addingTimeInterval(Self.immediateLifetime)
                : Date(timeIntervalSince1970: TimeInterval(expiration.epochSeconds))
        }
    }
}
