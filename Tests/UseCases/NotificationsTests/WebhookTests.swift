import Formats
import Foundation
import Testing

@testable import Notifications

@Suite struct WebhookTests {
    @Test(
        arguments: [
            ("https://example.com/hooks", nil), ("https://example.com:8443/hooks?tenant=1", nil),
            ("http://127.0.0.1:9000/", nil), ("http://localhost/x", nil), ("http://[::1]:9/", nil),
            ("http://example.com/", .unencrypted), ("ftp://example.com/", .unencrypted),
            ("http://127.0.0.1.example.com/", .unencrypted), ("https://user@example.com/", .credentials),
            ("https://:secret@example.com/", .credentials), ("https://example.com/#a", .fragment),
            ("https://", .malformed), ("example.com", .malformed), ("https://example.com/a b", .malformed),
            ("https://example.com/\u{7}", .malformed), ("", .malformed),
        ] as [(String, WebhookURL.Refusal?)]) func webhookURLIsValidated(
            text: String, refusal: WebhookURL.Refusal?
        )
    {
        do throws(WebhookURL.Refusal) {
            let url = try WebhookURL(text)
            #expect(refusal == nil && url.text == text)
        } catch {
            #expect(error == refusal, "\(text)")
        }
    }

    @Test(
        arguments: [
            ("https://10.0.0.1/x", "10.0.0.0/8"), ("https://169.254.169.254/", "169.254.0.0/16"),
            ("https://[fd00::1]/", "fd00::/8"), ("http://127.0.0.1:9000/", "127.0.0.1"),
            ("http://[::1]:9/", "::1"), ("http://localhost/x", "::1"), ("https://LOCALHOST/", "127.0.0.0/8"),
            ("https://192.168.1.1:8443/", "192.168.0.0/16"),
        ])
    func privateAddressIsReachableOnlyIfAllowed(text: String, range: String) throws {
        let url = try WebhookURL(text)
        #expect(!url.isReachable(allowing: []))
        #expect(!url.isReachable(allowing: [try #require(AddressRange("11.0.0.0/8"))]))
        #expect(url.isReachable(allowing: [try #require(AddressRange(range))]))
    }

