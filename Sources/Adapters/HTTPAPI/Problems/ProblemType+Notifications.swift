import HTTPTypes

extension ProblemType {
    /// What is to be sent to devices.
    static let notifications = [
        notBusinessSpecific, launchTooLongAgo, payloadTooLarge, invalidNotification, idempotencyKeyReused,
        wrongAudience, unknownNotification, unknownDelivery, unknownChannel, notificationsNotConfigured,
        apnsRefused, apnsNotReached, apnsUnanswered,
    ]

    static let notBusinessSpecific = ProblemType(
        "not_business_specific", .unprocessableContent, title: "The URL stands for no single business",
        cause: """
            The clip serves many businesses, and the experience that the URL matches is bound to none.
            """,
        remedy: """
            Register an advanced experience for the business, bound to its location, and send a URL of \
            it. To reach one instance by the URL that launched it, name the instance as the audience.
            """)
    static let launchTooLongAgo = ProblemType(
        "launch_too_long_ago", .unprocessableContent, title: "The launch was too long ago",
        cause: """
            An App Clip receives notifications for 8 hours after its launch, and these are over.
            """,
        remedy: "Nothing can be sent until the clip is launched again.")
    static let payloadTooLarge = ProblemType(
        "payload_too_large", .unprocessableContent, title: "The payload is too large for APNs",
        cause: """
            A payload is at most 4,096 bytes, or 5,120 for a broadcast, with what the server adds to \
            it.
            """,
        remedy: "Shorten the texts or what stands beside `aps`; `POST /v1/payloads` tells the size.")
    static let invalidNotification = ProblemType(
        "invalid_notification", .unprocessableContent, title: "APNs would not take the notification",
        cause: """
            The payload or a header breaks one of Apple's rules; `field` names where, `detail` which.
            """,
        remedy: "Correct it; `POST /v1/payloads` checks a notification without sending it.")
    static let idempotencyKeyReused = ProblemType(
        "idempotency_key_reused", .unprocessableContent, title: "The idempotency key was used before",
        cause: """
            Within 24 hours, another request came with this `Idempotency-Key`: another body, another endpoint, or another \
            API key.
            """,
        remedy: """
            Use a new idempotency key for each thing that you create; to repeat a request, send the same body with the \
            same API key again.
            """)
    static let wrongAudience = ProblemType(
        "wrong_audience", .unprocessableContent, title: "The audience cannot get this",
        cause: """
            The notification's kind and those who are to get it do not go together; `detail` says why.
            """,
        remedy: """
            Updates and ends of a Live Activity go to the activity or to a channel, and nothing else \
            does; only at a URL that leads to a location is anybody confirmed; and a key that is \
            restricted to locations has no channels.
            """)
    static let unknownNotification = ProblemType(
        "unknown_notification", .notFound, title: "The notification is unknown",
        cause: "The tenant has no notification of this ID.",
        remedy: """
            Correct the ID; what became of notifications is kept for 30 days, or as \
            `--notification-retention` says.
            """)
    static let unknownDelivery = ProblemType(
        "unknown_delivery", .notFound, title: "The delivery is unknown",
        cause: "The tenant has no delivery with this ID.",
        remedy: """
            Correct the ID: `GET /v1/deliveries` lists deliveries. They are kept for 30 days, or for \
            `--notification-retention`.
            """)
    static let unknownChannel = ProblemType(
        "unknown_channel", .notFound, title: "The channel is unknown",
        cause: """
            The tenant has no broadcast channel of this ID, or the clip has none in this environment.
            """,
        remedy: "`GET /v1/channels` lists them, `POST /v1/channels` makes one.")
    static let notificationsNotConfigured = ProblemType(
        "notifications_not_configured", .serviceUnavailable, title: "Notifications are not set up here",
        cause: "The server lacks the secret that seals push tokens, or the keys for APNs.",
        remedy: """
            Whoever runs the server sets `DOORSTEP_TOKEN_SECRET`, and `DOORSTEP_APNS_KEYS` for \
            channels.
            """)
    static let apnsRefused = ProblemType(
        "apns_refused", .badGateway, title: "APNs refused it",
        cause: """
            APNs answered that it does not do what was asked; `apnsStatus` and `apnsReason` are its \
            words.
            """,
        remedy: "Look the reason up in Apple's \"Handling notification responses from APNs\".")
    static let apnsNotReached = ProblemType(
        "apns_not_reached", .badGateway, title: "APNs was not reached",
        cause: "The server could not connect to APNs; nothing was done.",
        remedy: """
            Send the request again. If it stays so, the server's way to `api.push.apple.com` is \
            blocked.
            """)
    static let apnsUnanswered = ProblemType(
        "apns_unanswered", .badGateway, title: "APNs did not answer",
        cause: "The question was sent and no answer came: APNs may have done what was asked.",
        remedy: """
            Look at what there is, such as with `GET /v1/channels`, before the request is sent again.
            """)
}
