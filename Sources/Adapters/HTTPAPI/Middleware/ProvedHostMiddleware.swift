import Hummingbird
import Routing

/// Has nothing at some paths where a tenant has proved the request's host: what is told there is the tenant's, and not how
/// the server does.
struct ProvedHostMiddleware: RouterMiddleware {
    /// Of one component each.
    let hiddenPaths: Set<String>
    let table: LiveRoutingTable

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard isHidden(request.uri.path),
            let host = request.head.authority.flatMap(SiteAssociationRoutes.host),
            table.current?.table.isProved(host: host) == true
        else { return try await next(request, context) }
        throw Problem.notFound
    }

    /// Empty components do not count, as for the router.
    private func isHidden(_ path: String) -> Bool {
        let components = path.split(separator: "/")
        return components.count == 1 && hiddenPaths.contains("/\(components[0])")
    }
}
