public import Foundation

/// One attempt to send a message, and its result.
public struct WebhookAttempt: Sendable, Hashable {
    public let at: Date
    public let duration: Duration
    public let reply: WebhookReply
    /// The first bytes of the response's body, at most ``maximumResponseLength``; empty if there are none.
    public let response: [UInt8]

    public init(at: Date, duration: Duration, reply: WebhookReply, response: [UInt8] = []) {
        self.at = at
        self.duration = duration
        self.reply = reply
        self.response = Array(response.prefix(Self.maximumResponseLength))
    }

    /// The maximum number of bytes of a response in the log. [ours]
    public static let maximumResponseLength = 4_096
    /// The maximum number of responses of a webhook in the log. [ours]
    public static let maximumResponses = 1_000

    /// With the response that the log has for it.
    public func with(response: [UInt8]) -> WebhookAttempt {
        WebhookAttempt(at: at, duration: duration, reply: reply, response: response)
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
