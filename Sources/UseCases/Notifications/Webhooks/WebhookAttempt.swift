public import Foundation

/// One attempt to send a message, and its result.
public struct WebhookAttempt: Sendable, Hashable {
    public let at: Date
    public let duration: Duration
    public let reply: WebhookReply

    public init(at: Date, duration: Duration, reply: WebhookReply) {
        self.at = at
        self.duration = duration
        self.reply = reply
    }
}

/// The effect of a recorded attempt on its webhook.
public enum RecordedAttempt: Sendable, Hashable {
    /// The attempt counts for the webhook.
    case current
    /// The attempt counts, and the webhook was switched off because of it.
    case switchedOff
    /// The lease of the message was over, or the webhook has another URL by now: the attempt does not count.
    case outdated
}
