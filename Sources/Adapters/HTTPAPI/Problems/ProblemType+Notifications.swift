import HTTPTypes

extension ProblemType {
    /// Notifications and channels.
    static let notifications = [
        notBusinessSpecific, launchTooLongAgo, payloadTooLarge, invalidNotification, idempotencyKeyReused,
        wrongAudience, sandboxOnly, unknownNotification, notificationFinished, unknownDelivery,
        unknownChannel,
        notificationsNotConfigured, apnsRefused, apnsNotReached, apnsUnanswered,
    ]

    static let notBusinessSpecific = ProblemType(
        "not_business_specific", .unprocessableContent,
        title: "The URL does not name one business",
        cause: """
            The clip serves many businesses, and the experience that matches the URL is not bound to one of them.
            """,
        remedy: """
            Create an advanced experience for the business, bind it to its location, and send its URL. To reach one \
            instance with the URL that launched it, name the instance as the audience.
            """)
    static let launchTooLongAgo = ProblemType(
        "launch_too_long_ago", .unprocessableContent,
        title: "The launch was too long ago",
        cause: "An App Clip receives notifications for 8 hours after its launch, and they have passed.",
        remedy: "Wait until the clip is launched again.")
    static let payloadTooLarge = ProblemType(
        "payload_too_large", .unprocessableContent,
        title: "The payload is too large for APNs",
        cause: """
            A payload has at most 4,096 bytes, or 5,120 for a broadcast, including the members that the server adds.
            """,
        remedy: "Shorten the texts or the members beside `aps`. `POST /v1/payloads` shows the size.")
    static let invalidNotification = ProblemType(
        "invalid_notification", .unprocessableContent,
        title: "APNs would reject the notification",
        cause: """
            The payload or a header breaks one of Apple's rules. `field` names the field, and `detail` the rule.
            """,
        remedy: "Correct the field. `POST /v1/payloads` checks a notification without sending it.")
    static let idempotencyKeyReused = ProblemType(
        "idempotency_key_reused", .unprocessableContent,
        title: "The idempotency key was used before",
        cause: """
            Within 24 hours, the same `Idempotency-Key` came with another body, another endpoint or another API key.
            """,
        remedy: """
            Use a new idempotency key for each thing that you create. To repeat a request, send the same body with \
            the same API key again.
            """)
    static let wrongAudience = ProblemType(
        "wrong_audience", .unprocessableContent,
        title: "The audience cannot receive this notification",
        cause: "The kind of the notification does not fit its audience. `detail` says why.",
        remedy: """
            Send updates and ends of a Live Activity to the activity or to a channel, and nothing else. Use \
            `confirmedOnly` only with a URL that leads to a location. Keys that are restricted to locations cannot \
            use channels.
            """)
    static let unknownNotification = ProblemType(
        "unknown_notification", .notFound,
        title: "The notification does not exist",
        cause: "The tenant has no notification with this ID.",
        remedy: "Correct the ID. Notifications are stored for 30 days, or for `--notification-retention`.")
    static let notificationFinished = ProblemType(
        "notification_finished", .conflict,
        title: "Nothing is left to cancel",
        cause: "All deliveries of the notification are finished.",
        remedy: "None is needed. `GET /v1/notifications/{id}` shows the deliveries.")
    static let unknownDelivery = ProblemType(
        "unknown_delivery", .notFound,
        title: "The delivery does not exist",
        cause: "The tenant has no delivery with this ID.",
        remedy: """
            Correct the ID: `GET /v1/deliveries` lists deliveries. They are stored for 30 days, or for \
            `--notification-retention`.
            """)
    static let unknownChannel = ProblemType(
        "unknown_channel", .notFound,
        title: "The channel does not exist",
        cause: "The tenant has no broadcast channel with this ID, or the clip has none in this environment.",
        remedy: "List channels with `GET /v1/channels`, or create one with `POST /v1/channels`.")
    static let sandboxOnly = ProblemType(
        "sandbox_only", .unprocessableContent,
        title: "A test tenant notifies only in the sandbox",
        cause: "The tenant is a test tenant, and the request is for the environment `production`.",
        remedy:
            "Leave the environment out, or set it to `sandbox`. To notify in `production`, use a tenant that is not a test tenant."
    )
    static let notificationsNotConfigured = ProblemType(
        "notifications_not_configured", .serviceUnavailable,
        title: "Notifications are not configured",
        cause: "The server lacks the secret that encrypts push tokens, or the APNs keys.",
        remedy: """
            The operator of the server sets `DOORSTEP_TOKEN_SECRET` and, for channels, `DOORSTEP_APNS_KEYS`.
            """)
    static let apnsRefused = ProblemType(
        "apns_refused", .badGateway,
        title: "APNs rejected the request",
        cause: "APNs responded with an error. `apnsStatus` and `apnsReason` have its status and reason.",
        remedy: "Look up the reason in Apple's \"Handling notification responses from APNs\".")
    static let apnsNotReached = ProblemType(
        "apns_not_reached", .badGateway,
        title: "APNs could not be reached",
        cause: "The server could not connect to APNs. Nothing was changed.",
        remedy: """
            Send the request again. If the error persists, check that the server can connect to \
            `api.push.apple.com`.
            """)
    static let apnsUnanswered = ProblemType(
        "apns_unanswered", .badGateway,
        title: "APNs did not respond",
        cause: "The request was sent, but no response came. APNs may have carried it out.",
        remedy: """
            Check the current state, such as with `GET /v1/channels`, before you send the request again.
            """)
}
