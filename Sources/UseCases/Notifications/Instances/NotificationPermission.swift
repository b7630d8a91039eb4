/// What a person lets an app send: `UNAuthorizationStatus` in full, by its names. [Apple]
public enum NotificationPermission: String, Sendable, Hashable, CaseIterable {
    /// Nobody has been asked yet, as usual after the full app has replaced the clip: nothing is shown. [Apple]
    case notDetermined
    /// An App Clip's for eight hours after each launch, without asking. [Apple]
    case ephemeral
    case authorized
    case provisional
    case denied
}
