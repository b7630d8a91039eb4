public import Administration
import NIOHTTP1

/// How calls reach the API.
public protocol APITransport: Sendable {
    /// - Throws: ``ServerError``; in process also errors of endpoints that are not refusals.
    func send(_ call: APICall) async throws -> APIReply
}

/// A call of an endpoint.
public struct APICall: Sendable {
    public enum Body: Sendable {
        case bytes([UInt8])
        /// A file that is sent while it is read.
        case chunks(FileChunks)
    }

    public let method: String
    /// Percent-encoded.
    public let path: String
    /// Percent-encoded, without the question mark.
    public let query: String
    public let fields: [(name: String, value: String)]
    public let content: (type: String, body: Body)?
    let timeout: Duration
    /// In bytes.
    let responseLimit: Int

    /// - Parameter responseLimit: in bytes; a page of a list is 1 MiB, and an item more.
    init(
        _ method: HTTPMethod, _ path: String, query: String, fields: [(String, String)] = [],
        content: (type: String, body: Body)? = nil, timeout: Duration, responseLimit: Int = 4_194_304
    ) {
        self.method = method.rawValue
        self.path = path
        self.query = query
        self.fields = fields.map { (name: $0.0, value: $0.1) }
        self.content = content
        self.timeout = timeout
        self.responseLimit = responseLimit
    }
}

/// The response of an endpoint.
public struct APIReply: Sendable {
    let status: Int
    let entityTag: String?
    let body: [UInt8]
    /// Whether the body was longer than the limit.
    let isCutOff: Bool

    public init(status: Int, entityTag: String?, body: [UInt8], isCutOff: Bool = false) {
        self.status = status
        self.entityTag = entityTag
        self.body = body
        self.isCutOff = isCutOff
    }
}
