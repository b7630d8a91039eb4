import HTTPSyntax
import Hummingbird
import IPAddresses
import NIOCore

/// The context of a request on its way to an endpoint.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the connected browser or proxy; nil if unknown.
    let peer: IPAddress?
    /// The client's address, if a trusted proxy forwards it.
    var client: IPAddress?
    /// Whether the connection is from a trusted proxy.
    var isBehindProxy = false
    /// Whether the browser uses TLS.
    var isSecure = false

    init(source: ApplicationRequestContextSource) {
        peer = source.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        client = peer
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// The limit of forms, including pasted files.
    var maxUploadSize: Int { FormFields.maximumLength }
}
