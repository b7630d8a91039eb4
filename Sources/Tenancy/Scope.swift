/// One thing that a key may do.
public enum Scope: String, Sendable, CaseIterable {
    case lookUp
    case confirm
    case composePayload
}
