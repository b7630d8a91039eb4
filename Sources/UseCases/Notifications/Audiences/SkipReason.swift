/// The reason why a notification is not sent to an instance.
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
    /// With the launch URL as target, the payload is too large for APNs.
    case payloadTooLarge = "payload_too_large"
}
