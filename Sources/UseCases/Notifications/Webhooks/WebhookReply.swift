/// What became of one attempt to deliver a message.
public enum WebhookReply: Sendable, Hashable {
    case status(Int)
    /// No answer, and why, in a few words.
    case noAnswer(String)

    /// Standard Webhooks 1.0: any status from 200 to 299 takes a message.
    public var isTaken: Bool {
        if case .status(200...299) = self { true } else { false }
    }
}

extension WebhookReply: CustomStringConvertible {
    public var description: String {
        switch self {
        case .status(let status): "it answered \(status)"
        case .noAnswer(let reason): reason
        }
    }
}
