import HTTPSyntax
import Hummingbird
import IPAddresses
import NIOCore

/// What is known of a request on its way to a route.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who is connected; nil where that is not known. A browser, or the proxy before it.
    let peer: IPAddress?
    /// Whom the request is of, as far as trusted proxies tell.
    var client: IPAddress?
    /// Whether a trusted proxy is connected.
    var isBehindProxy = false
    /// Whether the browser reaches the console by TLS.
    var isSecure = false

    init(source: ApplicationRequestContextSource) {
        peer = source.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        client = peer
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Forms are short, and a pasted file is limited to this.
    var maxUploadSize: Int { FormFields.maximumLength }
}
