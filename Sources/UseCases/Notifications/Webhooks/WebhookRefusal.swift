/// The reason why a request about a webhook is refused. Nothing was changed.
public enum WebhookRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    case unknownWebhook
    case tooManyWebhooks
    case unknownMessage
    case webhookDisabled
    /// Nothing can be delivered there, as this server connects to public addresses only.
    case addressNotPublic
    /// The port belongs to another service than a web server.
    case portNotAllowed

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .unknownWebhook: "unknown_webhook"
        case .tooManyWebhooks: "too_many_webhooks"
        case .unknownMessage: "unknown_message"
        case .webhookDisabled: "webhook_disabled"
        case .addressNotPublic, .portNotAllowed: "invalid_field"
        }
    }

    public var description: String {
        switch self {
        case .unknownWebhook: "the tenant has no webhook with this ID"
        case .tooManyWebhooks: "the tenant has \(RegisteredWebhook.limit) webhooks, which is the maximum"
        case .unknownMessage: "the webhook's log of the last seven days has no message with this ID"
        case .webhookDisabled: "the webhook is disabled: enable it first"
        case .addressNotPublic: "the URL \(WebhookURL.unreachable)"
        case .portNotAllowed: "the URL \(WebhookURL.forbiddenPort)"
        }
    }
}
