/// The result of one attempt to send a message.
public enum WebhookReply: Sendable, Hashable {
    /// - Parameter retryAfter: The pause that the receiver requests (`Retry-After`); nil for none.
    case status(Int, retryAfter: Duration? = nil)
    /// No response, and the reason in a few words.
    case noResponse(String)

    /// Standard Webhooks 1.0: any status from 200 to 299 takes a message.
    public var isTaken: Bool {
        if case .status(200...299, _) = self { true } else { false }
    }

    /// Standard Webhooks 1.0: after 410 the receiver wants no more messages.
    public var isGone: Bool {
        if case .status(410, _) = self { true } else { false }
    }
}

extension WebhookReply: CustomStringConvertible {
    public var description: String {
        switch self {
        case .status(let status, _): "it responded with status \(status)"
        case .noResponse(let reason): reason
        }
    }
}
