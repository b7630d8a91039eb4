import Administration
import Hummingbird
import Logging
import Synchronization

/// What is known of a request on its way to a route.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The caller's `X-Request-ID`, or one of ours; in the answer, in the problem and in each log line.
    var requestID = ""
    /// Who asks; shared by all copies of the context, so that what authentication learns reaches the log line, which is
    /// written outside it.
    private let caller = Caller()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Set by ``AuthenticationMiddleware``; nil on routes that need no key.
    var principal: Principal? {
        get { caller.principal.withLock { $0 } }
        nonmutating set { caller.principal.withLock { $0 = newValue } }
    }

    /// The caller of a route behind authentication.
    func requirePrincipal() throws(Problem) -> Principal {
        guard let principal else { throw .unauthorized }
        return principal
    }

    private final class Caller: Sendable {
        let principal = Mutex<Principal?>(nil)
    }
}
