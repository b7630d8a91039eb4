public import AsyncHTTPClient
public import Formats
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
public import Tracing

/// Sends requests to servers that tenants name, with async-http-client: without redirects or cookies, with TLS 1.2 or later,
/// with limits of size and time, and only to public addresses, unless others are allowed.
///
/// Safe to use from many tasks.
public struct OutboundClient: Sendable {
    private let hosts: BoundHosts
    private let detour: Detour?
    private let timeout: Duration
    private let tracer: (any Tracer)?

    /// The settings of the client.
    public struct Settings: Sendable {
        /// A PEM file with certificates to trust instead of the system's.
        public var authorities: String?
        /// Addresses that may be connected to though they are not public.
        public var allowed: [AddressRange]
        /// For one response, from the lookup of the host to its last byte.
        public var timeout: Duration
        /// The maximum size of one response in bytes, counted below TLS. Each interim response and each chunk counts 256 bytes
        /// more.
        /// With a maximum, requests use HTTP/1.1 and event loops of their own. Nil for servers that an operator configured.
        public var responseBudget: Int?
        /// Records a span for each request with an operation; nil for none.
        public var tracer: (any Tracer)?

        /// Four times as many as the longest body that is read of a tenant's site. [ours]
        public static let standardBudget = 4_194_304

        public init(
            authorities: String? = nil, allowed: [AddressRange] = [], timeout: Duration = .seconds(15),
            responseBudget: Int? = standardBudget
        ) {
            self.authorities = authorities
            self.allowed = allowed
            self.timeout = timeout
            self.responseBudget = responseBudget
        }
    }

    /// Replaces a host's own address and port 443 with any address, at the command user's request. Certificates must still be
    /// the host's.
    public struct Detour: Sendable, Hashable {
        fileprivate let host: String
        let address: String
        fileprivate let port: Int

        /// Nil for a text that is not an address and port, such as `127.0.0.1:8443`.
        public init?(around host: String, to text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
                port > 0, colon > text.startIndex
            else { return nil }
            self.host = host
            address = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            self.port = Int(port)
        }
    }

    /// Lends a client.
    public static func withClient<Result: Sendable>(
        _ settings: Settings = Settings(), detour: Detour? = nil,
        _ body: (OutboundClient) async throws -> Result
    ) async throws -> Result {
        try await withClient(settings, detour: detour, resolver: BoundHosts.systemResolver, body)
    }

