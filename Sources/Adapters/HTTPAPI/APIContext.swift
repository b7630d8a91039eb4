import Hummingbird
import IPAddresses
import Logging
import Routing
import Synchronization

/// What is known of a request on its way to a route.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The caller's `X-Request-ID`, or one of ours; in the answer, in the problem and in each log line.
    var requestID = ""
    /// Shared by all copies of the context, so that what the route learns reaches the log line, which is written
    /// outside it.
    private let shared = Shared()
    /// Who is connected: the client, or a proxy before it.
    let peer: IPAddress?

    init(source: ApplicationRequestContextSource) {
        peer = source.channel.remoteAddress.flatMap(IPAddress.init)
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Who asks; nil on routes that need no key, and before a key was accepted.
    var caller: KeyHolder? {
        get { shared.caller.withLock { $0 } }
        nonmutating set { shared.caller.withLock { $0 = newValue } }
    }

    /// The limit that the request was refused for.
    var limit: String? {
        get { shared.limit.withLock { $0 } }
        nonmutating set { shared.limit.withLock { $0 = newValue } }
    }

    private final class Shared: Sendable {
        let caller = Mutex<KeyHolder?>(nil)
        let limit = Mutex<String?>(nil)
    }
}
