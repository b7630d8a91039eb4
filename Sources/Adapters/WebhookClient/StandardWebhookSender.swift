import AsyncHTTPClient
import Crypto
public import Foundation
import NIOHTTP1
public import Notifications
public import OutboundHTTP

/// Sends webhook messages signed as Standard Webhooks 1.0 has it: one POST each.
///
/// Safe to use from many tasks.
public struct StandardWebhookSender: WebhookSender {
    private let client: OutboundClient

    /// How much of an answer's body is read, so that the connection can be used again; more of it gives that up.
    private static let answerLimit = 65_536

    public init(_ client: OutboundClient) {
        self.client = client
    }

    public func send(_ message: WebhookMessage, to webhook: Webhook, at now: Date) async -> WebhookReply {
        let id = message.id.uuidString.lowercased()
        let time = Int(now.timeIntervalSince1970)
        var request = HTTPClientRequest(url: webhook.url.text)
        request.method = .POST
        request.headers.add(contentsOf: [
            ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", String(time)),
            (
                "webhook-signature",
                Self.signature(id: id, time: time, body: message.body, secret: webhook.secret)
            ),
        ])
        request.body = .bytes(message.body)
        do throws(OutboundError) {
            return .status(try await client.execute(request, limit: Self.answerLimit).status)
        } catch {
            return .noAnswer(error.reason)
        }
    }

    /// What a receiver verifies a message by.
    ///
    /// Source: Standard Webhooks 1.0, "Signature scheme": HMAC-SHA256 over ID, time and body, joined by full stops.
    static func signature(id: String, time: Int, body: [UInt8], secret: WebhookSecret) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(id).\(time).".utf8) + body, using: SymmetricKey(data: secret.bytes))
        return "v1,\(Data(code).base64EncodedString())"
    }
}
