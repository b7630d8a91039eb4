import HTTPTypes

extension ProblemType {
    /// What cannot be read as the request that it should be.
    static let reading = [
        malformedRequest, headerTooLarge, requestTimeout, bodyTooLarge, insufficientStorage, tooManyUploads,
        tooManyImports, tooManyRows, unsupportedMediaType, unsupportedContentCoding,
        unsupportedTransferCoding, invalidHeader, invalidRows, invalidJSON, missingField, invalidField,
        unknownField, missingParameter, invalidParameter, unknownParameter, invalidURL,
        idempotencyKeyNotSupported, invalidIdempotencyKey,
    ]

    static let malformedRequest = ProblemType(
        "malformed_request", .badRequest, title: "The request is malformed",
        cause: """
            The request breaks RFC 9110, 9112 or 9113, such as by two hosts that contradict each other; or its \
            body is shorter than announced, or is not gzip though `Content-Encoding` says so.
            """,
        remedy: "Use an HTTP library, with exactly one `Host`, and speak TLS where the server does.")
    static let headerTooLarge = ProblemType(
        "header_too_large", .requestHeaderFieldsTooLarge, title: "The header is too large",
        cause: "The URL and the header fields together are longer than the server reads.",
        remedy: "Send fewer or shorter fields; an invocation URL has at most 2,048 bytes.")
    static let requestTimeout = ProblemType(
        "request_timeout", .requestTimeout, title: "The body did not arrive in time",
        cause: """
            The body was announced and did not come within ten seconds, or, of a whole collection or an image, nothing \
            more of it in ten seconds, or not all in fifteen minutes.
            """,
        remedy: "Send the request again. A proxy in between should pass bodies on as they come.")
    static let bodyTooLarge = ProblemType(
        "body_too_large", .contentTooLarge, title: "The body is too large",
        cause: """
            A body is at most 65,536 bytes, sixteen times the largest payload that APNs takes; that of a \
            whole collection is at most 1 GiB, an image at most 10 MiB.
            """,
        remedy: "Send less in one request.")
    static let insufficientStorage = ProblemType(
        "insufficient_storage", .serviceUnavailable, title: "The server has no room for the body",
        cause: """
            A whole collection, or an image, is kept in a file until it has come, and the server could not make, write or read it; \
            `detail` has what the operating system says.
            """,
        remedy: """
            Make room where the server keeps temporary files: in `TMPDIR`, else in `/var/tmp`. Then send the request \
            again; nothing was changed.
            """)
    static let tooManyUploads = ProblemType(
        "too_many_uploads", .serviceUnavailable, title: "The server takes no further upload now",
        cause: """
            Until it has come whole, a collection or an image is a file of the server's, which takes \(Upload.maximumAtOnce) of \
            different tenants at once. Nothing of the body was read.
            """,
        remedy: "Send the request again after the seconds that `Retry-After` gives.")
    static let tooManyImports = ProblemType(
        "too_many_imports", .serviceUnavailable, title: "The server is busy with other imports",
        cause: """
            A server works on few imports at once, each of another tenant; the others wait for their turn in the order in which \
            they came. Too many wait, or the turn did not come within a minute. Nothing was changed.
            """,
        remedy: "Send the request again after the seconds that `Retry-After` gives.")
    static let tooManyRows = ProblemType(
        "too_many_rows", .contentTooLarge, title: "There are too many rows",
        cause: "A whole collection is written by at most 1,000,000 rows. Blank lines count as rows.",
        remedy: "Send several requests, each with `PATCH`, which leaves what it does not name as it is.")
    static let unsupportedMediaType = ProblemType(
        "unsupported_media_type", .unsupportedMediaType,
        title: "The body is not announced as what it must be",
        cause: """
            The endpoint takes other content types, or the request has no `Content-Type`. Most endpoints take \
            `application/json`, `PATCH` of one item also `application/merge-patch+json`, whole collections \
            `text/csv` and `application/x-ndjson`, images `image/png` and `image/jpeg`.
            """,
        remedy: "Send one that the detail names, in UTF-8.")
    static let unsupportedContentCoding = ProblemType(
        "unsupported_content_coding", .unsupportedMediaType, title: "The content coding is not supported",
        cause: "`Content-Encoding` names another coding than `gzip`, or several.",
        remedy:
            "Send the body as it is, or with `Content-Encoding: gzip`. The limits are for the decoded body."
    )
    static let unsupportedTransferCoding = ProblemType(
        "unsupported_transfer_coding", .notImplemented, title: "The transfer coding is not supported",
        cause: "`Transfer-Encoding` names another coding than `chunked` (RFC 9112, section 6.1).",
        remedy: "Send the body with `Content-Length`, or with `Transfer-Encoding: chunked` alone.")
    static let invalidHeader = ProblemType(
        "invalid_header", .unprocessableContent, title: "The first line does not name the columns",
        cause: "A CSV body begins with the names of its columns; `detail` says what is wrong with them.",
        remedy: "Name each column once, and those that are needed.")
    static let invalidRows = ProblemType(
        "invalid_rows", .unprocessableContent, title: "Rows are refused",
        cause: """
            Rows of the body break rules, alone or together; nothing was changed. `rows` has the first \
            hundred by `line`, each with its `reason`, and `count` says how many there are.
            """,
        remedy: "Correct them and send the whole body again.")
    static let invalidJSON = ProblemType(
        "invalid_json", .badRequest, title: "The body is not a JSON object",
        cause: "The body cannot be read as JSON, or is no object; `reason` says what is wrong.",
        remedy: """
            Send one JSON object (RFC 8259) in UTF-8, with no member twice and nothing behind it.
            """)
    static let missingField = ProblemType(
        "missing_field", .badRequest, title: "A field is missing",
        cause: "The body lacks a member that the route needs; `field` names it.",
        remedy: "Add it, as `/openapi.json` describes it.")
    static let invalidField = ProblemType(
        "invalid_field", .badRequest, title: "A field has the wrong value",
        cause: """
            A member of the body is of the wrong type, out of its range, or breaks another rule; `field` \
            names it, and `detail` says what is allowed.
            """,
        remedy: "Correct it, as `/openapi.json` describes it.")
    static let unknownField = ProblemType(
        "unknown_field", .badRequest, title: "A field is unknown",
        cause: "The body has a member that the route does not know; `field` names it.",
        remedy: """
            Look for a misspelt name: what is not known is refused, so that nothing is ignored \
            silently.
            """)
    static let missingParameter = ProblemType(
        "missing_parameter", .badRequest, title: "A parameter is missing",
        cause: "The query lacks a parameter that the route needs; `field` names it.",
        remedy: "Add it to the query, percent-encoded.")
    static let invalidParameter = ProblemType(
        "invalid_parameter", .badRequest,
        title: "A parameter has the wrong value",
        cause: """
            A parameter of the query comes twice, is not percent-encoded UTF-8, or has a value that the \
            route does not know; `field` names it.
            """,
        remedy: """
            Send it once and percent-encoded, all of it: an invocation URL's own `&`, `?` and `#` too.
            """)
    static let unknownParameter = ProblemType(
        "unknown_parameter", .badRequest, title: "A parameter is unknown",
        cause: "The query has a parameter that the route does not know; `field` names it.",
        remedy: """
            Look for a misspelt name, or for an invocation URL that is not percent-encoded: what \
            follows its `&` is read as a parameter.
            """)
    static let invalidURL = ProblemType(
        "invalid_url", .badRequest, title: "The invocation URL is not one",
        cause: """
            The text that was sent as a URL is not an absolute URL with a host; `reason` says why.
            """,
        remedy: "Send the URL exactly as the App Clip was given it, with its host, path and query.")
    static let idempotencyKeyNotSupported = ProblemType(
        "idempotency_key_not_supported", .badRequest,
        title: "The endpoint does not support idempotency keys",
        cause: """
            The request has an `Idempotency-Key`, but the endpoint creates nothing. Each `POST` that creates something \
            supports the field.
            """,
        remedy: "Send the request without it.")
    static let invalidIdempotencyKey = ProblemType(
        "invalid_idempotency_key", .badRequest, title: "The idempotency key cannot be used",
        cause: """
            `Idempotency-Key` comes more than once, or is not 1 to 255 characters of printable ASCII.
            """,
        remedy: """
            Send one, such as a UUID, and the same one whenever the same request is sent again.
            """)
}
