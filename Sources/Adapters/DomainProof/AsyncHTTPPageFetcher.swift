public import Administration
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Fetches pages with async-http-client: one GET, no redirect followed, no cookie kept, with limits of size and time.
public struct AsyncHTTPPageFetcher: PageFetcher {
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

    /// Lends a fetcher.
    /// - Parameters:
    ///   - authorities: a PEM file with certificates to trust instead of the system's.
    ///   - timeout: for one page, from the look-up of its host to its last byte.
    public static func withFetcher<Result: Sendable>(
        detour: Detour? = nil, authorities: String? = nil, timeout: Duration = .seconds(10),
        _ body: (AsyncHTTPPageFetcher) async throws -> Result
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
            let result = try await body(
                AsyncHTTPPageFetcher(client: client, detour: detour, timeout: timeout))
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    public func fetch(_ url: String, limit: Int) async throws(NoAnswer) -> Page {
        do {
            // Around the body too, which a server can send as slowly as it likes.
            return try await withThrowingTaskGroup(of: Page?.self) { group in
                group.addTask { try await get(url, limit: limit) }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return nil
                }
                defer { group.cancelAll() }
                guard let page = try await group.next() ?? nil else { throw NoAnswer("no answer in time") }
                return page
            }
        } catch let error as NoAnswer {
            throw error
        } catch {
            throw NoAnswer(Self.reason(error))
        }
    }

    private func get(_ url: String, limit: Int) async throws -> Page {
        let response = try await client.execute(request(url), timeout: TimeAmount(timeout))
        var page = Page(
            status: Int(response.status.code), contentType: response.headers.first(name: "Content-Type"),
            location: response.headers.first(name: "Location"))
        for try await piece in response.body {
            let room = limit - page.body.count
            page.body += piece.readableBytesView.prefix(room)
            if piece.readableBytes > room {
                page.isCutOff = true
                break
            }
        }
        return page
    }

    private func request(_ url: String) -> HTTPClientRequest {
        var url = url
        var headers = [("Accept", "*/*"), ("User-Agent", "Doorstep")]
        if let detour, var parts = URLComponents(string: url), parts.host == detour.host, parts.port == nil {
            parts.port = detour.port
            url = parts.string ?? url
            headers.append(("Host", detour.host))
        }
        var request = HTTPClientRequest(url: url)
        request.headers.add(contentsOf: headers)
        return request
    }

    /// What went wrong, in a few words.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout:
            "no answer in time"
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: "the host has no address"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default:
            "\(error)".split(separator: "\n").first.map { String($0.prefix(200)) } ?? "no answer"
        }
    }
}
