public import Foundation

/// Delivers messages to webhooks.
public protocol WebhookSender: Sendable {
    /// Signs and sends a message, once; whatever happens is a reply.
    /// - Parameter now: The time in the signature.
    /// - Returns: The reply, and the beginning of the response's body.
    func send(
        _ message: WebhookMessage, to webhook: Webhook, at now: Date
    ) async -> (reply: WebhookReply, response: [UInt8])
}
