/// One thing that a key may do.
public enum Scope: String, Sendable, CaseIterable {
    case lookUp = "look_up"
    case confirm
    case compose
}
