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
