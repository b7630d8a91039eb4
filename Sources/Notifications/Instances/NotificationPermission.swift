/// What a person lets an app send, as `UNAuthorizationStatus` names it.
public enum NotificationPermission: String, Sendable, Hashable, CaseIterable {
    /// An App Clip's for eight hours after each launch, without asking. [Apple]
    case ephemeral
    case authorized
    case provisional
    case denied
}
