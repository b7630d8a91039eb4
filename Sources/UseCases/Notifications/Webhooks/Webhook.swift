/// Where and how a tenant is told of events.
public struct Webhook: Sendable, Hashable {
    public let url: WebhookURL
    public let secret: WebhookSecret

    public init(url: WebhookURL, secret: WebhookSecret) {
        self.url = url
        self.secret = secret
    }
}
