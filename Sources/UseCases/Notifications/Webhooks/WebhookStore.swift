/// The messages that wait for webhooks, as a server sees them.
public protocol WebhookStore: Sendable {
    /// Webhooks that have a message due, at most so many, one of each tenant before a second of any, and else any of them as
    /// likely as another; but not those excluded.
    func webhooksWithDueMessages(
        limit: Int, excluding: [WebhookReference]
    ) async throws -> [WebhookReference]

    /// Leases due messages of a webhook, longest waiting first.
    ///
    /// Messages that have waited longer than `maximumAge` are given up instead. For a disabled webhook, many messages are given
    /// up at once, due or not, and none is leased.
    /// - Parameter limit: Maximum number of leased and given-up messages.
    /// - Returns: Nil if the webhook no longer exists.
    func claim(
        of webhook: WebhookReference, limit: Int, lease: Duration, maximumAge: Duration
    ) async throws -> WebhookClaim?

    /// Stores the result of an attempt in the log and in the webhook. A webhook that has failed for too long, or responded 410
    /// (``WebhookReply/isGone``), is disabled, and the tenant's other webhooks are notified.
    ///
    /// An attempt at a URL that the webhook no longer has changes nothing about the webhook. Unless the message was taken, it
    /// is due at once, for the new URL.
    /// - Parameters:
    ///   - url: The URL that the message was sent to.
    ///   - pause: The time until the message is due again; nil if it was accepted or is given up.
    ///   - patience: The time for which a webhook may fail.
    func record(
        _ attempt: WebhookAttempt, at message: WebhookMessage, of webhook: WebhookReference,
        to url: WebhookURL, again pause: Duration?, patience: Duration
    ) async throws -> RecordedAttempt

    /// Makes a message due at once, as if it had not been leased.
    func giveBack(_ message: WebhookMessage, of webhook: WebhookReference) async throws
}
