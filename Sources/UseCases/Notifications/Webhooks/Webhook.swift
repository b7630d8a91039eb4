/// The URL and the secrets for a tenant's events.
public struct Webhook: Sendable, Hashable {
    public let url: WebhookURL
    public let secret: WebhookSecret
    /// Signs messages too, during the overlap after a rotation; nil without one.
    public let previousSecret: WebhookSecret?

    public init(url: WebhookURL, secret: WebhookSecret, previousSecret: WebhookSecret? = nil) {
        self.url = url
        self.secret = secret
        self.previousSecret = previousSecret
    }
}
