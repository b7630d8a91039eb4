import HTTPTypes

extension ProblemType {
    /// Requests that cannot be read.
    static let reading = [
        malformedRequest, headerTooLarge, requestTimeout, bodyTooLarge, insufficientStorage, tooManyUploads,
        tooManyImports, tooManyRows, unsupportedMediaType, unsupportedContentCoding,
        unsupportedTransferCoding, invalidHeader, invalidRows, invalidJSON, missingField, invalidField,
        unknownField, missingParameter, invalidParameter, unknownParameter, invalidURL,
        idempotencyKeyNotSupported, invalidIdempotencyKey,
    ]

    static let malformedRequest = ProblemType(
        "malformed_request", .badRequest,
        title: "The request is malformed",
        cause: """
            The request violates RFC 9110, 9112 or 9113, such as with two contradictory hosts. Or its body is \
            shorter than announced, or is not gzip although `Content-Encoding` says so.
            """,
        remedy: "Use an HTTP library. Send exactly one `Host`, and use TLS if the server does.")
    static let headerTooLarge = ProblemType(
        "header_too_large", .requestHeaderFieldsTooLarge,
        title: "The header is too large",
        cause: "The URL and the header fields together are longer than the server accepts.",
        remedy: "Send fewer or shorter fields. An invocation URL has at most 2,048 bytes.")
    static let requestTimeout = ProblemType(
        "request_timeout", .requestTimeout,
        title: "The body did not arrive in time",
        cause: """
            A body must arrive within ten seconds. For a whole collection or an image, the next part must arrive \
            within ten seconds, and all parts within fifteen minutes.
            """,
        remedy: "Send the request again. A proxy in between should not buffer bodies.")
    static let bodyTooLarge = ProblemType(
        "body_too_large", .contentTooLarge,
        title: "The body is too large",
        cause: """
            A body has at most 65,536 bytes, sixteen times the largest payload of APNs. A whole collection has at \
            most 1 GiB, and an image at most 10 MiB.
            """,
        remedy: "Send less in one request.")
    static let insufficientStorage = ProblemType(
        "insufficient_storage", .serviceUnavailable,
        title: "The server cannot store the body",
        cause: """
            The server stores a whole collection or an image in a temporary file, and could not create, write or \
            read that file. `detail` has the error of the operating system.
            """,
        remedy: """
            Free space where the server stores temporary files: in `TMPDIR`, or in `/var/tmp` without it. Then send \
            the request again. Nothing was changed.
            """)
    static let tooManyUploads = ProblemType(
        "too_many_uploads", .serviceUnavailable,
        title: "The server has too many uploads",
        cause: """
            The server accepts \(Upload.maximumAtOnce) uploads of collections and images at a time, each of another \
            tenant. It did not read the body.
            """,
        remedy: "Send the request again after the seconds in `Retry-After`.")
    static let tooManyImports = ProblemType(
        "too_many_imports", .serviceUnavailable,
        title: "The server is busy with other imports",
        cause: """
            A server processes few imports at a time, each of another tenant, and queues the others. The queue is \
            full, or the import waited for more than a minute. Nothing was changed. Imports of at most 1,000 rows \
            that remove nothing do not wait for large ones.
            """,
        remedy: "Send the request again after the seconds in `Retry-After`.")
    static let tooManyRows = ProblemType(
        "too_many_rows", .contentTooLarge,
        title: "The body has too many rows",
        cause: "A whole collection has at most 1,000,000 rows. Blank lines count as rows.",
        remedy: "Send several `PATCH` requests. They keep the items that they do not name.")
    static let unsupportedMediaType = ProblemType(
        "unsupported_media_type", .unsupportedMediaType,
        title: "The content type is not supported",
        cause: """
            The endpoint accepts other content types, or the request has no `Content-Type`. Most endpoints accept \
            `application/json`, `PATCH` of one item also `application/merge-patch+json`, whole collections \
            `text/csv` and `application/x-ndjson`, and images `image/png` and `image/jpeg`.
            """,
        remedy: "Use a content type that `detail` names, in UTF-8.")
    static let unsupportedContentCoding = ProblemType(
        "unsupported_content_coding", .unsupportedMediaType,
        title: "The content coding is not supported",
        cause: "`Content-Encoding` names another coding than `gzip`, or more than one.",
        remedy: """
            Send the body as it is, or with `Content-Encoding: gzip`. The limits apply to the decoded body.
            """)
    static let unsupportedTransferCoding = ProblemType(
        "unsupported_transfer_coding", .notImplemented,
        title: "The transfer coding is not supported",
        cause: "`Transfer-Encoding` names another coding than `chunked` (RFC 9112, section 6.1).",
        remedy: "Send the body with `Content-Length`, or with `Transfer-Encoding: chunked` alone.")
    static let invalidHeader = ProblemType(
        "invalid_header", .unprocessableContent,
        title: "The column names are not valid",
        cause: """
            The first line of a CSV body has the names of its columns. `detail` says what is wrong with them.
            """,
        remedy: "Name each column once, and all required columns.")
    static let invalidRows = ProblemType(
        "invalid_rows", .unprocessableContent,
        title: "The body has invalid rows",
        cause: """
            Rows of the body break rules, alone or together. Nothing was changed. `rows` has the first hundred by \
            `line`, each with its `reason`, and `count` their number. The server stops reading at the hundredth refused \
            row, and at a row that is too long.
            """,
        remedy: "Correct the rows and send the whole body again.")
    static let invalidJSON = ProblemType(
        "invalid_json", .badRequest,
        title: "The body is not a JSON object",
        cause: "The body is not valid JSON, or not an object. `reason` says what is wrong.",
        remedy: """
            Send one JSON object (RFC 8259) in UTF-8, without duplicate members and without anything after it.
            """)
    static let missingField = ProblemType(
        "missing_field", .badRequest,
        title: "A field is missing",
        cause: "The body lacks a required member. `field` names it.",
        remedy: "Add the field. `/openapi.json` describes it.")
    static let invalidField = ProblemType(
        "invalid_field", .badRequest,
        title: "A field has an invalid value",
        cause: """
            A member of the body has the wrong type, is out of range, or breaks another rule. `field` names it, and \
            `detail` says what is allowed.
            """,
        remedy: "Correct the field. `/openapi.json` describes it.")
    static let unknownField = ProblemType(
        "unknown_field", .badRequest,
        title: "A field is unknown",
        cause: "The body has a member that the endpoint does not have. `field` names it.",
        remedy: "Check the spelling. Unknown fields are rejected, so that none is silently ignored.")
    static let missingParameter = ProblemType(
        "missing_parameter", .badRequest,
        title: "A parameter is missing",
        cause: "The query lacks a required parameter. `field` names it.",
        remedy: "Add the parameter to the query, percent-encoded.")
    static let invalidParameter = ProblemType(
        "invalid_parameter", .badRequest,
        title: "A parameter has an invalid value",
        cause: """
            A parameter of the query occurs twice, is not percent-encoded UTF-8, or has a value that the endpoint \
            does not accept. `field` names it.
            """,
        remedy: """
            Send the parameter once, and percent-encode its whole value, including the `&`, `?` and `#` of an \
            invocation URL.
            """)
    static let unknownParameter = ProblemType(
        "unknown_parameter", .badRequest,
        title: "A parameter is unknown",
        cause: "The query has a parameter that the endpoint does not have. `field` names it.",
        remedy: """
            Check the spelling, and percent-encode invocation URLs: the part after an unencoded `&` is read as a \
            parameter.
            """)
    static let invalidURL = ProblemType(
        "invalid_url", .badRequest,
        title: "The invocation URL is not valid",
        cause: "The text is not an absolute URL with a host. `reason` says why.",
        remedy: "Send the URL exactly as the App Clip received it, with its host, path and query.")
    static let idempotencyKeyNotSupported = ProblemType(
        "idempotency_key_not_supported", .badRequest,
        title: "The endpoint does not support idempotency keys",
        cause: """
            The request has an `Idempotency-Key`, but the endpoint creates nothing. Each `POST` that creates \
            something supports the field.
            """,
        remedy: "Send the request without it.")
    static let invalidIdempotencyKey = ProblemType(
        "invalid_idempotency_key", .badRequest,
        title: "The idempotency key is not valid",
        cause: "`Idempotency-Key` occurs more than once, or is not 1 to 255 characters of printable ASCII.",
        remedy: "Send one value, such as a UUID, and repeat it when you repeat the request.")
}
