package import Formats
package import NIOCore

/// Responds to the requests of a server.
package protocol ServerResponder: Sendable {
    /// Decides whether the event loop or a task responds to a request whose head has arrived. Called on the connection's event loop,
    /// and never waits.
    func reply(to request: ServerRequest, on connection: ConnectionMemory) -> ServerReply

    /// Responds from a task of the request's own.
    func respond(to request: ServerRequest, body: ServerRequestBody) async -> ServerResponse

    /// The response to input that is not a valid request. It is the last response of the connection.
    func refusal(of defect: RequestDefect) -> ServerResponse
}

/// Whether the event loop or a task responds to a request.
package enum ServerReply {
    /// The event loop responds as soon as the whole body is there. If the body is longer, or does not arrive together with the
    /// head, a task calls ``ServerResponder/respond(to:body:)`` instead.
    case atOnce(maximumBodyLength: Int, (ByteBuffer) -> ServerResponse)
    /// A task calls ``ServerResponder/respond(to:body:)``.
    case later
}

/// Why input is not a valid request.
package enum RequestDefect: Sendable {
    /// It is not HTTP.
    case syntax
    /// The header is too large.
    case headerLength
    /// The request has no host, several hosts, or two places with different hosts (RFC 9112 §3.2, RFC 9113 §8.3.1).
    case host
    /// Its body has another transfer coding than `chunked` (RFC 9112 §6.1).
    case transferCoding
}

/// Values that a responder keeps for one connection. To be used on the connection's event loop.
package final class ConnectionMemory {
    /// The other end of the connection: the client, or a proxy.
    package let peer: IPAddress?
    /// Kept by the responder from one request to the next.
    package var value: AnyObject?

    package init(peer: IPAddress?) {
        self.peer = peer
    }
}
