public import Foundation

/// Where and how a tenant is told of outcomes.
public struct Webhook: Sendable, Hashable {
    public let url: WebhookURL
    public let secret: WebhookSecret

    public init(url: WebhookURL, secret: WebhookSecret) {
        self.url = url
        self.secret = secret
    }
}

/// A message on its way to a tenant.
public struct WebhookMessage: Sendable, Hashable {
    /// The same for every attempt, so that who gets it twice can tell.
    public let id: UUID
    /// JSON.
    public let body: [UInt8]
    /// 1 for the first; a message is lent with it, and who comes back with another is too late.
    public let attempt: Int

    public init(id: UUID, body: [UInt8], attempt: Int) {
        self.id = id
        self.body = body
        self.attempt = attempt
    }
}

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
