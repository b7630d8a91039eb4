import HTTPTypes

extension ProblemType {
    /// Authentication, authorisation and rate limits.
    static let admission = [
        unauthorized, forbidden, rateLimited, notFound, methodNotAllowed, unknownHost,
    ]

    static let unauthorized = ProblemType(
        "unauthorized", .unauthorized,
        title: "The API key is missing or invalid",
        cause: "The request has no API key, or the key is unknown, revoked or expired.",
        remedy: """
            Send `Authorization: Bearer` and a key. `doorstep key list` lists your keys, and `doorstep key create` \
            creates one. Every server accepts a new key within a second.
            """)
    static let forbidden = ProblemType(
        "forbidden", .forbidden,
        title: "The key lacks permission",
        cause: """
            The key is valid, but it lacks the scope that the endpoint requires, or it is restricted to locations \
            and the endpoint is for the whole tenant, or the tenant is suspended.
            """,
        remedy: """
            Use a secret key with the scope on a server. Publishable keys, which are part of an app, and keys that \
            are restricted to locations have fewer rights. An operator ends a suspension with `doorstep tenant \
            resume`.
            """)
    static let rateLimited = ProblemType(
        "rate_limited", .tooManyRequests,
        title: "Too many requests",
        cause: """
            The request exceeds a rate limit. `limit` names it. The `RateLimit` fields of other responses show how \
            much is left.
            """,
        remedy: """
            Wait for the seconds in `Retry-After`, then send the request again. An operator sets a tenant's limits \
            with `doorstep tenant limit`; the limits of App Attest keys are settings of the server. If all clients \
            come through a proxy, the operator names it with `--trusted-proxy`.
            """)
    static let notFound = ProblemType(
        "not_found", .notFound,
        title: "The path does not exist",
        cause: """
            The server has no endpoint at this path or host, or the path names an instance or a webhook message that \
            the tenant does not have.
            """,
        remedy: "Compare the path with `/openapi.json`, including its version and spelling.")
    static let methodNotAllowed = ProblemType(
        "method_not_allowed", .methodNotAllowed,
        title: "The path does not support the method",
        cause: "An endpoint exists at this path, but for other methods.",
        remedy: "Use a method from the header field `Allow`.")
    static let unknownHost = ProblemType(
        "unknown_host", .notFound,
        title: "The host is not verified",
        cause: """
            No tenant has verified the host. The request asked for its association file, or a proxy asked whether it \
            can have a certificate.
            """,
        remedy: """
            Claim the domain with `doorstep domain create`, publish its TXT record or its file, and run `doorstep \
            domain verify`. A domain is withdrawn if its proof stays missing.
            """)
}
