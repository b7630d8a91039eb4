public import APNsPayload
public import Invocation
public import Lookups

/// The reason why a notification cannot be composed.
public enum CompositionRefusal: Error, Sendable, Hashable {
    /// No experience matches the URL, or the clip serves many businesses and no advanced experience does, so that the system
    /// could not choose the instance.
    case doesNotMatch
    /// The clip serves many businesses, and what matches is bound to none of them.
    case notBusinessSpecific(matched: IndexedExperience, register: URLPrefix?)
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
            "no experience matches the URL, or the clip serves many businesses and no advanced experience does"
        case .notBusinessSpecific(let matched, _):
            """
            the clip serves many businesses, but \(matched.url) is bound to no location: register an advanced \
            experience bound to the business's location
            """
        case .launchTooLongAgo:
            "an App Clip receives notifications for 8 hours after its launch"
        case .invalid(let error):
            "\(error)"
        }
    }
}
