/// A notification that another session sent with NOTIFY.
public struct Notification: Sendable, Hashable {
    public let channel: String
    public let payload: String
}
