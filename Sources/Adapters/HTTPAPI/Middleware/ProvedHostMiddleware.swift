import HTTPSyntax
import Hummingbird
import Lookups

/// Has nothing at some paths where a tenant has proved the request's host: what is told there is the tenant's, and not how
/// the server does.
struct ProvedHostMiddleware: RouterMiddleware {
    /// By their components.
    private let hiddenPaths: Set<[Substring]>
    private let table: LiveLookupIndex

    init(hiding paths: [String], table: LiveLookupIndex) {
        hiddenPaths = Set(paths.map(Self.components))
        self.table = table
    }

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard hiddenPaths.contains(Self.components(request.uri.path)),
            let host = request.head.authority.flatMap(Authority.host),
            table.current?.table.isProved(host: host) == true
        else { return try await next(request, context) }
        throw Problem.notFound
    }

    /// Empty components do not count, as for the router.
    private static func components(_ path: String) -> [Substring] { path.split(separator: "/") }
}
