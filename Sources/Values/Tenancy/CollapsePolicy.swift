/// Which notifications of a tenant collapse into one when they have no collapse ID of their own [ours].
public enum CollapsePolicy: String, Sendable, Hashable, CaseIterable {
    case none
    /// All of one business.
    case business
    /// All of one URL.
    case url
}
