import Formats
import HTTPServer
import HTTPTypes

/// Refuses requests that do not come from a console page, and adds security header fields to every response.
///
/// `SameSite` alone does not exclude another origin of the same site, such as a page on another port of this machine. For a
/// request that changes data, `Sec-Fetch-Site` decides (Fetch Metadata Request Headers §2.3), or `Origin` if that field is
/// missing. A request with neither field is refused. An `Origin` with another scheme or host is always refused, even if
/// `Sec-Fetch-Site` allows the request.
struct ConsoleGuard: Sendable {
    let names: ConsoleNames
    let proxies: TrustedProxies
    let proxySignIn: ProxySignIn?

    func response(
        to request: ServerRequest, _ method: HTTPRequest.Method, _ body: ServerRequestBody,
        next: (ReceivedRequest) async -> ServerResponse
    ) async -> ServerResponse {
        let fields = request.fields
        let isForwarded = Self.forwarding.contains { fields.contains($0) }
        guard let origin = names.origin(of: request.authority, isForwarded: isForwarded) else {
            return Self.secured(
                ConsoleResponse.plain(
                    .misdirectedRequest,
                    "The console does not serve this host name. Set --console-origin to its public origin, and let your proxy pass the Host field on."
                ))
        }
        let isBehindProxy = proxies.contains(request.peer)
        let received = ReceivedRequest(
            method: method, path: String(request.path), fields: fields, query: String(request.query),
            body: body,
            client: isBehindProxy
                ? proxies.address(behind: request.peer, forwardedFor: fields[.forwardedFor]) : request.peer,
            isBehindProxy: isBehindProxy, isSecure: origin.isSecure)
        if proxySignIn?.isIn(received) == true, !isBehindProxy {
            return Self.secured(
                ConsoleResponse.plain(
                    .forbidden,
                    "Only trusted proxies may send sign-in header fields. Set --console-proxy to the addresses of your proxies."
                ))
        }
        guard Self.isAllowed(received, at: origin.text) else {
            return Self.secured(
                ConsoleResponse.plain(
                    .forbidden, "The request does not come from a console page. Nothing was done."))
        }
        return Self.secured(await next(received))
    }

    /// Adds the security header fields that the response does not set itself.
    static func secured(_ response: ServerResponse) -> ServerResponse {
        var response = response
        for (name, value) in Self.fields where response.fields[name] == nil { response.fields[name] = value }
        return response
    }

    private static func isAllowed(_ request: ReceivedRequest, at origin: String) -> Bool {
        if request.method == .get || request.method == .head { return true }
        let sender = request.fields[.origin]
        guard let site = request.fields[.secFetchSite] else { return sender == origin }
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
