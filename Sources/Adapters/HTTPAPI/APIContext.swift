import Hummingbird
import IPAddresses
import Logging
import Lookups
import NIOCore
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
    /// Of the connection, or of the stream of HTTP/2.
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        peer = source.channel.remoteAddress.flatMap(IPAddress.init)
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Has a client that waits for `100 Continue` send its body. To be called once the request is not refused without it.
    func wantBody(of request: Request) {
        guard request.headers[.expect] != nil else { return }
        channel.triggerUserOutboundEvent(BodyIsWanted(), promise: nil)
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
