public import Foundation

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
