/// A permission of a key.
public enum Scope: String, Sendable, CaseIterable {
    case lookup
    case confirm
    case compose
    /// Register instances of a clip and what they may receive.
    case register
    /// Send notifications and follow their delivery.
    case notify
    /// Read the tenant's data and its history.
    case read
    /// Change the tenant's data, except keys.
    case manage
    /// Create and revoke keys.
    case manageKeys = "manage_keys"
}
