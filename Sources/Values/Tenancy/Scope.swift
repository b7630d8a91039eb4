/// One thing that a key may do.
public enum Scope: String, Sendable, CaseIterable {
    case lookUp = "look_up"
    case confirm
    case compose
    /// To tell of instances of a clip, and what they may be sent.
    case register
    /// To send notifications and to follow them.
    case notify
}
