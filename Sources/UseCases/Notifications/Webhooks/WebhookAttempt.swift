public import Foundation

/// One attempt to deliver a message, and what became of it.
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
