import HTTPSyntax
import HTTPTypes
import Hummingbird
import IPAddresses
import Lookups
import NIOCore

/// Shows people pages at the hosts of tenants that want it, at every path but the API's own, which keep precedence.
///
/// Where the server tells monitors how it does by the same port, those paths are the tenant's here.
struct LandingPageMiddleware: RouterMiddleware {
    private let pages: APIServer.Dependencies.LandingPages
    private let table: LiveLookupIndex
    private let limiter: RequestLimiter
    private let proxies: TrustedProxies

    init(
        _ pages: @escaping APIServer.Dependencies.LandingPages, table: LiveLookupIndex,
        limiter: RequestLimiter,
        proxies: TrustedProxies
    ) {
        self.pages = pages
        self.table = table
        self.limiter = limiter
        self.proxies = proxies
    }

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        // Empty components do not count, as for the router.
        guard !DomainPages.pathsOfAPI.contains(String(request.uri.path.split(separator: "/").first ?? "")),
            let name = request.head.authority.flatMap(Authority.host), let state = table.current,
            let host = state.provedHost(name), host.pages != .off
        else { return try await next(request, context) }
        context.coreContext.endpointPath.value = "pages"
        guard [.get, .head].contains(request.method) else { throw Problem.methodNotAllowed([.get, .head]) }
        try limiter.admitVisitor(of: host, from: proxies.client(of: request, context.peer))
        let (response, body) = pages(request.head, host, state)
        return Response(
            status: response.status, headers: response.headerFields,
            body: body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
