import AsyncHTTPClient
import Crypto
import Formats
public import Foundation
import NIOHTTP1
public import Notifications
public import OutboundHTTP

/// Sends webhook messages with the signature of Standard Webhooks 1.0. Each message is one POST.
///
/// Safe to use from many tasks.
public struct StandardWebhookSender: WebhookSender {
    private let client: OutboundClient

    /// The maximum length of a response body that is read so that the connection can be used again; longer ones close it.
    private static let responseLimit = 65_536
    private static let operation = OutboundOperation("webhook", passesTraceOn: true)

    public init(_ client: OutboundClient) {
        self.client = client
    }

    public func send(
        _ message: WebhookMessage, to webhook: Webhook, at now: Date
    ) async -> (reply: WebhookReply, response: [UInt8]) {
        let id = message.id.uuidString.lowercased()
        let time = Int(now.timeIntervalSince1970)
        var request = HTTPClientRequest(url: webhook.url.text)
        request.method = .POST
        request.headers.add(contentsOf: [
            ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", String(time)),
            (
                "webhook-signature",
                // Standard Webhooks 1.0, "Verifying signatures": several signatures are separated by spaces.
                [webhook.secret, webhook.previousSecret].compactMap(\.self).map { secret in
                    Self.signature(id: id, time: time, body: message.body, secret: secret)
                }.joined(separator: " ")
            ),
        ])
        // A span's own field replaces this one.
        if let trace = message.trace { request.headers.add(name: "traceparent", value: trace.traceparent()) }
        request.body = .bytes(message.body)
        // The request's span joins the trace of the event.
        return await TraceContext.$current.withValue(message.trace) { [request] in
            await reply(to: request)
        }
    }

    private func reply(
        to request: HTTPClientRequest
    ) async -> (reply: WebhookReply, response: [UInt8]) {
        do throws(OutboundError) {
            let response = try await client.execute(
                request, limit: Self.responseLimit, needsBody: false, operation: Self.operation)
            let retryAfter = response.values(of: "Retry-After").first.flatMap { Self.pause($0, at: Date()) }
            return (
                .status(response.status, retryAfter: retryAfter),
                Array(response.body.prefix(WebhookAttempt.maximumResponseLength))
            )
        } catch {
            return (.noResponse(error.reason), [])
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The pause in `Retry-After`, in seconds or as a time (RFC 9110 §10.2.3); nil for anything else.
    static func pause(_ text: String, at now: Date) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More than any timer is for.
            return .seconds(Int(text) ?? Int(Int32.max))
        }
        // Such as "Sun, 06 Nov 1994 08:49:37 GMT"; the obsolete forms are left out.
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])),
            let time = Date(
                rfc3339: "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z")
        else { return nil }
        return .seconds(max(0, time.timeIntervalSince(now)))
    }

    /// The signature by which a receiver verifies a message.
    ///
    /// Source: Standard Webhooks 1.0, "Signature scheme": HMAC-SHA256 over ID, time and body, joined by full stops.
    static func signature(id: String, time: Int, body: [UInt8], secret: WebhookSecret) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(id).\(time).".utf8) + body, using: SymmetricKey(data: secret.bytes))
        return "v1,\(Data(code).base64EncodedString())"
    }
}
