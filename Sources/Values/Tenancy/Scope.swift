/// One thing that a key may do.
public enum Scope: String, Sendable, CaseIterable {
    case lookup
    case confirm
    case compose
    /// To tell of instances of a clip, and what they may be sent.
    case register
    /// To send notifications and to follow them.
    case notify
    /// To read what the tenant has and what became of it.
    case read
    /// To change what the tenant has, keys aside.
    case manage
    /// To create keys, and to revoke them.
    case manageKeys = "manage_keys"
}
