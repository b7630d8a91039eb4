public import Foundation

/// The transport for a session's requests: ``URLSessionTransport``, or a test's.
public protocol HTTPTransport: Sendable {
    /// Sends a request once.
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse
}

/// A request to send. It contains the key: do not log it.
public struct TransportRequest: Sendable {
    /// The HTTP method, in upper case.
    public var method: String
    /// The whole URL.
    public var url: URL
    /// The header fields by name, including the key.
    public var fields: [String: String]
    /// The body; nil for none.
    public var body: Data?
    /// The time to wait for a response.
    public var timeout: Duration

    /// Creates a request.
    public init(
        method: String, url: URL, fields: [String: String] = [:], body: Data? = nil,
        timeout: Duration = .seconds(30)
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeout = timeout
    }
}

/// A response of any status.
public struct TransportResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields by name, in lower case.
    public var fields: [String: String]
    /// The whole body.
    public var body: Data

    /// Creates a response; names of fields may be in any case.
    public init(status: Int, fields: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.fields = Dictionary(
            fields.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $0 + ", " + $1 })
        self.body = body
    }
}

/// The reason why there is no response.
public enum TransportFailure: Error, Sendable, Hashable {
    /// The server received nothing: any request can be repeated.
    case notSent
    /// The server may have processed the request.
    case interrupted
    /// The task was cancelled.
    case cancelled
}
