import Administration
import HTTPTypes
import Notifications

/// A code that refusals have, and what its page says of it.
///
/// There is one list of them: of it are made the `type` and the `title` of each ``Problem`` and the pages at `/problems`; the
/// guide and the OpenAPI document are held to it.
struct ProblemType: Sendable {
    /// What clients branch on.
    let code: String
    /// The one status of its responses.
    let status: HTTPResponse.Status
    /// The same whenever it comes (RFC 9457 §3.1.3).
    let title: String
    /// What happened. What stands between backticks is code, here and below.
    let cause: String
    /// What to do about it.
    let remedy: String

    private init(
        _ code: String, _ status: HTTPResponse.Status, title: String, cause: String, remedy: String
    ) {
        self.code = code
        self.status = status
        self.title = title
        self.cause = cause
        self.remedy = remedy
        path = "/problems/\(code)"
    }

    /// Where its page is, which is also its `type`.
    let path: String

    static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })

    static let all = reading + admission + attestation + places + catalogue + notifications + server

    /// What cannot be read as the request that it should be.
    private static let reading: [ProblemType] = [
        ProblemType(
            "malformed_request", .badRequest, title: "The request is malformed",
            cause: """
                The request breaks RFC 9110, 9112 or 9113, such as by two hosts that contradict each other; or its \
                body is shorter than announced, or is not gzip though `Content-Encoding` says so.
                """,
            remedy: "Use an HTTP library, with exactly one `Host`, and speak TLS where the server does."),
        ProblemType(
            "header_too_large", .requestHeaderFieldsTooLarge, title: "The header is too large",
            cause: "The URL and the header fields together are longer than the server reads.",
            remedy: "Send fewer or shorter fields; an invocation URL has at most 2,048 bytes."),
        ProblemType(
            "request_timeout", .requestTimeout, title: "The body did not arrive in time",
            cause: """
                The body was announced and did not come within ten seconds, or, of a whole collection or an image, nothing \
                more of it in ten seconds, or not all in fifteen minutes.
                """,
            remedy: "Send the request again. A proxy in between should pass bodies on as they come."),
        ProblemType(
            "body_too_large", .contentTooLarge, title: "The body is too large",
            cause: """
                A body is at most 65,536 bytes, sixteen times the largest payload that APNs takes; that of a \
                whole collection is at most 1 GiB, an image at most 10 MiB.
                """,
            remedy: "Send less in one request."),
        ProblemType(
            "insufficient_storage", .serviceUnavailable, title: "The server has no room for the body",
            cause: """
                A whole collection, or an image, is kept in a file until it has come, and the server could not make, write or read it; \
                `detail` has what the operating system says.
                """,
            remedy: """
                Make room where the server keeps temporary files: in `TMPDIR`, else in `/var/tmp`. Then send the request \
                again; nothing was changed.
                """),
        ProblemType(
            "too_many_uploads", .serviceUnavailable, title: "The server takes no further upload now",
            cause: """
                Until it has come whole, a collection or an image is a file of the server's, which takes \(Upload.maximumAtOnce) of \
                different tenants at once. Nothing of the body was read.
                """,
            remedy: "Send the request again after the seconds that `Retry-After` gives."),
        ProblemType(
            "too_many_imports", .serviceUnavailable, title: "The server is busy with other imports",
            cause: """
                A server works on few imports at once, each of another tenant; the others wait for their turn in the order in which \
                they came. Too many wait, or the turn did not come within a minute. Nothing was changed.
                """,
            remedy: "Send the request again after the seconds that `Retry-After` gives."),
        ProblemType(
            "too_many_rows", .contentTooLarge, title: "There are too many rows",
            cause: "A whole collection is written by at most 1,000,000 rows. Blank lines count as rows.",
            remedy: "Send several requests, each with `PATCH`, which leaves what it does not name as it is."),
        ProblemType(
            "unsupported_media_type", .unsupportedMediaType,
            title: "The body is not announced as what it must be",
            cause: """
                The endpoint takes other content types, or the request has no `Content-Type`. Most endpoints take \
                `application/json`, `PATCH` of one item also `application/merge-patch+json`, whole collections \
                `text/csv` and `application/x-ndjson`, images `image/png` and `image/jpeg`.
                """,
            remedy: "Send one that the detail names, in UTF-8."),
        ProblemType(
            "unsupported_content_coding", .unsupportedMediaType, title: "The content coding is not supported",
            cause: "`Content-Encoding` names another coding than `gzip`, or several.",
            remedy:
                "Send the body as it is, or with `Content-Encoding: gzip`. The limits are for the decoded body."
        ),
        ProblemType(
            "unsupported_transfer_coding", .notImplemented, title: "The transfer coding is not supported",
            cause: "`Transfer-Encoding` names another coding than `chunked` (RFC 9112, section 6.1).",
            remedy: "Send the body with `Content-Length`, or with `Transfer-Encoding: chunked` alone."),
        ProblemType(
            "invalid_header", .unprocessableContent, title: "The first line does not name the columns",
            cause: "A CSV body begins with the names of its columns; `detail` says what is wrong with them.",
            remedy: "Name each column once, and those that are needed."),
        ProblemType(
            "invalid_rows", .unprocessableContent, title: "Rows are refused",
            cause: """
                Rows of the body break rules, alone or together; nothing was changed. `rows` has the first \
                hundred by `line`, each with its `reason`, and `count` says how many there are.
                """,
            remedy: "Correct them and send the whole body again."),
        ProblemType(
            "invalid_json", .badRequest, title: "The body is not a JSON object",
            cause: "The body cannot be read as JSON, or is no object; `reason` says what is wrong.",
            remedy: """
                Send one JSON object (RFC 8259) in UTF-8, with no member twice and nothing behind it.
                """),
        ProblemType(
            "missing_field", .badRequest, title: "A field is missing",
            cause: "The body lacks a member that the route needs; `field` names it.",
            remedy: "Add it, as `/openapi.json` describes it."),
        ProblemType(
            "invalid_field", .badRequest, title: "A field has the wrong value",
            cause: """
                A member of the body is of the wrong type, out of its range, or breaks another rule; `field` \
                names it, and `detail` says what is allowed.
                """,
            remedy: "Correct it, as `/openapi.json` describes it."),
        ProblemType(
            "unknown_field", .badRequest, title: "A field is unknown",
            cause: "The body has a member that the route does not know; `field` names it.",
            remedy: """
                Look for a misspelt name: what is not known is refused, so that nothing is ignored \
                silently.
                """),
        ProblemType(
            "missing_parameter", .badRequest, title: "A parameter is missing",
            cause: "The query lacks a parameter that the route needs; `field` names it.",
            remedy: "Add it to the query, percent-encoded."),
        ProblemType(
            "invalid_parameter", .badRequest,
            title: "A parameter has the wrong value",
            cause: """
                A parameter of the query comes twice, is not percent-encoded UTF-8, or has a value that the \
                route does not know; `field` names it.
                """,
            remedy: """
                Send it once and percent-encoded, all of it: an invocation URL's own `&`, `?` and `#` too.
                """),
        ProblemType(
            "unknown_parameter", .badRequest, title: "A parameter is unknown",
            cause: "The query has a parameter that the route does not know; `field` names it.",
            remedy: """
                Look for a misspelt name, or for an invocation URL that is not percent-encoded: what \
                follows its `&` is read as a parameter.
                """),
        ProblemType(
            "invalid_url", .badRequest, title: "The invocation URL is not one",
            cause: """
                The text that was sent as a URL is not an absolute URL with a host; `reason` says why.
                """,
            remedy: "Send the URL exactly as the App Clip was given it, with its host, path and query."),
        ProblemType(
            "idempotency_key_not_supported", .badRequest,
            title: "The endpoint does not support idempotency keys",
            cause: """
                The request has an `Idempotency-Key`, but the endpoint creates nothing. Each `POST` that creates something \
                supports the field.
                """,
            remedy: "Send the request without it."),
        ProblemType(
            "invalid_idempotency_key", .badRequest, title: "The idempotency key cannot be used",
            cause: """
                `Idempotency-Key` comes more than once, or is not 1 to 255 characters of printable ASCII.
                """,
            remedy: """
                Send one, such as a UUID, and the same one whenever the same request is sent again.
                """),
    ]

    /// Who may ask what, and how often.
    private static let admission: [ProblemType] = [
        ProblemType(
            "unauthorized", .unauthorized, title: "There is no valid key",
            cause: "The request has no key, or one that is not known, revoked or expired.",
            remedy: """
                Send `Authorization: Bearer` and a key. `doorstep key list` tells which there are, and \
                `doorstep key create` makes one; a new key is known to every server within a second.
                """),
        ProblemType(
            "forbidden", .forbidden, title: "The key may not do this",
            cause: """
                The key is valid, but lacks the scope of this route, or is restricted to locations where the route \
                is for all that a tenant has, or its tenant is suspended.
                """,
            remedy: """
                Use a secret key on a server; a publishable key, which ships in an app, reaches less, and so \
                does one that is restricted to locations. A suspended tenant is let in again by `doorstep tenant resume`.
                """),
        ProblemType(
            "rate_limited", .tooManyRequests, title: "Too many requests",
            cause: """
                A limit was reached; `limit` names it, and the `RateLimit` fields of other answers tell \
                how far it is.
                """,
            remedy: """
                Wait for the seconds that `Retry-After` gives, then send the request again. `doorstep \
                tenant limit` gives a tenant limits of its own, but of keys of App Attest, which the server's \
                settings have; a proxy that all clients come through is named to the server by `--trusted-proxy`.
                """),
        ProblemType(
            "not_found", .notFound, title: "There is nothing at this path",
            cause: """
                The server has no endpoint at this path or host, or the path names an instance that the tenant does not have.
                """,
            remedy: "Compare the path with `/openapi.json`, its version and spelling included."),
        ProblemType(
            "method_not_allowed", .methodNotAllowed, title: "The path takes other methods",
            cause: "There is a route at this path, for other methods.",
            remedy: "Use one of those that the field `Allow` names."),
        ProblemType(
            "unknown_host", .notFound, title: "Nobody has proved this host",
            cause: """
                No tenant has proved the host at which the association file was asked for, or the one that a proxy wants a \
                certificate for.
                """,
            remedy: """
                Claim the domain with `doorstep domain create`, set its TXT record or its file, and run \
                `doorstep domain verify`. A proof that is gone lapses.
                """),
    ]

    /// What App Attest says of who asks.
    private static let attestation: [ProblemType] = [
        ProblemType(
            "attestation_required", .forbidden, title: "The request must be attested",
            cause: """
                The App Clip that the URL launches asks for requests of its genuine build: with a token in \
                `Doorstep-Attestation`, or, as `detail` says, signed by itself in `Doorstep-Assertion`.
                """,
            remedy: """
                Attest a key by `POST /v1/attestation/keys`, or ask for a token by \
                `POST /v1/attestation/tokens`, and send the request again with it. `doorstep clip attest` \
                changes what the clip asks for.
                """),
        ProblemType(
            "attestation_invalid", .forbidden, title: "What attests the request does not hold",
            cause: """
                The token or the signature is expired, of another app or environment, or not what was given \
                or signed. Which of these is counted in the server's metrics and not told.
                """,
            remedy: """
                Ask for a new token, or sign the request anew, exactly as it is sent. Where that fails too, \
                attest a new key.
                """),
        ProblemType(
            "attestation_refused", .forbidden, title: "The attestation is not accepted",
            cause: """
                What App Attest gave could not be verified for this App Clip, the challenge is too old or \
                of another clip, the key is not known, or the clip asks for no attestation.
                """,
            remedy: """
                Begin again with a new challenge; where the key itself is refused, with a new key. Team, App ID \
                prefix and environments of the clip are shown by `doorstep clip show`.
                """),
        ProblemType(
            "counter_not_greater", .conflict, title: "The assertion was used before",
            cause: """
                Each assertion of a key counts one further, and is good once: this one, or one that was made \
                after it, was taken already.
                """,
            remedy: "Sign the request anew, and let one be answered before the next is signed."),
        ProblemType(
            "instance_of_other_key", .conflict, title: "The instance is another key's",
            cause: """
                The App Clip asks for attested instances, and this one was registered by another key of App Attest: \
                the app was restored on another device, say, where its container is and its key is not.
                """,
            remedy: "Take a new instance ID and register the launch by that."),
        ProblemType(
            "too_many_instances", .conflict, title: "The key has too many instances",
            cause: """
                A key of App Attest is one installation's, and has \(Instance.maximumOfKey) instances at most: as many are \
                registered by this one.
                """,
            remedy:
                "Keep one instance ID for each installation, or delete an instance that is not in use any more."
        ),
        ProblemType(
            "monitored_too_little", .conflict, title: "Too little was monitored",
            cause: """
                The App Clip is to require what fewer than \(MonitoredAttestations.required) requests of the last \
                \(MonitoredAttestations.days) days brought: `operation` says which, and `seen` how many did. Many people could \
                be refused.
                """,
            remedy: """
                Set the operation to `monitor`, and require it when enough was seen; or say that it is meant all the same, \
                with `?unmonitored=true`, or with `--yes` of `doorstep clip attest`.
                """),
        ProblemType(
            "attestation_not_configured", .serviceUnavailable, title: "Attestation is not set up here",
            cause: "The App Clip asks for attested requests, and the server has no secret for them.",
            remedy: "Whoever runs the server sets `DOORSTEP_SIGNING_SECRET`, the same on every server."),
    ]

    /// What an invocation URL stands for.
    private static let places: [ProblemType] = [
        ProblemType(
            "does_not_match", .notFound, title: "No experience matches the URL",
            cause: """
                The tenant has no experience whose URL is a prefix of this one, or, for a notification, \
                none that is advanced where the clip serves many businesses.
                """,
            remedy: """
                Register an experience (`doorstep experience create`), or correct the URL. `doorstep \
                diagnose URL` says what was compared with what.
                """),
        ProblemType(
            "no_identifier", .notFound, title: "The URL names no location",
            cause: """
                An experience matches, but its rule finds no location's identifier in this URL, and it is \
                bound to none; `experience` tells which one.
                """,
            remedy: """
                Bind the experience to a location, or correct its identifier rule or the printed URL. \
                `doorstep diagnose URL` shows the way from the one to the other.
                """),
        ProblemType(
            "unknown_identifier", .notFound, title: "The URL names an unknown location",
            cause: "The URL holds an identifier, and the tenant has no location of it.",
            remedy: """
                Add the location (`doorstep location create`), or correct the URL that was printed.
                """),
        ProblemType(
            "unknown_clip", .notFound, title: "The App Clip is unknown",
            cause: "The tenant has no App Clip of this bundle ID.",
            remedy: """
                Register it with `doorstep clip create`, or correct the bundle ID: it ends in the clip's \
                own component, such as `com.example.MyApp.Clip`.
                """),
        ProblemType(
            "other_clip", .unprocessableContent, title: "The URL is another App Clip's",
            cause: """
                The URL leads to an experience of another App Clip than the one that says it was launched \
                by it.
                """,
            remedy: "Send the bundle ID of the clip that runs, and the URL that it was launched by."),
        ProblemType(
            "unknown_instance", .unprocessableContent, title: "The instance is unknown",
            cause: """
                The request needs an instance that the tenant does not have: as the audience of a notification, or to know the \
                clip of a launch. Or the key is restricted to locations, and the instance was not launched there. An unknown \
                instance in a path is `not_found`.
                """,
            remedy: """
                Register the instance first (`PUT /v1/instances/{id}`), with `url` or `clip`. Instances \
                that have not been heard of for long are removed.
                """),
        ProblemType(
            "unknown_activity", .notFound, title: "The Live Activity is unknown",
            cause: "The instance has no Live Activity of this ID, or it has ended.",
            remedy: "Register its token with `PUT /v1/instances/{id}/activities/{activity}`."),
        ProblemType(
            "invalid_receipt", .unprocessableContent, title: "The receipt is not accepted",
            cause: """
                The receipt is not signed by this server, is not of this tenant, or is too old, or proves \
                another place; `reason` says which.
                """,
            remedy: "Send the receipt of the last confirmation, within ten minutes, and as it came."),
    ]

    /// What a tenant manages.
    private static let catalogue: [ProblemType] = [
        ProblemType(
            "unknown_location", .notFound, title: "The location is unknown",
            cause: "The tenant has no location of this identifier, which is compared byte by byte.",
            remedy: "Create it with `PUT /v1/locations/{identifier}`, or correct the identifier."),
        ProblemType(
            "unknown_image", .notFound, title: "The image is unknown",
            cause: "The tenant has no image of this SHA-256.",
            remedy:
                "Send it with `PUT /v1/images/{sha256}` before the cards that name it, or correct the digest."
        ),
        ProblemType(
            "invalid_image", .unprocessableContent, title: "Apple would not take the image",
            cause:
                "A card's image is PNG or JPEG of 1800 × 1200 pixels in RGB without transparency, at most 10 MiB; `reason` says what is otherwise.",
            remedy: "Write the image anew as `detail` says; its path is the SHA-256 of the file that is sent."
        ),
        ProblemType(
            "quota_exceeded", .conflict, title: "The tenant would store more than its quota",
            cause: """
                The change would exceed the tenant's quota of rows or bytes: `kind` and `unit` name the quota, `limit` is its value, \
                `current` the usage before the change and `wouldBe` after it. Nothing was changed.
                """,
            remedy: """
                Delete what is not needed. `GET /v1/tenant` shows quotas and usage; an operator changes quotas with \
                `doorstep tenant limit --quota`.
                """),
        ProblemType(
            "not_connected", .notFound, title: "The clip is not connected to App Store Connect",
            cause: "The tenant has no clip of this bundle ID, or an operator has connected it by no key.",
            remedy: "An operator connects a clip with `doorstep appstore connect`."),
        ProblemType(
            "unknown_experience", .notFound, title: "The experience is unknown",
            cause: "The tenant has no experience of this ID, which is made of its kind and its URL.",
            remedy: "`GET /v1/experiences?url=` finds it by its URL."),
        ProblemType(
            "unknown_short_code", .notFound, title: "The short code is unknown",
            cause: "The tenant has no short code of this text.",
            remedy: "Create it with `PUT /v1/short-codes/{code}`, or correct the code."),
        ProblemType(
            "unknown_domain", .notFound, title: "The domain is not claimed",
            cause: "The tenant has not claimed this host.",
            remedy: "Claim it with `PUT /v1/domains/{host}`, or correct the host."),
        ProblemType(
            "domain_taken", .conflict, title: "Another tenant has proved the domain",
            cause: "A proof was found, and another tenant has proved the domain before.",
            remedy: """
                One tenant proves a domain. Whoever has it gives it up with `DELETE /v1/domains/{host}`, or by removing \
                its proof: that lapses, and is withdrawn after a week.
                """),
        ProblemType(
            "unknown_key", .notFound, title: "The key is unknown",
            cause: "The tenant has no key of this ID.",
            remedy: "`GET /v1/keys` lists them; the ID of a key is no part of the key itself."),
        ProblemType(
            "unknown_attest_key", .notFound, title: "The key of App Attest is unknown",
            cause: "The tenant has no attested key of this ID: none was, or it went with its App Clip.",
            remedy: "`GET /v1/attest-keys` lists them."),
        ProblemType(
            "exists", .conflict, title: "There is one already, and it is otherwise",
            cause: "There is an experience of this kind and URL, with other members than these.",
            remedy: "Change that one with `PUT` or `PATCH`, whose ID `GET /v1/experiences?url=` tells."),
        ProblemType(
            "in_use", .conflict, title: "Something refers to it",
            cause: """
                What is to be deleted is referred to; `by` says by how much of what, and by which first. Of a \
                whole collection `first` has the first hundred items, and `count` says how many there are.
                """,
            remedy: """
                Delete that first, or one item with all that refers to it by `?cascade=true`.
                """),
        ProblemType(
            "too_many_removals", .conflict, title: "Too much would be removed",
            cause: """
                The body lacks more than half of what there is, or more than `allowRemovals` says; \
                `removals` is how many items would be removed, `items` how many there are.
                """,
            remedy: """
                Look at the plan (`?dryRun=true`). Where the removals are meant, send `?allowRemovals=` with \
                their number.
                """),
        ProblemType(
            "idempotency_key_in_use", .conflict, title: "The request is still being carried out",
            cause: """
                The first request with this `Idempotency-Key` has not ended. If a server ended while it carried out the \
                request, it counts as running for three minutes.
                """,
            remedy: "Send the same request again after the seconds in `Retry-After`."),
        ProblemType(
            "idempotency_response_lost", .conflict, title: "The response of the request is lost",
            cause: """
                The request with this `Idempotency-Key` was carried out, but the server or its database went away before the \
                response was stored.
                """,
            remedy: """
                List what there is. If you need the response, because it contained a secret, delete what the request created \
                and create it again with a new idempotency key.
                """),
        ProblemType(
            "too_many_idempotency_keys", .conflict, title: "The tenant has used too many idempotency keys",
            cause: """
                The server stores 10,000 idempotency keys of a tenant, those of notifications not counted, for 24 hours each.
                """,
            remedy: "Send the request without `Idempotency-Key`, or later."),
        ProblemType(
            "conflict", .conflict, title: "Another change is under way",
            cause: """
                Another whole collection or image of the tenant is being sent, or what this would change is being \
                changed by somebody else.
                """,
            remedy: "Send the request again when that is over."),
        ProblemType(
            "precondition_failed", .preconditionFailed, title: "It is no longer what was read",
            cause:
                "`If-Match` names another state than there is, or `If-None-Match: *` came and there is one.",
            remedy: "Read it again, and make the change to what it is now."),
        ProblemType(
            "second_default_experience", .unprocessableContent,
            title: "The clip has a default experience already",
            cause: "A clip has one default experience, and this would be its second.",
            remedy: "Delete the other one first, or register this one as an advanced experience."),
        ProblemType(
            "key_not_active", .conflict, title: "The key is not active",
            cause: "The key is revoked or expired, so that it has no successor.",
            remedy: "Make a new key with `POST /v1/keys`."),
        ProblemType(
            "key_rotated", .conflict, title: "The key has a successor",
            cause: "The key was rotated before; `successor` is the ID of the key that takes its place.",
            remedy: "Use the successor, or rotate that one."),
        ProblemType(
            "wider_key", .forbidden, title: "The key would be wider than the one that makes it",
            cause:
                "A key neither makes, changes nor revokes one that can do more than itself, or for longer.",
            remedy: """
                Name fewer scopes and an earlier end, or use a key that has what the new one is to have; \
                `doorstep key create` makes any.
                """),
        ProblemType(
            "unknown_webhook", .notFound, title: "The webhook is unknown",
            cause: "The tenant has no webhook of this ID.",
            remedy: "`GET /v1/webhooks` lists them, `POST /v1/webhooks` makes one."),
        ProblemType(
            "too_many_webhooks", .conflict, title: "The tenant has as many webhooks as it can have",
            cause: "A tenant has up to \(RegisteredWebhook.limit) webhooks.",
            remedy: "Delete one, or have one that there is told of more events."),
        ProblemType(
            "webhook_disabled", .conflict, title: "The webhook is switched off",
            cause: """
                Nothing is sent to a webhook that is switched off, by hand or since it took nothing for \
                \(WebhookSchedule.patienceDays) days; its `disabledReason` says which.
                """,
            remedy: "Switch it on with `PATCH /v1/webhooks/{id}` and `{\"enabled\": true}`, then try again."),
        ProblemType(
            "unknown_message", .unprocessableContent, title: "There is no such message",
            cause: "The webhook's log has no message of this ID.",
            remedy: "`GET /v1/webhooks/{id}/messages` lists those of the last seven days, with their states."),
    ]

    /// What is to be sent to devices.
    private static let notifications: [ProblemType] = [
        ProblemType(
            "not_business_specific", .unprocessableContent, title: "The URL stands for no single business",
            cause: """
                The clip serves many businesses, and the experience that the URL matches is bound to none.
                """,
            remedy: """
                Register an advanced experience for the business, bound to its location, and send a URL of \
                it. To reach one instance by the URL that launched it, name the instance as the audience.
                """),
        ProblemType(
            "launch_too_long_ago", .unprocessableContent, title: "The launch was too long ago",
            cause: """
                An App Clip receives notifications for 8 hours after its launch, and these are over.
                """,
            remedy: "Nothing can be sent until the clip is launched again."),
        ProblemType(
            "payload_too_large", .unprocessableContent, title: "The payload is too large for APNs",
            cause: """
                A payload is at most 4,096 bytes, or 5,120 for a broadcast, with what the server adds to \
                it.
                """,
            remedy: "Shorten the texts or what stands beside `aps`; `POST /v1/payloads` tells the size."),
        ProblemType(
            "invalid_notification", .unprocessableContent, title: "APNs would not take the notification",
            cause: """
                The payload or a header breaks one of Apple's rules; `field` names where, `detail` which.
                """,
            remedy: "Correct it; `POST /v1/payloads` checks a notification without sending it."),
        ProblemType(
            "idempotency_key_reused", .unprocessableContent, title: "The idempotency key was used before",
            cause: """
                Within 24 hours, another request came with this `Idempotency-Key`: another body, another endpoint, or another \
                API key.
                """,
            remedy: """
                Use a new idempotency key for each thing that you create; to repeat a request, send the same body with the \
                same API key again.
                """),
        ProblemType(
            "wrong_audience", .unprocessableContent, title: "The audience cannot get this",
            cause: """
                The notification's kind and those who are to get it do not go together; `detail` says why.
                """,
            remedy: """
                Updates and ends of a Live Activity go to the activity or to a channel, and nothing else \
                does; only at a URL that leads to a location is anybody confirmed; and a key that is \
                restricted to locations has no channels.
                """),
        ProblemType(
            "unknown_notification", .notFound, title: "The notification is unknown",
            cause: "The tenant has no notification of this ID.",
            remedy: """
                Correct the ID; what became of notifications is kept for 30 days, or as \
                `--notification-retention` says.
                """),
        ProblemType(
            "unknown_delivery", .notFound, title: "The delivery is unknown",
            cause: "The tenant has no delivery with this ID.",
            remedy: """
                Correct the ID: `GET /v1/deliveries` lists deliveries. They are kept for 30 days, or for \
                `--notification-retention`.
                """),
        ProblemType(
            "unknown_channel", .notFound, title: "The channel is unknown",
            cause: """
                The tenant has no broadcast channel of this ID, or the clip has none in this environment.
                """,
            remedy: "`GET /v1/channels` lists them, `POST /v1/channels` makes one."),
        ProblemType(
            "notifications_not_configured", .serviceUnavailable, title: "Notifications are not set up here",
            cause: "The server lacks the secret that seals push tokens, or the keys for APNs.",
            remedy: """
                Whoever runs the server sets `DOORSTEP_TOKEN_SECRET`, and `DOORSTEP_APNS_KEYS` for \
                channels.
                """),
        ProblemType(
            "apns_refused", .badGateway, title: "APNs refused it",
            cause: """
                APNs answered that it does not do what was asked; `apnsStatus` and `apnsReason` are its \
                words.
                """,
            remedy: "Look the reason up in Apple's \"Handling notification responses from APNs\"."),
        ProblemType(
            "apns_not_reached", .badGateway, title: "APNs was not reached",
            cause: "The server could not connect to APNs; nothing was done.",
            remedy: """
                Send the request again. If it stays so, the server's way to `api.push.apple.com` is \
                blocked.
                """),
        ProblemType(
            "apns_unanswered", .badGateway, title: "APNs did not answer",
            cause: "The question was sent and no answer came: APNs may have done what was asked.",
            remedy: """
                Look at what there is, such as with `GET /v1/channels`, before the request is sent again.
                """),
    ]

    /// What is the server's own matter.
    private static let server: [ProblemType] = [
        ProblemType(
            "unavailable", .serviceUnavailable, title: "The server cannot answer yet",
            cause: """
                The server has not read its table yet, or the database that this request needs is away, or cannot be \
                written, such as where its disk is full.
                """,
            remedy: """
                Send the request again after the seconds that `Retry-After` gives. `/readyz` tells whether \
                it is ready.
                """),
        ProblemType(
            "internal_error", .internalServerError, title: "The request failed",
            cause: "The server met an error that it did not expect, and wrote it to its log.",
            remedy: """
                Send the request again; if it fails again, whoever runs the server finds the reason in its \
                log by the answer's `requestID`.
                """),
    ]
}
