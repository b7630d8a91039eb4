public import Tenancy

/// Why nothing can be registered, or no plan be made.
public enum RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Two desired experiences have one URL.
    case desiredTwice(url: String)
    /// Two records of what was done have one URL.
    case appliedTwice(url: String)
    /// Two records of what was done have one experience at App Store Connect, or it is also among the removed.
    case contradictoryID(String)
    case notConnected(BundleID)
    /// A key that none of the server's secrets opens.
    case unreadableKey(BundleID)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .desiredTwice: "desired_twice"
        case .appliedTwice: "applied_twice"
        case .contradictoryID: "contradictory_id"
        case .notConnected: "not_connected"
        case .unreadableKey: "unreadable_key"
        }
    }

    public var description: String {
        switch self {
        case .desiredTwice(let url): "two experiences are desired for \(url)"
        case .appliedTwice(let url): "there are two records of what was registered for \(url)"
        case .contradictoryID(let id): "the records contradict each other about experience \(id)"
        case .notConnected(let clip): "the clip \(clip) is not connected to App Store Connect"
        case .unreadableKey(let clip):
            "the key of the clip \(clip) was sealed by a secret that is not given: connect it anew"
        }
    }
}
