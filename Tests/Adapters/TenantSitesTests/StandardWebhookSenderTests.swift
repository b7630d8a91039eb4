import Formats
import Foundation
import LocalServers
import Notifications
import Synchronization
import Testing

@testable import OutboundHTTP
@testable import TenantSites

@Suite struct StandardWebhookSenderTests {
    private static let message = WebhookMessage(
        id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        body: Array(#"{"a":1}"#.utf8),
        attempt: 1)

    private static func webhook(_ url: String) throws -> Webhook {
        Webhook(url: try WebhookURL(url), secret: try #require(WebhookSecret(Array(repeating: 7, count: 32))))
    }

    private static func send(
        to url: String, authorities: String? = nil, timeout: Duration = .seconds(20),
        message: WebhookMessage = Self.message
    ) async throws -> WebhookReply {
        let settings = OutboundClient.Settings(
            authorities: authorities, allowed: ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) },
            timeout: timeout)
        return try await OutboundClient.withClient(settings) { client in
            await StandardWebhookSender(client).send(
                message, to: try webhook(url), at: Date(timeIntervalSince1970: 1_700_000_000)
            ).reply
        }
    }

    /// The test vector in the documentation of Standard Webhooks ("Verifying webhooks manually", Svix).
    @Test func signatureMatchesStandardVector() throws {
        let secret = try #require(
            Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").flatMap { WebhookSecret(Array($0)) })
        let signature = StandardWebhookSender.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8),
            secret: secret)
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func messageArrivesWithHeadersAndSignature() async throws {
        let requests = Mutex<[LocalWebServer.Request]>([])
        try await LocalWebServer.lend({ request in
            requests.withLock { $0.append(request) }
            return .init("", status: 204)
        }) { server in
            let reply = try await Self.send(to: "http://127.0.0.1:\(server.port)/hooks?a=b")
            #expect(reply == .status(204))
        }
        let request = try #require(requests.withLock { $0.first })
        #expect(request.method == "POST" && request.path == "/hooks?a=b")
        #expect(request.body == Self.message.body)
        let fields = Dictionary(
            request.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        #expect(fields["content-type"] == "application/json")
        #expect(fields["webhook-id"] == "01020304-0506-0708-090a-0b0c0d0e0f10")
        #expect(fields["webhook-timestamp"] == "1700000000")
        // python3: hmac.new(b"\7"*32, b'01020304-0506-0708-090a-0b0c0d0e0f10.1700000000.{"a":1}', "sha256"), in Base64.
        #expect(fields["webhook-signature"] == "v1,L5ZYcNuhWJpkd7YgEmE8AG0YVmD3kVsskMk2GcQLBbY=")
    }

    @Test(arguments: [nil, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"])
    func traceIsPassedOnWithANewSpan(field: String?) async throws {
        let trace = field.flatMap { TraceContext(traceparent: $0) }
        let message = WebhookMessage(
            id: Self.message.id, body: Self.message.body, attempt: 1, trace: trace)
        let requests = Mutex<[LocalWebServer.Request]>([])
        try await LocalWebServer.lend({ request in
            requests.withLock { $0.append(request) }
            return .init("", status: 204)
        }) { server in
            let reply = try await Self.send(to: "http://127.0.0.1:\(server.port)/", message: message)
            #expect(reply == .status(204))
        }
        let request = try #require(requests.withLock { $0.first })
        let sent = request.headers.filter { $0.name.lowercased() == "traceparent" }.map(\.value)
        #expect(sent.count == (field == nil ? 0 : 1) && !sent.contains { $0 == field })
        #expect(sent.first.flatMap { TraceContext(traceparent: $0) } == trace)
    }

    @Test func messageIsSignedWithBothSecretsDuringAnOverlap() async throws {
        let headers = Mutex<[String]>([])
        let new = try #require(WebhookSecret(Array(repeating: 8, count: 32)))
        let old = try #require(WebhookSecret(Array(repeating: 7, count: 32)))
        try await LocalWebServer.lend({ request in
            headers.withLock {
                $0 += request.headers.filter { $0.name.lowercased() == "webhook-signature" }.map(\.value)
            }
            return .init("", status: 204)
        }) { server in
            let settings = OutboundClient.Settings(
                allowed: ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }, timeout: .seconds(20))
            let url = try WebhookURL("http://127.0.0.1:\(server.port)/")
            try await OutboundClient.withClient(settings) { client in
                let reply = await StandardWebhookSender(client).send(
                    Self.message, to: Webhook(url: url, secret: new, previousSecret: old),
                    at: Date(timeIntervalSince1970: 1_700_000_000)
                ).reply
                #expect(reply == .status(204))
            }
        }
        let signatures = [new, old].map { secret in
            StandardWebhookSender.signature(
                id: "01020304-0506-0708-090a-0b0c0d0e0f10", time: 1_700_000_000, body: Self.message.body,
                secret: secret)
        }
        #expect(headers.withLock { $0 } == [signatures.joined(separator: " ")])
    }

    @Test(arguments: [200, 299, 301, 404, 410, 500]) func everyStatusIsAReply(status: Int) async throws {
        try await LocalWebServer.lend({ _ in
            .init("x", status: status, headers: [("Location", "http://127.0.0.1:1/")])
        }) { server in
            let reply = try await Self.send(to: "http://127.0.0.1:\(server.port)/")
            #expect(reply == .status(status))
            #expect(reply.isTaken == (200...299).contains(status))
        }
    }

    @Test func silentReceiverTimesOut() async throws {
        try await LocalWebServer.lend({ _ in nil }) { server in
            let reply = try await Self.send(
                to: "http://127.0.0.1:\(server.port)/", timeout: .milliseconds(200))
            #expect(reply == .noResponse("no response in time"))
        }
    }

    @Test(arguments: [(0, 0), (3, 3), (4_096, 4_096), (4_097, 4_096), (70_000, 4_096)])
    func beginningOfTheResponseIsReturned(length: Int, kept: Int) async throws {
        try await LocalWebServer.lend({ _ in .init(String(repeating: "é", count: length / 2 + length % 2)) })
        {
            server in
            let settings = OutboundClient.Settings(
                allowed: ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }, timeout: .seconds(20))
            let response = try await OutboundClient.withClient(settings) { client in
                await StandardWebhookSender(client).send(
                    Self.message, to: try Self.webhook("http://127.0.0.1:\(server.port)/"), at: Date())
            }
            #expect(response.reply == .status(200))
            #expect(response.response.count == min(kept + length % 2, 4_096))
        }
    }

    /// The status decides, even if the body never ends.
    @Test func statusIsTheReplyIfBodyNeverEnds() async throws {
        try await LocalWebServer.lend({ _ in
            var page = LocalWebServer.Page("x")
            page.isUnended = true
            return page
        }) { server in
            let reply = try await Self.send(
                to: "http://127.0.0.1:\(server.port)/", timeout: .seconds(2))
            #expect(reply == .status(200))
        }
    }

    @Test(arguments: [200, 204, 500])
    func statusIsTheReplyWithoutCloseNotify(status: Int) async throws {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await LocalWebServer.lend(
                over: certificate,
                { _ in
                    var page = LocalWebServer.Page(status == 204 ? "" : "ok", status: status)
                    page.isCutOff = true
                    return page
                }
            ) { server in
                let reply = try await Self.send(
                    to: "https://localhost:\(server.port)/", authorities: certificate.path)
                #expect(reply == .status(status))
            }
        }
    }

    @Test func replyIncludesRetryAfter() async throws {
        try await LocalWebServer.lend({ _ in .init("", status: 429, headers: [("Retry-After", "70")]) }) {
            server in
            let reply = try await Self.send(to: "http://127.0.0.1:\(server.port)/")
            #expect(reply == .status(429, retryAfter: .seconds(70)))
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("120", 120), ("Sun, 06 Nov 1994 08:49:37 GMT", 60),
            ("Sun, 06 Nov 1994 08:40:00 GMT", 0), ("", nil), ("-1", nil), ("1.5", nil), ("soon", nil),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
        ] as [(String, Int?)])
    func retryAfterIsSecondsOrHTTPDate(text: String, seconds: Int?) throws {
        let now = try #require(Date(rfc3339: "1994-11-06T08:48:37Z"))
        #expect(StandardWebhookSender.pause(text, at: now) == seconds.map { .seconds($0) })
    }

    @Test func retryAfterOverflowIsALongPause() throws {
        let pause = StandardWebhookSender.pause(String(repeating: "9", count: 100), at: Date())
        #expect(try #require(pause) > .seconds(86_400))
    }

    @Test func refusedConnectionIsReported() async throws {
        let reply = try await Self.send(to: "http://127.0.0.1:1/")
        #expect(reply == .noResponse("Connection refused"))
    }

    @Test func untrustedCertificateIsRejected() async throws {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await LocalWebServer.lend(over: certificate, { _ in .init("") }) { server in
                let url = "https://localhost:\(server.port)/"
                let trusted = try await Self.send(to: url, authorities: certificate.path)
                #expect(trusted == .status(200))
                let unknown = try await Self.send(to: url)
                #expect(unknown == .noResponse("the connection could not be secured"))
            }
        }
        // The certificate is trusted, but belongs to another host.
        try await TestCertificate.lend(for: ["other.example.com"]) { certificate in
            try await LocalWebServer.lend(over: certificate, { _ in .init("") }) { server in
                let others = try await Self.send(
                    to: "https://localhost:\(server.port)/", authorities: certificate.path)
                #expect(others == .noResponse("the connection could not be secured"))
            }
        }
    }

    // MARK: Addresses

    private static let refusals: Set = [
        WebhookReply.noResponse("the host's address is not public"), .noResponse("the host has no address"),
    ]

    /// Hosts that pass registration.
    @Test(arguments: LocalWebServer.hostsThatAreNotPublic)
    func nonPublicHostsReceiveNoMessage(host: String) async throws {
        let asked = Mutex(0)
        try await LocalWebServer.lend({ _ in
            asked.withLock { $0 += 1 }
            return .init("")
        }) { server in
            try await OutboundClient.withClient(OutboundClient.Settings(timeout: .seconds(60))) { client in
                for scheme in ["http", "https"] {
                    guard let webhook = try? Self.webhook("\(scheme)://\(host):\(server.port)/") else {
                        continue
                    }
                    let reply = await StandardWebhookSender(client).send(
                        Self.message, to: webhook, at: Date()
                    ).reply
                    #expect(Self.refusals.contains(reply), "\(scheme): \(reply)")
                }
            }
        }
        #expect(asked.withLock { $0 } == 0)
    }

    /// The resolved address is checked, and used for the connection.
    @Test func messageGoesToTheVerifiedAddress() async throws {
        try await TestCertificate.lend(for: ["hooks.example.com"]) { certificate in
            let lookups = Mutex(0)
            try await LocalWebServer.lend(over: certificate, { _ in .init("") }) { server in
                let url = "https://hooks.example.com:\(server.port)/"
                let only = OutboundClient.Settings(
                    authorities: certificate.path, allowed: [try #require(AddressRange("127.0.0.1"))],
                    timeout: .seconds(60))
                let inside = try await OutboundClient.withClient(
                    only, resolver: { _ in ["127.0.0.2", "::1"] }
                ) {
                    await StandardWebhookSender($0).send(Self.message, to: try Self.webhook(url), at: Date())
                        .reply
                }
                #expect(inside == .noResponse("the host's address is not public"))
                let turning: BoundHosts.Resolver = { _ in
                    let isFirst = lookups.withLock { count in
                        count += 1
                        return count == 1
                    }
                    return isFirst ? ["127.0.0.1"] : ["127.0.0.2"]
                }
                let replies = try await OutboundClient.withClient(only, resolver: turning) { client in
                    let sender = StandardWebhookSender(client)
                    return [
                        await sender.send(Self.message, to: try Self.webhook(url), at: Date()).reply,
                        await sender.send(Self.message, to: try Self.webhook(url), at: Date()).reply,
                    ]
                }
                #expect(replies == [.status(200), .status(200)])
            }
            #expect(lookups.withLock { $0 } == 1)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectIsNotFollowed(status: Int) async throws {
        let paths = Mutex<[String]>([])
        try await LocalWebServer.lend({ request in
            paths.withLock { $0.append(request.path) }
            return .init("", status: status, headers: [("Location", "/inside")])
        }) { server in
            let reply = try await Self.send(to: "http://127.0.0.1:\(server.port)/hooks")
            #expect(reply == .status(status) && !reply.isTaken)
        }
        #expect(paths.withLock { $0 } == ["/hooks"])
    }
}
