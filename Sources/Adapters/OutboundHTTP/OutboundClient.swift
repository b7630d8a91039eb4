public import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Asks servers that somebody else named, with async-http-client: no redirect followed, no cookie kept, TLS 1.2 or later,
/// with limits of size and time.
///
/// Safe to use from many tasks.
public struct OutboundClient: Sendable {
    private let client: HTTPClient
    private let detour: Detour?
    private let timeout: Duration

    /// Where to connect to instead of a host's own address and port 443; certificates are still held to the host.
    public struct Detour: Sendable, Hashable {
        let host: String
        let address: String
        let port: Int

        /// Nil for what is no address and port, such as `127.0.0.1:8443`.
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
    /// - Parameters:
    ///   - authorities: a PEM file with certificates to trust instead of the system's.
    ///   - timeout: for one answer, from the look-up of the host to its last byte.
    public static func withClient<Result: Sendable>(
        detour: Detour? = nil, authorities: String? = nil, timeout: Duration = .seconds(15),
        _ body: (OutboundClient) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        if let detour { configuration.dnsOverride = [detour.host: detour.address] }
        var tls = TLSConfiguration.makeClientConfiguration()
        // RFC 8996: earlier versions must not be used.
        tls.minimumTLSVersion = .tlsv12
        if let authorities { tls.trustRoots = .file(authorities) }
        configuration.tlsConfiguration = tls
        // A connection that fails is tried again and again otherwise, and the reason is lost.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(OutboundClient(client: client, detour: detour, timeout: timeout))
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// The answer to a request, whatever its status.
    /// - Parameter limit: how many bytes of the answer's body to take, at most.
    public func execute(
        _ request: HTTPClientRequest, limit: Int
    ) async throws(OutboundError) -> OutboundAnswer {
        do {
            // Around the body too, which a server can send as slowly as it likes.
            return try await withThrowingTaskGroup(of: OutboundAnswer?.self) { group in
                group.addTask { try await answer(to: request, limit: limit) }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return nil
                }
                defer { group.cancelAll() }
                guard let answer = try await group.next() ?? nil else { throw OutboundError.late }
                return answer
            }
        } catch {
            throw OutboundError(error)
        }
    }

    private func answer(to request: HTTPClientRequest, limit: Int) async throws -> OutboundAnswer {
        let response = try await client.execute(prepared(request), timeout: TimeAmount(timeout))
        var answer = OutboundAnswer(
            status: Int(response.status.code), contentType: response.headers.first(name: "Content-Type"),
            location: response.headers.first(name: "Location"))
        for try await piece in response.body {
            let room = limit - answer.body.count
            answer.body += piece.readableBytesView.prefix(room)
            if piece.readableBytes > room {
                answer.isCutOff = true
                break
            }
        }
        return answer
    }

    private func prepared(_ request: HTTPClientRequest) -> HTTPClientRequest {
        var request = request
        request.headers.replaceOrAdd(name: "User-Agent", value: "Doorstep")
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

/// What a server answered.
public struct OutboundAnswer: Sendable, Hashable {
    public let status: Int
    public let contentType: String?
    /// Where a redirect leads.
    public let location: String?
    public var body: [UInt8] = []
    /// Whether there was more of the body.
    public var isCutOff = false
}
