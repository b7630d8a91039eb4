import HTTPTypes
import Hummingbird
import IPAddresses

/// Refuses requests that do not come from a console page, and adds security header fields to every response.
///
/// `SameSite` alone does not exclude another origin of the same site, such as a page on another port of this machine. For a
/// request that changes data, `Sec-Fetch-Site` decides (Fetch Metadata Request Headers §2.3), or `Origin` if that field is
/// missing. A request with neither field is refused. An `Origin` with another scheme or host is always refused: a proxy may
/// stand between that `Host` does not show.
struct GuardMiddleware: RouterMiddleware {
    let names: ConsoleNames
    let proxies: TrustedProxies
    let proxySignIn: ProxySignIn?

    func handle(
        _ request: Request, context: ConsoleContext,
        next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        var response: Response
        let isForwarded = Self.forwarding.contains { request.headers.contains($0) }
        if let origin = names.origin(of: request.head.authority, isForwarded: isForwarded) {
            context.isSecure = origin.isSecure
            context.isBehindProxy = proxies.contains(context.peer)
            if context.isBehindProxy {
                context.client = proxies.address(
                    behind: context.peer, forwardedFor: request.headers[.forwardedFor])
            }
            if proxySignIn?.isIn(request) == true, !context.isBehindProxy {
                response = ConsoleResponse.plain(
                    .forbidden,
                    "Only trusted proxies may send sign-in header fields. Set --console-proxy to the addresses of your proxies."
                )
            } else if Self.isAllowed(request, at: origin.text) {
                response = try await next(request, context)
            } else {
                response = ConsoleResponse.plain(
                    .forbidden, "The request does not come from a console page. Nothing was done.")
            }
        } else {
            response = ConsoleResponse.plain(
                .misdirectedRequest,
                "The console does not serve this host name. Set --console-origin to its public origin, and let your proxy pass the Host field on."
            )
        }
        for (name, value) in Self.fields where response.headers[name] == nil {
            response.headers[name] = value
        }
        return response
    }

    private static func isAllowed(_ request: Request, at origin: String) -> Bool {
        if request.method == .get || request.method == .head { return true }
        let sender = request.headers[.origin]
        guard let site = request.headers[.secFetchSite] else { return sender == origin }
        // Browsers send `null` if they hide the origin (Fetch §3.2).
        return site == "same-origin" && (sender == nil || sender == "null" || sender == origin)
    }

    /// Header fields that proxies add (RFC 7239; RFC 9110 §7.6.3).
    private static let forwarding: [HTTPField.Name] = [
        .forwarded, .forwardedFor, .forwardedHost, .forwardedProto, .via,
    ]

    private static let fields: [(HTTPField.Name, String)] = [
        (.contentSecurityPolicy, ConsoleResponse.policy(trustedTypes: true)),
        (.xContentTypeOptions, "nosniff"),
        (.crossOriginOpenerPolicy, "same-origin"),
        (.crossOriginResourcePolicy, "same-origin"),
        // With no-referrer, browsers would send no `Origin` to the console itself (Fetch §3.2.2).
        (.referrerPolicy, "same-origin"),
        (.cacheControl, "no-store"),
    ]
}

extension HTTPField.Name {
    /// - Parameter name: a token (RFC 9110 §5.6.2).
    private init(known name: String) {
        guard let name = Self(name) else { preconditionFailure("no field can have this name") }
        self = name
    }

    static let secFetchSite = Self(known: "Sec-Fetch-Site")
    static let forwarded = Self(known: "Forwarded")
    static let forwardedFor = Self(known: "X-Forwarded-For")
    static let forwardedHost = Self(known: "X-Forwarded-Host")
    static let forwardedProto = Self(known: "X-Forwarded-Proto")
    static let crossOriginOpenerPolicy = Self(known: "Cross-Origin-Opener-Policy")
    static let referrerPolicy = Self(known: "Referrer-Policy")
}
