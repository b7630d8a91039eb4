import Foundation
import JSON
import Notifications
import Synchronization
import Tenancy
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

    // MARK: Delivery

    private final class MemoryStore: WebhookStore {
        struct State {
            var waiting: [UUID: WebhookMessage] = [:]
            var retries: [UUID: Duration] = [:]
            var hasWebhook = true
        }

        let state: Mutex<State>
        let tenant = TenantID(UUID())
        private let webhook: Webhook

        init(_ messages: [WebhookMessage]) throws {
            var generator = SystemRandomNumberGenerator()
            webhook = Webhook(
                url: try WebhookURL("https://example.com"), secret: WebhookSecret(using: &generator))
            state = Mutex(State(waiting: Dictionary(uniqueKeysWithValues: messages.map { ($0.id, $0) })))
        }

        func tenantsWithDueMessages(limit: Int) -> [TenantID] {
            state.withLock { $0.waiting.count > $0.retries.count } ? [tenant] : []
        }

        func claim(
            of tenant: TenantID, limit: Int, lease: Duration
        ) -> (webhook: Webhook, messages: [WebhookMessage])? {
            state.withLock { state in
                guard state.hasWebhook else { return nil }
                let due = state.waiting.values.filter { state.retries[$0.id] == nil }
                return (webhook, Array(due.prefix(limit)))
            }
        }

        func remove(_ messages: [WebhookMessage], of tenant: TenantID) {
            state.withLock { state in for message in messages { state.waiting[message.id] = nil } }
        }

        func retry(_ message: WebhookMessage, of tenant: TenantID, after pause: Duration) {
            state.withLock { $0.retries[message.id] = pause }
        }
    }

    private struct Replies: WebhookSender {
        let reply: @Sendable (WebhookMessage) -> WebhookReply

        func send(_ message: WebhookMessage, to webhook: Webhook, at now: Date) async -> WebhookReply {
            reply(message)
        }
    }

    private static func message(_ number: UInt8, attempt: Int = 1) -> WebhookMessage {
        WebhookMessage(id: UUID(), body: [number], attempt: attempt)
    }

    @Test func whatIsTakenIsRemovedAndWhatIsNotWaits() async throws {
        let store = try MemoryStore([Self.message(1), Self.message(2), Self.message(3)])
        let dispatcher = WebhookDispatcher(
            store,
            Replies { message in
                switch message.body {
                case [1]: .status(200)
                case [2]: .status(500)
                default: .noAnswer("no answer in time")
                }
            })
        #expect(try await dispatcher.deliverDue() == 3)
        let left = store.state.withLock { $0 }
        #expect(Set(left.waiting.values.map(\.body)) == [[2], [3]])
        #expect(Set(left.retries.keys) == Set(left.waiting.keys))
        #expect(left.retries.values.allSatisfy { (.seconds(5) ... .seconds(6)).contains($0) })
        #expect(try await dispatcher.deliverDue() == 0)
    }

    @Test func afterTheLastAttemptAMessageIsGivenUp() async throws {
        let store = try MemoryStore([Self.message(1, attempt: 9), Self.message(2, attempt: 10)])
        let givenUp = Mutex(0)
        let dispatcher = WebhookDispatcher(
            store, Replies { _ in .status(404) },
            onEvent: { if case .gaveUp(_, .status(404)) = $0 { givenUp.withLock { $0 += 1 } } })
        try await dispatcher.deliverDue()
        #expect(store.state.withLock { $0.waiting.values.map(\.body) } == [[1]])
        #expect(givenUp.withLock { $0 } == 1)
    }

    @Test func withoutAWebhookNothingIsSent() async throws {
        let store = try MemoryStore([Self.message(1)])
        store.state.withLock { $0.hasWebhook = false }
        let dispatcher = WebhookDispatcher(
            store,
            Replies { _ in
                Issue.record("nothing may be sent")
                return .status(200)
            })
        #expect(try await dispatcher.deliverDue() == 0)
    }
}
