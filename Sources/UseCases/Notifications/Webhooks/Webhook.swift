/// The URL and the secret for a tenant's events.
public struct Webhook: Sendable, Hashable {
    public let url: WebhookURL
    public let secret: WebhookSecret

    public init(url: WebhookURL, secret: WebhookSecret) {
        self.url = url
        self.secret = secret
    }
}
