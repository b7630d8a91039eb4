import Administration
import Hummingbird
import Logging

/// What is known of a request on its way to a route.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The caller's `X-Request-ID`, or one of ours; in the answer, in the problem and in each log line.
    var requestID = ""
    /// Set by ``AuthenticationMiddleware``; routes behind it may rely on it.
    var principal: Principal?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// The caller of a route behind authentication.
    func requirePrincipal() throws(Problem) -> Principal {
        guard let principal else { throw .unauthorized }
        return principal
    }
}
