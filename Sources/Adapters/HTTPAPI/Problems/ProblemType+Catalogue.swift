import Administration
import HTTPTypes
import Notifications

extension ProblemType {
    /// Resources that a tenant manages.
    static let catalogue =
        [
            unknownLocation, unknownImage, invalidImage, quotaExceeded, notConnected, unknownExperience,
        ] + unknownItems + [
            unknownDomain, domainTaken, unknownKey, unknownAttestKey, exists, inUse,
            tooManyRemovals, idempotencyKeyInUse, idempotencyResponseLost, tooManyIdempotencyKeys, conflict,
            preconditionFailed, secondDefaultExperience, keyNotActive, keyRotated, widerKey, unknownWebhook,
            tooManyWebhooks, webhookDisabled, unknownMessage,
        ]

    /// The problems of keys that no item has. Locations and experiences have problems with their own texts.
    private static var unknownItems: [ProblemType] {
        let special = Set([unknownLocation, unknownExperience].map(\.code))
        return TenantArchive.collections.map { unknownItem(of: $0) }.filter { !special.contains($0.code) }
    }

    static let unknownLocation = ProblemType(
        "unknown_location", .notFound,
        title: "The location does not exist",
        cause: "The tenant has no location with this identifier. Identifiers are compared byte by byte.",
        remedy: "Create it with `PUT /v1/locations/{identifier}`, or correct the identifier.")
    static let unknownImage = ProblemType(
        "unknown_image", .notFound,
        title: "The image does not exist",
        cause: "The tenant has no image with this SHA-256.",
        remedy: """
            Upload it with `PUT /v1/images/{sha256}` before you use it in a card, or correct the digest.
            """)
    static let invalidImage = ProblemType(
        "invalid_image", .unprocessableContent,
        title: "Apple would not accept the image",
        cause: """
            A card's image is a PNG or JPEG file of 1800 × 1200 pixels in RGB without transparency, at most 10 MiB. \
            `reason` says what is wrong.
            """,
        remedy: "Save the image as `detail` says. Its path is the SHA-256 of the uploaded file.")
    static let quotaExceeded = ProblemType(
        "quota_exceeded", .conflict,
        title: "The tenant's quota would be exceeded",
        cause: """
            The change would exceed the tenant's quota of rows or bytes. `kind` and `unit` name the quota, `limit` \
            is its value, `current` the usage before the change and `wouldBe` the usage after it. Nothing was \
            changed.
            """,
        remedy: """
            Delete unused items. `GET /v1/tenant` shows quotas and usage. An operator changes quotas with `doorstep \
            tenant limit --quota`.
            """)
    static let notConnected = ProblemType(
        "not_connected", .notFound,
        title: "The clip is not connected to App Store Connect",
        cause: "The tenant has no clip with this bundle ID, or the clip has no App Store Connect key.",
        remedy: "An operator connects a clip with `doorstep appstore connect`.")
    static let unknownExperience = ProblemType(
        "unknown_experience", .notFound,
        title: "The experience does not exist",
        cause: "The tenant has no experience with this ID. The ID is derived from the kind and the URL.",
        remedy: "Find it by its URL with `GET /v1/experiences?url=`.")
    /// The problem of a key that no item of a kind has.
    static func unknownItem<Item: CollectionResource>(of _: Item.Type) -> ProblemType {
        let key = Item.keyField?.name ?? "id"
        return ProblemType(
            "unknown_\(Item.typeName)", .notFound,
            title: "The \(Item.noun) does not exist",
            cause: "The tenant has no such \(Item.noun).",
            remedy: "Create it with `PUT \(Item.path)/{\(key)}`, or correct the \(key).")
    }
    static let unknownDomain = ProblemType(
        "unknown_domain", .notFound,
        title: "The domain is not claimed",
        cause: "The tenant has not claimed this host.",
        remedy: "Claim it with `PUT /v1/domains/{host}`, or correct the host.")
    static let domainTaken = ProblemType(
        "domain_taken", .conflict,
        title: "Another tenant has verified the domain",
        cause: "The proof was found, but another tenant verified the domain earlier.",
        remedy: """
            Only one tenant can hold a domain. The other tenant can delete it with `DELETE /v1/domains/{host}`, or \
            remove its proof: the domain then lapses and is withdrawn after a week.
            """)
    static let unknownKey = ProblemType(
        "unknown_key", .notFound,
        title: "The key does not exist",
        cause: "The tenant has no key with this ID.",
        remedy: "List keys with `GET /v1/keys`. The ID is not part of the key's secret.")
    static let unknownAttestKey = ProblemType(
        "unknown_attest_key", .notFound,
        title: "The App Attest key does not exist",
        cause: """
            The tenant has no App Attest key with this ID. It was never attested, or it was deleted with its App \
            Clip.
            """,
        remedy: "List App Attest keys with `GET /v1/attest-keys`.")
    static let exists = ProblemType(
        "exists", .conflict,
        title: "A different experience exists already",
        cause: "An experience with this kind and URL exists, with other members.",
        remedy: "Change it with `PUT` or `PATCH`. `GET /v1/experiences?url=` shows its ID.")
    static let inUse = ProblemType(
        "in_use", .conflict,
        title: "The item is in use",
        cause: """
            The item has dependents. `by` lists how many there are of each relation, and the first ones. For a whole \
            collection, `first` has the first hundred items that are in use, and `count` their number.
            """,
        remedy: """
            Delete the dependents first, or delete a single item with all its dependents by `?cascade=true`.
            """)
    static let tooManyRemovals = ProblemType(
        "too_many_removals", .conflict,
        title: "Too many items would be removed",
        cause: """
            The body lacks more than half of all items, or more than `allowRemovals` allows. `removals` is the \
            number of items that would be removed, `items` the number of all.
            """,
        remedy: """
            Check the plan with `?dryRun=true`. If the removals are intended, send `?allowRemovals=` with their \
            number.
            """)
    static let idempotencyKeyInUse = ProblemType(
        "idempotency_key_in_use", .conflict,
        title: "The first request is still running",
        cause: """
            The first request with this `Idempotency-Key` has not ended. If a server failed during the request, it \
            counts as running for three minutes.
            """,
        remedy: "Send the same request again after the seconds in `Retry-After`.")
    static let idempotencyResponseLost = ProblemType(
        "idempotency_response_lost", .conflict,
        title: "The response of the first request is lost",
        cause: """
            The request with this `Idempotency-Key` was carried out, but the server or its database failed before \
            the response was stored.
            """,
        remedy: """
            List the items that exist. If you need the response because it contained a secret, delete the created \
            item and create it again with a new idempotency key.
            """)
    static let tooManyIdempotencyKeys = ProblemType(
        "too_many_idempotency_keys", .conflict,
        title: "The tenant has used too many idempotency keys",
        cause: """
            The server stores at most 10,000 idempotency keys of a tenant for 24 hours each. Those of notifications \
            are not counted.
            """,
        remedy: "Send the request without `Idempotency-Key`, or later.")
    static let conflict = ProblemType(
        "conflict", .conflict,
        title: "Another change is in progress",
        cause: """
            The tenant is sending another whole collection or image, or another request is changing the same item.
            """,
        remedy: "Send the request again when the other change has ended.")
    static let preconditionFailed = ProblemType(
        "precondition_failed", .preconditionFailed,
        title: "The item has changed",
        cause: """
            The state in `If-Match` is not the item's current state, or the item exists although the request has \
            `If-None-Match: *`.
            """,
        remedy: "Read the item again, and apply your change to its current state.")
    static let secondDefaultExperience = ProblemType(
        "second_default_experience", .unprocessableContent,
        title: "The clip has a default experience already",
        cause: "A clip has at most one default experience, and the request would create a second one.",
        remedy: "Delete the other one first, or create an advanced experience.")
    static let keyNotActive = ProblemType(
        "key_not_active", .conflict,
        title: "The key is not active",
        cause: "The key is revoked or expired, so it cannot be rotated.",
        remedy: "Create a new key with `POST /v1/keys`.")
    static let keyRotated = ProblemType(
        "key_rotated", .conflict,
        title: "The key has a successor already",
        cause: "The key was rotated before. `successor` is the ID of the key that replaces it.",
        remedy: "Use the successor, or rotate the successor.")
    static let widerKey = ProblemType(
        "wider_key", .forbidden,
        title: "The new key would have more rights",
        cause: """
            A key cannot create, change or revoke a key that has more rights, or a later expiry, than itself.
            """,
        remedy: """
            Use fewer scopes and an earlier expiry, or use a key that has the rights of the new one. An operator can \
            create any key with `doorstep key create`.
            """)
    static let unknownWebhook = ProblemType(
        "unknown_webhook", .notFound,
        title: "The webhook does not exist",
        cause: "The tenant has no webhook with this ID.",
        remedy: "List webhooks with `GET /v1/webhooks`, or create one with `POST /v1/webhooks`.")
    static let tooManyWebhooks = ProblemType(
        "too_many_webhooks", .conflict,
        title: "The tenant has too many webhooks",
        cause: "A tenant has at most \(RegisteredWebhook.limit) webhooks.",
        remedy: "Delete a webhook, or add events to an existing one.")
    static let webhookDisabled = ProblemType(
        "webhook_disabled", .conflict,
        title: "The webhook is disabled",
        cause: """
            A disabled webhook gets no messages. It was disabled by a request, or because it accepted nothing for \
            \(WebhookSchedule.patienceDays) days; `disabledReason` says which.
            """,
        remedy: "Enable it with `PATCH /v1/webhooks/{id}` and `{\"enabled\": true}`, then try again.")
    static let unknownMessage = ProblemType(
        "unknown_message", .unprocessableContent,
        title: "The message does not exist",
        cause: "The webhook's log has no message with this ID.",
        remedy: "List the messages of the last seven days with `GET /v1/webhooks/{id}/messages`.")
}
