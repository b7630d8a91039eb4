/// The database did not respond, or other transactions held a lock for too long: whether a write took
/// effect is unknown.
///
/// Stores throw it if a retry may succeed. Any other error that they throw is a defect.
public struct StoreUnavailable: Error, Sendable, Hashable {
    public init() {}
}
