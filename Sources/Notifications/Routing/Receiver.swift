/// Which of an instance's tokens a delivery goes to, or which channel.
public struct Receiver: Sendable, Hashable {
    public let kind: Kind
    /// The type of the attributes for a start token, the activity's ID for an activity's, the channel's ID; empty for a
    /// device's.
    public let name: String

    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case device
        /// What starts Live Activities of a type.
        case start
        case activity
        case channel
    }

    public init(_ kind: Kind, name: String = "") {
        self.kind = kind
        self.name = name
    }

    public static let device = Receiver(.device)
}
