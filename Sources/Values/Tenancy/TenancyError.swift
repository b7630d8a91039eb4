/// The reason why a text is not a valid ID, name or key.
public enum TenancyError: Error, Sendable, Hashable, CustomStringConvertible {
    case invalidBundleID
    case invalidTeamID
    case invalidAppIDPrefix
    case invalidSlug
    case invalidKey

    /// A name that is stable across versions.
    public var code: String {
        switch self {
        case .invalidBundleID: "invalid_bundle_id"
        case .invalidTeamID: "invalid_team_id"
        case .invalidAppIDPrefix: "invalid_app_id_prefix"
        case .invalidSlug: "invalid_slug"
        case .invalidKey: "invalid_key"
        }
    }

    public var description: String {
        switch self {
        case .invalidBundleID:
            "a bundle ID is two or more components of letters, digits and hyphens, joined by dots"
        case .invalidTeamID:
            "a team ID is ten upper-case letters and digits"
        case .invalidAppIDPrefix:
            "an App ID prefix is ten upper-case letters and digits"
        case .invalidSlug:
            "a slug is 1 to 63 lower-case letters, digits and hyphens, with no hyphen at either end"
        case .invalidKey:
            "not a Doorstep key: it is mistyped or cut short"
        }
    }
}
