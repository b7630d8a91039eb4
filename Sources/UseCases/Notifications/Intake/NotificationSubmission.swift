public import APNsPayload

/// A notification to send, as requested.
public struct NotificationSubmission: Sendable, Hashable {
    public let notification: NotificationRequest
    public internal(set) var audience: AudienceRequest
    /// Nil when the request may be carried out again.
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
