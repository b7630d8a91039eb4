import Hummingbird
import NIOCore

/// What is known of a request on its way to a route.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who is connected, as text; nil where that is not known. A browser, or the proxy before it.
    let peer: String?
    /// Whether the browser reaches the console by TLS.
    var isSecure = false

    init(source: ApplicationRequestContextSource) {
        peer = source.channel.remoteAddress?.ipAddress
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Forms are short, and a pasted file is limited to this.
    var maxUploadSize: Int { FormFields.maximumLength }
}
