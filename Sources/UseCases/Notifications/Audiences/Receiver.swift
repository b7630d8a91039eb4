/// The target of a delivery: one of an instance's tokens, or a channel.
public enum Receiver: Sendable, Hashable {
    case token(TokenKind)
    /// An instance by its ID.
    case channel(String)

    public static let device = Receiver.token(.device)

    /// The stored form; nil for an unknown kind.
    public init?(kind: String, name: String) {
        switch kind {
        case "device": self = .device
        case "start": self = .token(.start(attributesType: name))
        case "activity": self = .token(.activity(name))
        case "channel": self = .channel(name)
        default: return nil
        }
    }

    /// How the database names the kind.
    public var kind: String {
        switch self {
        case .token(let place): place.kind
        case .channel: "channel"
        }
    }

    /// The place's name, or the channel's ID.
    public var name: String {
        switch self {
        case .token(let place): place.name
        case .channel(let id): id
        }
    }
}
