import HTTPTypes
import Hummingbird
import Tenancy

/// One method of one path, and who may use it.
struct Route {
    typealias Handler = @Sendable (Request, APIContext) async throws -> Response

    let method: HTTPRequest.Method
    let path: String
    /// What a key must be good for; nil for a route that needs no key.
    let scope: Scope?
    let handler: Handler

    init(_ method: HTTPRequest.Method, _ path: String, scope: Scope? = nil, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.scope = scope
        self.handler = handler
    }

    /// Each request is observed, its errors made problems, and authenticated, in this order. A GET route answers HEAD
    /// too.
    static func router(_ routes: [Route], _ dependencies: APIServer.Dependencies) -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: [.autoGenerateHeadEndpoints])
        var methods: [String: [HTTPRequest.Method]] = [:]
        for route in routes {
            methods[route.path, default: []] += route.method == .get ? [.get, .head] : [route.method]
        }
        router.add(middleware: ObservationMiddleware())
        router.add(
            middleware: ProblemMiddleware(methods: methods, isTransient: dependencies.isTransient))
        for route in routes {
            let group = router.group()
            if let scope = route.scope {
                group.add(
                    middleware: AuthenticationMiddleware(
                        authenticator: dependencies.authenticator, scope: scope))
            }
            group.on(RouterPath(route.path), method: route.method, use: route.handler)
        }
        return router
    }
}
