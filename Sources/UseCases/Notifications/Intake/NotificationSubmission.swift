public import APNsPayload

/// A notification to send, as requested.
public struct NotificationSubmission: Sendable, Hashable {
    public let notification: NotificationRequest
    public internal(set) var audience: AudienceRequest
    /// Nil if the request has no idempotency key, so that a repetition is executed again.
    public let idempotencyKey: IdempotencyKey?

    public init(
        _ notification: NotificationRequest, to audience: Audience, confirmedOnly: Bool = false,
        environment: APNsEnvironment? = nil, idempotencyKey: IdempotencyKey? = nil
    ) {
        self.notification = notification
        self.audience = AudienceRequest(audience, confirmedOnly: confirmedOnly, environment: environment)
        self.idempotencyKey = idempotencyKey
    }
}
