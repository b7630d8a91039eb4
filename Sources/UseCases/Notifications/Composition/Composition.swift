public import APNsPayload
public import Invocation
public import Routing

/// What became of a notification that was to be composed.
public enum Composition: Sendable, Hashable {
    case composed(ComposedNotification)
    case refused(CompositionRefusal)
}

/// A notification as APNs takes it.
public struct ComposedNotification: Sendable, Hashable {
    public let payload: EncodedPayload
    public let headers: NotificationHeaders
    /// The experience that the URL matches: an advanced one, or that of a clip which needs no target.
    public let experience: RoutedExperience
    public let warnings: [CompositionWarning]
    /// The payload's `target-content-id`; nil where a clip of one business is reached by its default or demo experience.
    public let target: String?
}

/// Why a notification is not composed.
public enum CompositionRefusal: Error, Sendable, Hashable {
    /// No experience matches the URL; or none that is advanced, though the clip serves many businesses, so that the system
    /// could not tell which instance is meant.
    case doesNotMatch
    /// The clip serves many businesses, and what matches is bound to none of them.
    case notBusinessSpecific(matched: RoutedExperience, register: URLPrefix?)
    /// The eight hours in which an App Clip may receive notifications after its launch are over.
    case launchTooLongAgo
    case invalid(PayloadError)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .doesNotMatch: "does_not_match"
        case .notBusinessSpecific: "not_business_specific"
        case .launchTooLongAgo: "launch_too_long_ago"
        case .invalid(let error): error.code
        }
    }
}

extension CompositionRefusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .doesNotMatch:
            "no experience matches the URL, or none that is advanced, which a clip of many businesses needs"
        case .notBusinessSpecific(let matched, _):
            """
            the clip serves many businesses and \(matched.url) is bound to none of them: register an advanced \
            experience for this one, bound to its location
            """
        case .launchTooLongAgo:
            "an App Clip receives notifications for 8 hours after its launch"
        case .invalid(let error):
            "\(error)"
        }
    }
}

/// Something about a composed notification that its sender may not expect.
public enum CompositionWarning: Sendable, Hashable, CustomStringConvertible {
    case payload(PayloadWarning)
    /// The expiration asked for was later than eight hours after the launch.
    case expirationShortened

    public var code: String {
        switch self {
        case .payload(let warning): warning.code
        case .expirationShortened: "expiration_shortened"
        }
    }

    public var description: String {
        switch self {
        case .payload(let warning): "\(warning)"
        case .expirationShortened:
            "apns-expiration is 8 hours after the launch: no notification reaches the App Clip later"
        }
    }
}
