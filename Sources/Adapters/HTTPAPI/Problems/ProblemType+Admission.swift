import HTTPTypes

extension ProblemType {
    /// Who may ask what, and how often.
    static let admission = [
        unauthorized, forbidden, rateLimited, notFound, methodNotAllowed, unknownHost,
    ]

    static let unauthorized = ProblemType(
        "unauthorized", .unauthorized, title: "There is no valid key",
        cause: "The request has no key, or one that is not known, revoked or expired.",
        remedy: """
            Send `Authorization: Bearer` and a key. `doorstep key list` tells which there are, and \
            `doorstep key create` makes one; a new key is known to every server within a second.
            """)
    static let forbidden = ProblemType(
        "forbidden", .forbidden, title: "The key may not do this",
        cause: """
            The key is valid, but lacks the scope of this route, or is restricted to locations where the route \
            is for all that a tenant has, or its tenant is suspended.
            """,
        remedy: """
            Use a secret key on a server; a publishable key, which ships in an app, reaches less, and so \
            does one that is restricted to locations. A suspended tenant is let in again by `doorstep tenant resume`.
            """)
    static let rateLimited = ProblemType(
        "rate_limited", .tooManyRequests, title: "Too many requests",
        cause: """
            A limit was reached; `limit` names it, and the `RateLimit` fields of other answers tell \
            how far it is.
            """,
        remedy: """
            Wait for the seconds that `Retry-After` gives, then send the request again. `doorstep \
            tenant limit` gives a tenant limits of its own, but of keys of App Attest, which the server's \
            settings have; a proxy that all clients come through is named to the server by `--trusted-proxy`.
            """)
    static let notFound = ProblemType(
        "not_found", .notFound, title: "There is nothing at this path",
        cause: """
            The server has no endpoint at this path or host, or the path names an instance that the tenant does not have.
            """,
        remedy: "Compare the path with `/openapi.json`, its version and spelling included.")
    static let methodNotAllowed = ProblemType(
        "method_not_allowed", .methodNotAllowed, title: "The path takes other methods",
        cause: "There is a route at this path, for other methods.",
        remedy: "Use one of those that the field `Allow` names.")
    static let unknownHost = ProblemType(
        "unknown_host", .notFound, title: "Nobody has proved this host",
        cause: """
            No tenant has proved the host at which the association file was asked for, or the one that a proxy wants a \
            certificate for.
            """,
        remedy: """
            Claim the domain with `doorstep domain create`, set its TXT record or its file, and run \
            `doorstep domain verify`. A proof that is gone lapses.
            """)
}
