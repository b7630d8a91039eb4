import AsyncHTTPClient
import Crypto
public import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import Notifications

/// Sends webhook messages with async-http-client, signed as Standard Webhooks 1.0 has it: one POST, no redirect followed.
///
/// Safe to use from many tasks.
public struct AsyncHTTPWebhookSender: WebhookSender {
    private let client: HTTPClient
    private let timeout: Duration

    /// How much of an answer's body is read before the connection is given up.
    private static let answerLimit = 65_536

    /// Lends a sender.
    /// - Parameters:
    ///   - authorities: a PEM file with certificates to trust instead of the system's.
    ///   - timeout: for one message, from the look-up of the host to the end of the answer.
    public static func withSender<Result: Sendable>(
        authorities: String? = nil, timeout: Duration = .seconds(15),
        _ body: (AsyncHTTPWebhookSender) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        var tls = TLSConfiguration.makeClientConfiguration()
        // RFC 8996: earlier versions must not be used.
        tls.minimumTLSVersion = .tlsv12
        if let authorities { tls.trustRoots = .file(authorities) }
        configuration.tlsConfiguration = tls
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(AsyncHTTPWebhookSender(client: client, timeout: timeout))
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    public func send(_ message: WebhookMessage, to webhook: Webhook, at now: Date) async -> WebhookReply {
        do {
            return try await withThrowingTaskGroup(of: WebhookReply.self) { group in
                group.addTask { try await post(message, to: webhook, at: now) }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return .noAnswer("no answer in time")
                }
                defer { group.cancelAll() }
                return try await group.next() ?? .noAnswer("no answer")
            }
        } catch {
            return .noAnswer(Self.reason(error))
        }
    }

    private func post(
        _ message: WebhookMessage, to webhook: Webhook, at now: Date
    ) async throws -> WebhookReply {
        var request = HTTPClientRequest(url: webhook.url.text)
        request.method = .POST
        request.headers.add(contentsOf: [
            ("Content-Type", "application/json"), ("User-Agent", "Doorstep"),
        ])
        let id = message.id.uuidString.lowercased()
        let time = Int(now.timeIntervalSince1970)
        request.headers.add(contentsOf: [
            ("webhook-id", id), ("webhook-timestamp", String(time)),
            (
                "webhook-signature",
                Self.signature(id: id, time: time, body: message.body, secret: webhook.secret)
            ),
        ])
        request.body = .bytes(message.body)
        let response = try await client.execute(request, timeout: TimeAmount(timeout))
        // So that the connection can be used again.
        var length = 0
        for try await piece in response.body {
            length += piece.readableBytes
            if length > Self.answerLimit { break }
        }
        return .status(Int(response.status.code))
    }

    /// What a receiver verifies a message by.
    ///
    /// Source: Standard Webhooks 1.0, "Signature scheme": HMAC-SHA256 over ID, time and body, joined by full stops.
    static func signature(id: String, time: Int, body: [UInt8], secret: WebhookSecret) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(id).\(time).".utf8) + body, using: SymmetricKey(data: secret.bytes))
        return "v1,\(Data(code).base64EncodedString())"
    }

    /// What went wrong, in a few words that hold neither URL nor body.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout:
            "no answer in time"
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: "the host has no address"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case is NIOSSLError, is NIOSSLExtraError: "the connection could not be secured"
        default: "the connection failed"
        }
    }
}
