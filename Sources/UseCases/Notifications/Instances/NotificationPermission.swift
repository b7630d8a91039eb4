/// The person's permission for notifications: `UNAuthorizationStatus`, with Apple's names. [Apple]
public enum NotificationPermission: String, Sendable, Hashable, CaseIterable {
    /// The person has not been asked yet, as is usual after the full app has replaced the clip: nothing is shown. [Apple]
    case notDetermined
    /// An App Clip's for eight hours after each launch, without asking. [Apple]
    case ephemeral
    case authorized
    case provisional
    case denied
}
