import Administration
import Formats
import Foundation
import HTTPTestClient
import HTTPTypes
import Invocation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import Testing

@testable import Console

@Suite struct WebhookPagesTests {
    private func form(_ fields: [String: String] = [:]) -> [String: String] {
        fields.merging(["form": UUID().uuidString]) { $1 }
    }

    private func secret(in response: HTTPTestClient.Response) -> String? {
        response.text.firstMatch(of: /whsec_[A-Za-z0-9+\/=]+/).map { String($0.0) }
    }

    private func webhooks(_ console: TestConsole) async throws -> [RegisteredWebhook] {
        try await console.webhooks.webhooks(of: console.acme.id, after: nil, limit: 100)
    }

    @Test func webhookSecretIsShownOnceAfterRegistrationAndRotation() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let fields = form(["url": "ftp://hooks.example.com/<a>", "event.key.revoked": "1"])
            #expect(
                try await console.post("/t/acme/webhooks", fields, cookie).status == .unprocessableContent)
            let named = form([
                "url": "https://hooks.example.com/a", "event.key.revoked": "1",
                "name": String(repeating: "x", count: 129),
            ])
            let refused = try await console.post("/t/acme/webhooks", named, cookie)
            #expect(refused.status == .unprocessableContent && refused.text.contains("id=\"name-error\""))
            #expect(refused.text.contains("value=\"https://hooks.example.com/a\""))
            let good = form(["url": "https://hooks.example.com/a", "event.key.revoked": "1"])
            let response = try await console.post("/t/acme/webhooks", good, cookie)
            #expect(response.status == .ok && response.headers[.cacheControl] == "no-store")
            let first = try #require(secret(in: response))
            #expect(try await console.post("/t/acme/webhooks", good, cookie).status == .conflict)
            let webhook = try #require(try await webhooks(console).first)
            #expect(webhook.events == [.keyRevoked])
            let path = "/t/acme/webhooks/\(webhook.id)"
            let rotation = form()
            let rotated = try await console.post("\(path)/rotate", rotation, cookie)
            let second = try #require(secret(in: rotated))
            #expect(rotated.status == .ok && second != first)
            #expect(try await console.post("\(path)/rotate", rotation, cookie).status == .conflict)
            for page in [path, "/t/acme/webhooks", "/t/acme/audit"] {
                #expect(secret(in: try await console.get(page, cookie)) == nil, "\(page)")
            }
            let receiver = try await console.webhooks.receiver(
                WebhookReference(webhook.id, of: console.acme.id))
            #expect(receiver?.secret.text == second && receiver?.previousSecret == nil)
            let invalid = try await console.post("\(path)/rotate", form(["overlap": "x"]), cookie)
            #expect(invalid.status == .badRequest)
            let overlapping = try await console.post("\(path)/rotate", form(["overlap": "2"]), cookie)
            let third = try await console.webhooks.receiver(
                WebhookReference(webhook.id, of: console.acme.id))
            #expect(third?.secret.text == secret(in: overlapping))
            #expect(third?.previousSecret?.text == second)
            let events = try await console.sessions.events(before: nil, limit: 2)
            #expect(events.map(\.kind) == [.keyShown, .keyShown])
        }
    }

    @Test func testMessageIsListedAndReplayed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let created = form(["url": "https://hooks.example.com/a", "event.key.revoked": "1"])
            _ = try await console.post("/t/acme/webhooks", created, cookie)
            let webhook = try #require(try await webhooks(console).first)
            let path = "/t/acme/webhooks/\(webhook.id)"
            #expect(try await console.post("\(path)/test", [:], cookie).status == .seeOther)
            let page = try await console.get("\(path)?done=tested", cookie).text
            #expect(page.contains("doorstep.test") && page.contains("waiting</span>"))
            // If the webhook is disabled, waiting messages are given up, and nothing is sent until it is enabled again.
            #expect(try await console.post("\(path)/change", ["state": "off"], cookie).status == .seeOther)
            #expect(try await console.get(path, cookie).text.contains("given up</span>"))
            #expect(try await console.post("\(path)/test", [:], cookie).status == .conflict)
            #expect(try await console.post("\(path)/replay", ["hours": "1"], cookie).status == .conflict)
            #expect(try await console.post("\(path)/change", ["state": "on"], cookie).status == .seeOther)
            let replayed = try await console.post("\(path)/replay", ["hours": "1"], cookie)
            #expect(replayed.headers[.location]?.contains("count=1") == true)
            #expect(
                try await console.get("\(path)?done=replayed&count=1", cookie).text.contains(
                    "1 message is queued"))
            let message = try #require(
                try await console.webhooks.messages(
                    of: WebhookReference(webhook.id, of: console.acme.id), before: nil, limit: 1
                ).first)
            #expect(message.state == .waiting)
            // A waiting message can be sent at once.
            #expect(try await console.get(path, cookie).text.contains("Send message"))
            let sent = try await console.post(
                "\(path)/replay", ["message": message.id.uuidString.lowercased()], cookie)
            #expect(sent.status == .seeOther && sent.headers[.location]?.contains("count=1") == true)
        }
    }

    /// More messages than one replay sends. The next replay continues after the last one, and repeats none.
    @Test func manyMessagesAreReplayedInParts() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let created = form(["url": "https://hooks.example.com/a", "event.key.revoked": "1"])
            _ = try await console.post("/t/acme/webhooks", created, cookie)
            let webhook = try #require(try await webhooks(console).first)
            let path = "/t/acme/webhooks/\(webhook.id)"
            try await console.execute(
                """
                INSERT INTO doorstep.webhook_messages (tenant_id, webhook_id, message_id, type, body, state)
                SELECT \(console.acme.id.uuid), \(webhook.id.uuid), gen_random_uuid(), 'key.revoked', '', 'taken'
                FROM generate_series(1, \(ReplaySelection.limit + 1))
                """)
            let first = try await console.post("\(path)/replay", ["hours": "1"], cookie)
            let next = try #require(first.headers[.location])
            #expect(next.contains("count=1000") && next.contains("after="))
            // Receivers have accepted these messages.
            try await console.execute(
                "UPDATE doorstep.webhook_messages SET state = 'taken', due_at = NULL WHERE state = 'waiting'")
            let page = try await console.get(next, cookie).text
            #expect(page.contains("Send the next messages"))
            var fields: [String: String] = [:]
            for match in page.matches(of: /type="hidden" name="(hours|since|after)" value="([^"]*)"/) {
                fields[String(match.1)] = String(match.2)
            }
            #expect(fields.count == 3)
            let second = try await console.post("\(path)/replay", fields, cookie)
            #expect(second.headers[.location] == "\(path)?done=replayed&count=1")
            let entries = try await console.store.auditLog.page(
                of: console.acme.id, before: nil, limit: 10, where: ["relation": "webhook_messages"]
            ).entries
            #expect(entries.map { $0.after?["count"] } == [1, 1_000])
            #expect(entries.allSatisfy { $0.actor == "console:ada" })
        }
    }

    @Test func webhookEventsAreChangedButNeverEmpty() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let created = form([
                "url": "https://hooks.example.com/a", "event.key.revoked": "1", "name": " Orders ",
            ])
            _ = try await console.post("/t/acme/webhooks", created, cookie)
            let webhook = try #require(try await webhooks(console).first)
            #expect(webhook.name?.text == "Orders")
            let path = "/t/acme/webhooks/\(webhook.id)"
            let seen = "key.revoked, Orders"
            #expect(try await console.get(path, cookie).text.contains("name=\"seen\" value=\"\(seen)\""))
            let form = [
                "event.domain.lapsed": "1", "event.location.changed": "1", "name": "Stock", "seen": seen,
            ]
            #expect(try await console.post("\(path)/change", form, cookie).status == .seeOther)
            let late = try await console.post("\(path)/change", form, cookie)
            #expect(late.status == .conflict && late.text.contains("The webhook was changed"))
            #expect(try await webhooks(console).first?.name?.text == "Stock")
            #expect(try await webhooks(console).first?.events == [.domainLapsed, .locationChanged])
            #expect(try await console.post("\(path)/change", [:], cookie).status == .badRequest)
            for hours in ["-1", "169", "x", ""] {
                #expect(
                    try await console.post("\(path)/replay", ["hours": hours], cookie).status == .badRequest)
            }
            let entries = try await console.store.auditLog.page(
                of: console.acme.id, before: nil, limit: 1, where: [:]
            ).entries
            #expect(entries.first?.actor == "console:ada" && entries.first?.relation == "webhooks")
        }
    }
}
