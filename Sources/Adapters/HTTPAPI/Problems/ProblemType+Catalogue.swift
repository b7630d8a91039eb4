import HTTPTypes
import Notifications

extension ProblemType {
    /// What a tenant manages.
    static let catalogue = [
        unknownLocation, unknownImage, invalidImage, quotaExceeded, notConnected, unknownExperience,
        unknownShortCode, unknownDomain, domainTaken, unknownKey, unknownAttestKey, exists, inUse,
        tooManyRemovals, idempotencyKeyInUse, idempotencyResponseLost, tooManyIdempotencyKeys, conflict,
        preconditionFailed, secondDefaultExperience, keyNotActive, keyRotated, widerKey, unknownWebhook,
        tooManyWebhooks, webhookDisabled, unknownMessage,
    ]

    static let unknownLocation = ProblemType(
        "unknown_location", .notFound, title: "The location is unknown",
        cause: "The tenant has no location of this identifier, which is compared byte by byte.",
        remedy: "Create it with `PUT /v1/locations/{identifier}`, or correct the identifier.")
    static let unknownImage = ProblemType(
        "unknown_image", .notFound, title: "The image is unknown",
        cause: "The tenant has no image of this SHA-256.",
        remedy:
            "Send it with `PUT /v1/images/{sha256}` before the cards that name it, or correct the digest."
    )
    static let invalidImage = ProblemType(
        "invalid_image", .unprocessableContent, title: "Apple would not take the image",
        cause:
            "A card's image is PNG or JPEG of 1800 × 1200 pixels in RGB without transparency, at most 10 MiB; `reason` says what is otherwise.",
        remedy: "Write the image anew as `detail` says; its path is the SHA-256 of the file that is sent."
    )
    static let quotaExceeded = ProblemType(
        "quota_exceeded", .conflict, title: "The tenant would store more than its quota",
        cause: """
            The change would exceed the tenant's quota of rows or bytes: `kind` and `unit` name the quota, `limit` is its value, \
            `current` the usage before the change and `wouldBe` after it. Nothing was changed.
            """,
        remedy: """
            Delete what is not needed. `GET /v1/tenant` shows quotas and usage; an operator changes quotas with \
            `doorstep tenant limit --quota`.
            """)
    static let notConnected = ProblemType(
        "not_connected", .notFound, title: "The clip is not connected to App Store Connect",
        cause: "The tenant has no clip of this bundle ID, or an operator has connected it by no key.",
        remedy: "An operator connects a clip with `doorstep appstore connect`.")
    static let unknownExperience = ProblemType(
        "unknown_experience", .notFound, title: "The experience is unknown",
        cause: "The tenant has no experience of this ID, which is made of its kind and its URL.",
        remedy: "`GET /v1/experiences?url=` finds it by its URL.")
    static let unknownShortCode = ProblemType(
        "unknown_short_code", .notFound, title: "The short code is unknown",
        cause: "The tenant has no short code of this text.",
        remedy: "Create it with `PUT /v1/short-codes/{code}`, or correct the code.")
    static let unknownDomain = ProblemType(
        "unknown_domain", .notFound, title: "The domain is not claimed",
        cause: "The tenant has not claimed this host.",
        remedy: "Claim it with `PUT /v1/domains/{host}`, or correct the host.")
    static let domainTaken = ProblemType(
        "domain_taken", .conflict, title: "Another tenant has proved the domain",
        cause: "A proof was found, and another tenant has proved the domain before.",
        remedy: """
            One tenant proves a domain. Whoever has it gives it up with `DELETE /v1/domains/{host}`, or by removing \
            its proof: that lapses, and is withdrawn after a week.
            """)
    static let unknownKey = ProblemType(
        "unknown_key", .notFound, title: "The key is unknown",
        cause: "The tenant has no key of this ID.",
        remedy: "`GET /v1/keys` lists them; the ID of a key is no part of the key itself.")
    static let unknownAttestKey = ProblemType(
        "unknown_attest_key", .notFound, title: "The key of App Attest is unknown",
        cause: "The tenant has no attested key of this ID: none was, or it went with its App Clip.",
        remedy: "`GET /v1/attest-keys` lists them.")
    static let exists = ProblemType(
        "exists", .conflict, title: "There is one already, and it is otherwise",
        cause: "There is an experience of this kind and URL, with other members than these.",
        remedy: "Change that one with `PUT` or `PATCH`, whose ID `GET /v1/experiences?url=` tells.")
    static let inUse = ProblemType(
        "in_use", .conflict, title: "Something refers to it",
        cause: """
            What is to be deleted is referred to; `by` says by how much of what, and by which first. Of a \
            whole collection `first` has the first hundred items, and `count` says how many there are.
            """,
        remedy: """
            Delete that first, or one item with all that refers to it by `?cascade=true`.
            """)
    static let tooManyRemovals = ProblemType(
        "too_many_removals", .conflict, title: "Too much would be removed",
        cause: """
            The body lacks more than half of what there is, or more than `allowRemovals` says; \
            `removals` is how many items would be removed, `items` how many there are.
            """,
        remedy: """
            Look at the plan (`?dryRun=true`). Where the removals are meant, send `?allowRemovals=` with \
            their number.
            """)
    static let idempotencyKeyInUse = ProblemType(
        "idempotency_key_in_use", .conflict, title: "The request is still being carried out",
        cause: """
            The first request with this `Idempotency-Key` has not ended. If a server ended while it carried out the \
            request, it counts as running for three minutes.
            """,
        remedy: "Send the same request again after the seconds in `Retry-After`.")
    static let idempotencyResponseLost = ProblemType(
        "idempotency_response_lost", .conflict, title: "The response of the request is lost",
        cause: """
            The request with this `Idempotency-Key` was carried out, but the server or its database went away before the \
            response was stored.
            """,
        remedy: """
            List what there is. If you need the response, because it contained a secret, delete what the request created \
            and create it again with a new idempotency key.
            """)
    static let tooManyIdempotencyKeys = ProblemType(
        "too_many_idempotency_keys", .conflict, title: "The tenant has used too many idempotency keys",
        cause: """
            The server stores 10,000 idempotency keys of a tenant, those of notifications not counted, for 24 hours each.
            """,
        remedy: "Send the request without `Idempotency-Key`, or later.")
    static let conflict = ProblemType(
        "conflict", .conflict, title: "Another change is under way",
        cause: """
            Another whole collection or image of the tenant is being sent, or what this would change is being \
            changed by somebody else.
            """,
        remedy: "Send the request again when that is over.")
    static let preconditionFailed = ProblemType(
        "precondition_failed", .preconditionFailed, title: "It is no longer what was read",
        cause:
            "`If-Match` names another state than there is, or `If-None-Match: *` came and there is one.",
        remedy: "Read it again, and make the change to what it is now.")
    static let secondDefaultExperience = ProblemType(
        "second_default_experience", .unprocessableContent,
        title: "The clip has a default experience already",
        cause: "A clip has one default experience, and this would be its second.",
        remedy: "Delete the other one first, or register this one as an advanced experience.")
    static let keyNotActive = ProblemType(
        "key_not_active", .conflict, title: "The key is not active",
        cause: "The key is revoked or expired, so that it has no successor.",
        remedy: "Make a new key with `POST /v1/keys`.")
    static let keyRotated = ProblemType(
        "key_rotated", .conflict, title: "The key has a successor",
        cause: "The key was rotated before; `successor` is the ID of the key that takes its place.",
        remedy: "Use the successor, or rotate that one.")
    static let widerKey = ProblemType(
        "wider_key", .forbidden, title: "The key would be wider than the one that makes it",
        cause:
            "A key neither makes, changes nor revokes one that can do more than itself, or for longer.",
        remedy: """
            Name fewer scopes and an earlier end, or use a key that has what the new one is to have; \
            `doorstep key create` makes any.
            """)
    static let unknownWebhook = ProblemType(
        "unknown_webhook", .notFound, title: "The webhook is unknown",
        cause: "The tenant has no webhook of this ID.",
        remedy: "`GET /v1/webhooks` lists them, `POST /v1/webhooks` makes one.")
    static let tooManyWebhooks = ProblemType(
        "too_many_webhooks", .conflict, title: "The tenant has as many webhooks as it can have",
        cause: "A tenant has up to \(RegisteredWebhook.limit) webhooks.",
        remedy: "Delete one, or have one that there is told of more events.")
    static let webhookDisabled = ProblemType(
        "webhook_disabled", .conflict, title: "The webhook is switched off",
        cause: """
            Nothing is sent to a webhook that is switched off, by hand or since it took nothing for \
            \(WebhookSchedule.patienceDays) days; its `disabledReason` says which.
            """,
        remedy: "Switch it on with `PATCH /v1/webhooks/{id}` and `{\"enabled\": true}`, then try again.")
    static let unknownMessage = ProblemType(
        "unknown_message", .unprocessableContent, title: "There is no such message",
        cause: "The webhook's log has no message of this ID.",
        remedy: "`GET /v1/webhooks/{id}/messages` lists those of the last seven days, with their states.")
}
