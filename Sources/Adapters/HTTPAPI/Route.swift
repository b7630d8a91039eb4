import HTTPTypes
import Hummingbird

/// One method of one path, and who may use it.
struct Route {
    typealias Handler = @Sendable (Request, APIContext) async throws -> Response

    let method: HTTPRequest.Method
    let path: String
    let handler: Handler

    init(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }

    /// Each request is observed and its errors made problems, in this order. A GET route answers HEAD too.
    static func router(
        _ routes: [Route], hiding: ProvedHostMiddleware? = nil, _ observer: RequestObserver,
        _ limiter: RequestLimiter, _ proxies: TrustedProxies
    ) -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: [.autoGenerateHeadEndpoints])
        var methods: [String: [HTTPRequest.Method]] = [:]
        for route in routes {
            methods[route.path, default: []] += route.method == .get ? [.get, .head] : [route.method]
        }
        router.add(middleware: ObservationMiddleware(observer))
        router.add(middleware: ProblemMiddleware(methods: methods, limiter: limiter, proxies: proxies))
        if let hiding { router.add(middleware: hiding) }
        for route in routes { router.on(RouterPath(route.path), method: route.method, use: route.handler) }
        return router
    }
}
