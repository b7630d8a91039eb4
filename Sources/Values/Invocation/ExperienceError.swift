/// The reason why an experience, or a part of it, cannot be registered.
public enum ExperienceError: Error, Sendable, Hashable, CustomStringConvertible {
    case appleHost
    case defaultLinkNamesAnotherClip
    case invalidLocationIdentifier
    case invalidIdentifierRule

    /// A name that is stable across versions.
    public var code: String {
        switch self {
        case .appleHost: "apple_host"
        case .defaultLinkNamesAnotherClip: "default_link_names_another_clip"
        case .invalidLocationIdentifier: "invalid_location_identifier"
        case .invalidIdentifierRule: "invalid_identifier_rule"
        }
    }

    public var description: String {
        switch self {
        case .appleHost:
            "at Apple's host, a clip has only its default link https://appclip.apple.com/id?p=<bundle id> and its demo link"
        case .defaultLinkNamesAnotherClip:
            "the default App Clip link names another clip than the experience"
        case .invalidLocationIdentifier:
            """
            a location identifier is 1 to \(LocationIdentifier.maximumLength) characters, \
            none of them a control character
            """
        case .invalidIdentifierRule:
            """
            an identifier rule is path:N with N from 1, query:NAME, hash:NAME or \
            coordinates:LAT,LON[,RADIUS], each name that of another query item
            """
        }
    }
}