    static func withClient<Result: Sendable>(
        _ settings: Settings = Settings(), detour: Detour? = nil, resolver: @escaping BoundHosts.Resolver,
        _ body: (OutboundClient) async throws -> Result
    ) async throws -> Result {
        let hosts = BoundHosts(
            settings, resolver: resolver, detours: detour.map { [$0.host: $0.address] } ?? [:])
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(
                try await body(
                    OutboundClient(
                        hosts: hosts, detour: detour, timeout: settings.timeout, tracer: settings.tracer)))
        } catch {
            result = .failure(error)
        }
        await hosts.shutDown()
        return try result.get()
    }

    /// The response to a request, with any status.
    /// - Parameters:
    ///   - limit: Maximum number of bytes of the body.
    ///   - timeout: another one than that of the settings.
    ///   - needsBody: false if only the status matters: then an incomplete body is not an error.
    ///   - operation: The purpose, for the request's span; nil for no span.
    public func execute(
        _ request: HTTPClientRequest, limit: Int, timeout: Duration? = nil, needsBody: Bool = true,
        operation: OutboundOperation? = nil
    ) async throws(OutboundError) -> OutboundResponse {
        guard let tracer, let operation else {
            return try await execute(request, limit: limit, timeout: timeout, needsBody: needsBody)
        }
        var request = request
        let span = operation.span(of: &request, by: tracer)
        defer { span.end() }
        do throws(OutboundError) {
            let response = try await execute(request, limit: limit, timeout: timeout, needsBody: needsBody)
            span.attributes["http.response.status_code"] = response.status
            if response.status >= 400 { span.setStatus(.init(code: .error)) }
            return response
        } catch {
            span.attributes["error.type"] = error.reason
            span.setStatus(.init(code: .error))
            throw error
        }
    }

    private func execute(
        _ request: HTTPClientRequest, limit: Int, timeout: Duration?, needsBody: Bool
    ) async throws(OutboundError) -> OutboundResponse {
        let timeout = timeout ?? self.timeout
        let head = Head()
        do {
            // Around the body too, which a server can send as slowly as it likes.
            return try await withThrowingTaskGroup(of: OutboundResponse?.self) { group in
                group.addTask { try await response(to: request, limit: limit, timeout: timeout, head) }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return nil
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() ?? nil else { throw OutboundError.late }
                return response
            }
        } catch {
            if !needsBody, let response = head.response { return response }
            throw OutboundError(error)
        }
    }

    /// A response without its body, as soon as its header has arrived.
    private final class Head: Sendable {
        private let storage = Mutex<OutboundResponse?>(nil)

        var response: OutboundResponse? {
            get { storage.withLock { $0 } }
            set { storage.withLock { $0 = newValue } }
        }
    }

    private func response(
        to request: HTTPClientRequest, limit: Int, timeout: Duration, _ head: Head
    ) async throws -> OutboundResponse {
        // In the library's form.
        guard let url = URL(string: request.url), ["http", "https"].contains(url.scheme?.lowercased()),
            let host = url.host, !host.isEmpty
        else { throw HTTPClientError.invalidURL }
        return try await hosts.withClient(for: host) { client in
            try await response(to: request, limit: limit, timeout: timeout, head, by: client)
        }
    }

    private func response(
        to request: HTTPClientRequest, limit: Int, timeout: Duration, _ head: Head, by client: HTTPClient
    ) async throws -> OutboundResponse {
        let received = try await client.execute(prepared(request), timeout: TimeAmount(timeout))
        var response = OutboundResponse(
            status: Int(received.status.code),
            fields: Dictionary(
                received.headers.map { ($0.name.lowercased(), [$0.value]) }, uniquingKeysWith: +))
        head.response = response
        for try await piece in received.body {
            let room = limit - response.body.count
            response.body += piece.readableBytesView.prefix(room)
            if piece.readableBytes > room {
                response.isCutOff = true
                break
            }
        }
        return response
    }

    private func prepared(_ request: HTTPClientRequest) -> HTTPClientRequest {
        var request = request
        request.headers.replaceOrAdd(name: "User-Agent", value: "Doorstep")
        // No content coding is decoded here (RFC 9110 §12.5.3).
        request.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
        if let detour, var parts = URLComponents(string: request.url), parts.host == detour.host,
            parts.port == nil
        {
            parts.port = detour.port
            request.url = parts.string ?? request.url
            request.headers.add(name: "Host", value: detour.host)
        }
        return request
    }
}

/// A server's response.
public struct OutboundResponse: Sendable, Hashable {
    public let status: Int
    /// The values of the header's fields, by their names in lower case.
    fileprivate let fields: [String: [String]]
    public var body: [UInt8] = []
    /// Whether there was more of the body.
    public var isCutOff = false

    public var contentType: String? { values(of: "Content-Type").first }
    /// Where a redirect leads.
    public var location: String? { values(of: "Location").first }
    public var entityTag: String? { values(of: "ETag").first }
    /// The coding of the body, such as `gzip`, in lower case, if the server used one although the request named none.
    public var contentCoding: String? {
        let coding = values(of: "Content-Encoding").joined(separator: ", ").lowercased()
        return ["", "identity"].contains(coding) ? nil : coding
    }

    /// The values of a field of the header, in their order.
    public func values(of name: String) -> [String] { fields[name.lowercased()] ?? [] }
}
