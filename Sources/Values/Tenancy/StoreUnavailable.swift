/// The database did not respond, or other transactions held a lock for too long: whether a write took
/// effect is unknown.
///
/// Stores throw it if a retry may succeed. Any other error that they throw is a defect. All are equal: the cause
/// is for people and the log.
public struct StoreUnavailable: Error, Sendable, Hashable {
    /// A stable name such as `lock_timeout`; nil if the database itself responded.
    public let cause: String?

    public init(_ cause: String? = nil) {
        self.cause = cause
    }

    public static func == (_: StoreUnavailable, _: StoreUnavailable) -> Bool { true }
    public func hash(into _: inout Hasher) {}
}