    /// These are refused with any setting, because resolvers accept them and certificates do not.
    @Test(arguments: [
        "https://127.1/", "https://127.1:9000/x", "https://0x7f.1/", "https://0X7F.1/", "https://2130706433/",
        "https://0177.0.0.1/", "https://0x7f000001/", "https://10.0.0.1./", "https://8.8.8.8./",
        "https://134744072/", "https://1.2.3.4.5/", "https://example.1/", "https://0x/",
        "https://[fe80::1%25lo]/", "https://%31%32%37.1/",
    ])
    func addressInAnotherFormIsNotReachable(text: String) throws {
        let everywhere = try ["0.0.0.0/0", "::/0"].map { try #require(AddressRange($0)) }
        for allowed in [[], everywhere] {
            #expect((try? WebhookURL(text))?.isReachable(allowing: allowed) != true)
        }
    }

    @Test(arguments: [
        "https://1.example.com/", "https://0x7f.example/", "https://1e1/", "https://0xg/",
        "https://a.0xcafe.de/",
        "https://example.com./",
        "https://example.com/hooks", "https://8.8.8.8/", "https://[2606:4700:4700::1111]/",
        "https://10.0.0.1.example.com/", "https://localhost.example.com/",
    ])
    func publicAddressOrNameIsReachable(text: String) throws {
        #expect(try WebhookURL(text).isReachable(allowing: []))
    }

    @Test(arguments: [
        ("https://example.com/", true), ("https://example.com:443/", true),
        ("https://example.com:1024/", true),
        ("https://example.com:65535/", true), ("https://example.com:22/", false),
        ("https://example.com:80/", false), ("https://example.com:1023/", false),
        ("https://example.com:0/", false), ("https://8.8.8.8:25/", false),
        ("https://[2606:4700:4700::1111]:25/", false),
    ])
    func portOfAnotherServiceIsRejectedUnlessAddressIsAllowed(text: String, isAllowed: Bool) throws {
        let url = try WebhookURL(text)
        func refusal(_ allowed: [AddressRange]) -> WebhookRefusal? {
            do throws(WebhookRefusal) {
                try url.check(allowing: allowed)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal([]) == (isAllowed ? nil : .portNotAllowed))
        let everywhere = try ["0.0.0.0/0", "::/0"].map { try #require(AddressRange($0)) }
        // A name may lead to any address, so it is never allowed.
        let isName = text.contains("example.com")
        #expect(refusal(everywhere) == (isAllowed || !isName ? nil : .portNotAllowed))
        #expect(throws: WebhookRefusal.addressNotPublic) {
            try WebhookURL("http://localhost:9/").check(allowing: [])
        }
        try WebhookURL("http://localhost:9/").check(allowing: [try #require(AddressRange("127.0.0.1"))])
    }

    @Test func pauseFollowsRetryAfterUpToOneDay() {
        func pause(_ wish: Duration?) -> Duration? {
            WebhookSchedule.pause(afterAttempt: 2, random: 0, wish: wish)
        }
        #expect(pause(nil) == .seconds(300) && pause(.seconds(7)) == .seconds(300))
        #expect(pause(.seconds(301)) == .seconds(301))
        #expect(pause(.seconds(1_000_000_000_000)) == .seconds(86_400))
        #expect(WebhookSchedule.pause(afterAttempt: 10, random: 0, wish: .seconds(7)) == nil)
    }

    @Test func overlongURLIsRejected() {
        let room = WebhookURL.maximumLength - "https://example.com/".utf8.count
        #expect(throws: Never.self) {
            try WebhookURL("https://example.com/" + String(repeating: "a", count: room))
        }
        #expect(throws: WebhookURL.Refusal.malformed) {
            try WebhookURL("https://example.com/" + String(repeating: "a", count: room + 1))
        }
    }

    @Test func secretIsHiddenFromDescriptions() throws {
        let secret = WebhookSecret.generate()
        #expect(secret.text.hasPrefix("whsec_"))
        #expect(Data(base64Encoded: String(secret.text.dropFirst(6))) == Data(secret.bytes))
        let webhook = Webhook(
            url: try WebhookURL("https://example.com"), secret: secret, previousSecret: secret)
        var dumped = ""
        dump(webhook, to: &dumped)
        for text in ["\(webhook)", String(reflecting: webhook), dumped] {
            #expect(!text.contains(secret.text) && !text.contains("\(secret.bytes)"))
        }
        #expect(WebhookSecret(Array(repeating: 1, count: 23)) == nil)
        #expect(WebhookSecret(Array(repeating: 1, count: 65)) == nil)
    }

    @Test func pausesGrowAndEnd() throws {
        var last = Duration.zero
        for attempt in 1...9 {
            let least = try #require(WebhookSchedule.pause(afterAttempt: attempt, random: 0))
            let most = try #require(WebhookSchedule.pause(afterAttempt: attempt, random: 1))
            #expect(least > last && most == least * 1.2)
            last = least
        }
        #expect(WebhookSchedule.pause(afterAttempt: 10, random: 0) == nil)
    }

    @Test func eventsAreBatchedInMessagesOfOneHundred() throws {
        let event = OutcomeEvent(
            delivery: UUID(), notification: UUID(), instance: nil, state: "refused", reason: "Unregistered",
            attempts: 2)
        func messages(_ count: Int) -> [WebhookMessage] {
            WebhookMessage.messages(
                .deliveryFinished, "deliveries", Array(repeating: event.json, count: count),
                at: Date(timeIntervalSince1970: 1_772_368_200))
        }
        #expect(messages(0).isEmpty)
        let all = messages(201)
        #expect(Set(all.map(\.id)).count == 3 && all.allSatisfy { $0.attempt == 0 })
        let lists = try all.map { message in
            guard case .object(let body) = try JSONValue(parsing: message.body),
                case .object(let data)? = body["data"], case .array(let list)? = data["deliveries"]
            else { throw CocoaError(.coderInvalidValue) }
            #expect(body["id"] == .string(message.id.uuidString.lowercased()))
            #expect(body["type"] == "delivery.finished")
            #expect(body["timestamp"] == "2026-03-01T12:30:00Z")
            return list
        }
        #expect(lists.map(\.count) == [100, 100, 1])
        #expect(
            lists[2] == [
                [
                    "id": .string(event.delivery.uuidString.lowercased()),
                    "notification": .string(event.notification.uuidString.lowercased()), "instance": .null,
                    "state": "refused", "reason": "Unregistered", "attempts": 2,
                ]
            ])
    }

    @Test(arguments: [
        "", "wh_", "wh_0192f8a4c0de7000800000000000001", "wh_0192F8A4C0DE70008000000000000012",
        "0192f8a4c0de70008000000000000012", "wh_0192f8a4-c0de-7000-8000-000000000012",
        "wh_0192f8a4c0de70008000000000000012\u{0}", "wh_g192f8a4c0de70008000000000000012",
        "wh_0192f8a4c0de7000800000000000001é",
    ]) func malformedWebhookIDIsRejected(text: String) {
        #expect(WebhookID(text) == nil)
    }

    @Test func webhookIDRoundTrips() throws {
        let id = WebhookID(UUID())
        #expect(WebhookID(id.description) == id && id.description.hasPrefix("wh_"))
    }

    @Test func storedAttemptRoundTrips() throws {
        for reply in [WebhookReply.status(204), .noResponse("Connection refused")] {
            let attempt = WebhookAttempt(
                at: Date(timeIntervalSince1970: 1_772_368_200.25), duration: .milliseconds(1_234),
                reply: reply)
            let stored = JSONValue.object(attempt.json).serialized()
            #expect(try WebhookAttempt(JSONValue(parsing: stored)) == attempt)
        }
        #expect(throws: JSONFieldError.self) { try WebhookAttempt(["at": "now"]) }
    }

    @Test func restsGrowUpToLimit() {
        #expect(
            (1...8).map { WebhookSchedule.rest(afterFailure: $0) }
                == [5, 10, 20, 40, 80, 160, 300, 300].map(Duration.seconds))
        #expect(WebhookSchedule.rest(afterFailure: .max) == .seconds(300))
    }
}
