public import Foundation

/// What carries a session's requests: ``URLSessionTransport``, or a test's.
public protocol HTTPTransport: Sendable {
    /// Sends a request once.
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse
}

/// A request as it is to be sent. It carries the key: not to be logged.
public struct TransportRequest: Sendable {
    /// Of HTTP, in upper case.
    public var method: String
    /// Whole.
    public var url: URL
    /// By their names; the key is among them.
    public var fields: [String: String]
    /// Nil for none.
    public var body: Data?
    /// For how long to wait for an answer.
    public var timeout: Duration

    /// Takes a request as it is to be sent.
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

/// What was answered, whatever it says.
public struct TransportResponse: Sendable {
    /// Of HTTP.
    public var status: Int
    /// By their names in lower case.
    public var fields: [String: String]
    /// Whole.
    public var body: Data

    /// Takes names of fields in any case.
    public init(status: Int, fields: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.fields = Dictionary(
            fields.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $0 + ", " + $1 })
        self.body = body
    }
}

/// Why there is no response.
public enum TransportFailure: Error, Sendable, Hashable {
    /// Nothing has reached the server: it may be sent again, whatever it does.
    case notSent
    /// The server may have done what was asked.
    case interrupted
    /// The task was cancelled.
    case cancelled
}
