import NIOCore
import Tenancy

/// What a route under `/v1` asks of a request, before anything of the route itself matters.
struct RouteAccess {
    /// What a key must be good for.
    let scope: Scope
    /// Whether there must be JSON in the body.
    let takesBody: Bool
}

/// A request to a route under `/v1`, as far as it is known before its body, whoever read it from the wire.
struct AnswerRequest {
    let access: RouteAccess
    let client: Client
    /// The URL's query as it came, without the question mark.
    var query = ByteBuffer()
    /// The one `Authorization` field; nil when there is none, or more than one.
    var authorization: ByteBuffer?
    var contentType: ByteBuffer?
    /// All `If-None-Match` fields, separated by commas.
    var ifNoneMatch: ByteBuffer?
    /// Nil when it is not known.
    var contentLength: Int?
}
