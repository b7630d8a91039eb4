/// The messages that wait for webhooks, as a server sees them.
public protocol WebhookStore: Sendable {
    /// Webhooks that have a message due, at most so many, one of each tenant before a second of any, and else any of them as
    /// likely as another; but not those excluded.
    func webhooksWithDueMessages(
        limit: Int, excluding: [WebhookReference]
    ) async throws -> [WebhookReference]

    /// Lends messages of a webhook that are due, those that wait longest first: nobody else gets them for so long.
    ///
    /// Those it finds that have waited longer than `maximumAge` it gives up in place of lending them; of a webhook that is
    /// switched off it gives up many at once, due or not, and lends none.
    /// - Parameter limit: How many are lent or found too old, at most.
    /// - Returns: Nil when there is no such webhook any more.
    func claim(
        of webhook: WebhookReference, limit: Int, lease: Duration, maximumAge: Duration
    ) async throws -> WebhookClaim?

    /// Writes down how an attempt ended, in the log and in what is known of the webhook: one that has failed for so long, or
    /// answered 410 (``WebhookReply/isGone``), is switched off, and the tenant's others are told.
    ///
    /// An attempt at a URL that the webhook no longer has changes nothing about the webhook. Unless the message was taken, it
    /// is due at once, for the new URL.
    /// - Parameters:
    ///   - url: Where the message was sent.
    ///   - pause: After how long the message is due again; nil where it was taken, or is given up.
    ///   - patience: How long a webhook may fail.
    func record(
        _ attempt: WebhookAttempt, at message: WebhookMessage, of webhook: WebhookReference,
        to url: WebhookURL, again pause: Duration?, patience: Duration
    ) async throws -> RecordedAttempt

    /// Lets a message be due at once, as if it had not been lent.
    func giveBack(_ message: WebhookMessage, of webhook: WebhookReference) async throws
}
