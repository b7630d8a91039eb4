import NIOCore

/// A request to a route under `/v1`, as far as it is known before its body, whoever read it from the wire.
struct AnswerRequest {
    let route: AnswerRoute
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
