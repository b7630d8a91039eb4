/// The notifications of a tenant that collapse into one if they have no collapse ID of their own [ours].
public enum CollapsePolicy: String, Sendable, Hashable, CaseIterable {
    case none
    /// All notifications of one business.
    case business
    /// All notifications of one URL.
    case url
}
