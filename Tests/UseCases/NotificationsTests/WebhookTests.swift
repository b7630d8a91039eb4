import Foundation
import JSON
import Notifications
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
        ] as [(String, WebhookURL.Refusal?)]) func urls(text: String, refusal: WebhookURL.Refusal?)
    {
        do throws(WebhookURL.Refusal) {
            let url = try WebhookURL(text)
            #expect(refusal == nil && url.text == text)
        } catch {
            #expect(error == refusal, "\(text)")
        }
    }

    @Test func aURLHasABound() {
        let room = WebhookURL.maximumLength - "https://example.com/".utf8.count
        #expect(throws: Never.self) {
            try WebhookURL("https://example.com/" + String(repeating: "a", count: room))
        }
        #expect(throws: WebhookURL.Refusal.malformed) {
            try WebhookURL("https://example.com/" + String(repeating: "a", count: room + 1))
        }
    }

    @Test func aSecretIsShownByItsTextAlone() throws {
        var generator = SystemRandomNumberGenerator()
        let secret = WebhookSecret(using: &generator)
        #expect(secret.text.hasPrefix("whsec_"))
        #expect(Data(base64Encoded: String(secret.text.dropFirst(6))) == Data(secret.bytes))
        let webhook = Webhook(url: try WebhookURL("https://example.com"), secret: secret)
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

    @Test func eventsAreToldInMessagesOfAHundred() throws {
        let event = OutcomeEvent(
            delivery: UUID(), notification: UUID(), instance: nil, state: "refused", reason: "Unregistered",
            attempts: 2)
        let bodies = OutcomeEvent.messages(
            of: Array(repeating: event, count: 201), at: Date(timeIntervalSince1970: 1_772_368_200))
        #expect(OutcomeEvent.messages(of: [], at: Date()).isEmpty)
        let lists = try bodies.map { body in
            guard case .object(let message) = try JSONValue(parsing: body),
                case .object(let data)? = message["data"], case .array(let list)? = data["deliveries"]
            else { throw CocoaError(.coderInvalidValue) }
            #expect(message["type"] == "deliveries.finished")
            #expect(message["timestamp"] == "2026-03-01T12:30:00Z")
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

    @Test func restsGrowAndHaveABound() {
        #expect(
            (1...8).map { WebhookSchedule.rest(afterFailure: $0) }
                == [5, 10, 20, 40, 80, 160, 300, 300].map(Duration.seconds))
        #expect(WebhookSchedule.rest(afterFailure: .max) == .seconds(300))
    }
}
