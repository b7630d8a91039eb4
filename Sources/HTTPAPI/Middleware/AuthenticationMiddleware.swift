import Administration
import HTTPTypes
import Hummingbird
import Tenancy

/// Lets a request pass whose key is good for the route.
struct AuthenticationMiddleware: RouterMiddleware {
    let authenticator: any KeyAuthenticator
    let scope: Scope

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard let key = Self.key(in: request.headers),
            let principal = try await authenticator.authenticate(key)
        else { throw Problem.unauthorized }
        guard !principal.tenantIsSuspended else { throw Problem.tenantSuspended }
        guard principal.kind.scopes.contains(scope) else { throw Problem.keyLacksScope }
        context.principal = principal
        return try await next(request, context)
    }

    /// The bearer token of the one `Authorization` field (RFC 6750 §2.1); the scheme's case does not matter
    /// (RFC 9110 §11.1).
    private static func key(in headers: HTTPFields) -> APIKey? {
        let fields = headers[values: .authorization]
        guard fields.count == 1, let field = fields.first else { return nil }
        let parts = field.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return try? APIKey(String(parts[1]))
    }
}
