import Formats
import Foundation
import HTTPTypes
import NIOCore
import Notifications
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct WebhookEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = [
        "listWebhooks", "createWebhook", "getWebhook", "patchWebhook", "deleteWebhook", "rotateWebhookSecret",
        "testWebhook", "listWebhookMessages", "getWebhookMessage", "replayWebhookMessages",
    ]

    private static let tenant = TenantID(number: 1)
    private static let neighbour = TenantID(number: 3)
    private static let url: JSONValue = "https://example.com/hooks"

    private static func create(
        _ client: TestAPI.Client, _ body: JSONValue
    ) async throws -> TestAPI.APIResponse {
        try await client.post("/v1/webhooks", key: client.api.manager, body)
    }

    private static func patch(
        _ client: TestAPI.Client, _ path: String, _ body: JSONValue, key: APIKey? = nil
    ) async throws -> TestAPI.APIResponse {
        try await CatalogueEndpointTests.write(.patch, path, body, client, key: key)
    }

    /// Creates a webhook and returns its path.
    private static func created(
        _ client: TestAPI.Client
    ) async throws -> (path: String, reference: WebhookReference) {
        let created = try await create(client, ["url": url])
        let id = try #require(created["id"]?.stringValue.flatMap { WebhookID($0) })
        return (try #require(created.headers[.location]), WebhookReference(id, of: tenant))
    }

    /// - Parameter age: In seconds. Messages of the same millisecond have no order.
    private static func message(
        _ state: RecordedMessage.State, _ attempts: [WebhookAttempt] = [], age: Double = 0
    ) -> RecordedMessage {
        RecordedMessage(
            id: .timeOrdered(at: Date().addingTimeInterval(-age)), type: "delivery.finished", state: state,
            createdAt: Date(timeIntervalSince1970: 1_772_368_200), dueAt: nil, attempts: attempts)
    }

    @Test func webhookSecretIsShownOnce() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let created = try await Self.create(
                client, ["url": Self.url, "events": ["key.revoked", "delivery.finished"]])
            #expect(created.status == 201 && created["url"] == Self.url && created["enabled"] == true)
            // The order does not depend on the request.
            #expect(created["events"] == ["delivery.finished", "key.revoked"])
            let secret = try #require(created["secret"]?.stringValue)
            #expect(secret.hasPrefix("whsec_"))
            let path = try #require(created.headers[.location])
            #expect(path.hasPrefix("/v1/webhooks/wh_"))
            let reference = WebhookReference(
                try #require(WebhookID(String(path.dropFirst("/v1/webhooks/".count)))), of: Self.tenant)
            #expect(api.webhooks.secret(of: reference)?.text == secret)

            let read = try await client.send(.get, path, key: api.reader)
            #expect(read.status == 200 && read["id"] == created["id"] && read["secret"] == nil)
            let rotated = try await client.post("\(path)/rotate", key: api.manager, [:])
            #expect(rotated.status == 200 && rotated["secret"]?.stringValue != secret)
            #expect(api.webhooks.secret(of: reference)?.text == rotated["secret"]?.stringValue)

            let page = try await client.send(.get, "/v1/webhooks?limit=1", key: api.reader)
            #expect(page["data"]?.arrayValue?.count == 1 && page["next"] == .null)
            #expect(!page.text.contains("whsec_"))
            #expect(try await client.send(.delete, path, key: api.manager).status == 204)
            let again = try await client.send(.delete, path, key: api.manager)
            #expect(again.status == 404 && again.code == "unknown_webhook")
            #expect(Set(api.webhooks.actors) == ["key:\(KeyID(UUID(number: 5)))"])
        }
    }

    @Test func rotationReturnsTheEndOfTheOverlap() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let (path, _) = try await Self.created(client)
            func rotate(_ body: JSONValue) async throws -> TestAPI.APIResponse {
                try await client.post("\(path)/rotate", key: api.manager, body)
            }
            #expect(try await rotate([:])["previousSecretEndsAt"] == .null)
            let overlapping = try await rotate(["overlapHours": 1.5])
            #expect(overlapping["previousSecretEndsAt"] == "2026-03-01T14:00:00Z")
            #expect(overlapping["secret"]?.stringValue?.hasPrefix("whsec_") == true)
            for hours in [-1, 8_761, "2"] as [JSONValue] {
                let refused = try await rotate(["overlapHours": hours])
                #expect(refused.status == 400 && refused.field == "overlapHours", "\(refused.text)")
            }
        }
    }

    @Test(arguments: [("test", 202), ("rotate", 200)])
    func actionWithoutArgumentsNeedsNoBody(action: String, status: Int) async throws {
        let api = TestAPI()
        try await api.test { client in
            let (path, _) = try await Self.created(client)
            let bare = try await client.send(.post, "\(path)/\(action)", key: api.manager)
            #expect(bare.status == status, "\(bare.text)")
            // As `curl --data ''` sends it.
            let form = try await client.send(
                .post, "\(path)/\(action)", key: api.manager,
                headers: [.contentType: "application/x-www-form-urlencoded"], body: ByteBuffer())
            #expect(form.status == status, "\(form.text)")
            let unannounced = try await client.post(
                "\(path)/\(action)", key: api.manager, contentType: nil, Array("{}".utf8))
            #expect(unannounced.status == 415, "\(unannounced.text)")
            let unknown = try await client.post("\(path)/\(action)", key: api.manager, ["x": 1])
            #expect(unknown.status == 400 && unknown.code == "unknown_field", "\(unknown.text)")
        }
    }

    @Test func patchKeepsOmittedMembers() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let (path, _) = try await Self.created(client)
            let moved = try await Self.patch(client, path, ["url": "https://example.com/2"])
            #expect(moved.status == 200 && moved["url"] == "https://example.com/2")
            #expect(moved["events"] == ["delivery.finished"] && moved["disabledAt"] == .null)
            let off = try await Self.patch(client, path, ["enabled": false, "events": ["webhook.disabled"]])
            #expect(off["enabled"] == false && off["disabledReason"] == "disabled by request")
            #expect(off["url"] == "https://example.com/2" && off["events"] == ["webhook.disabled"])
            for (endpoint, body) in [
                ("test", [:]), ("replay", ["since": "2026-03-01T12:30:00Z"]),
            ] as [(String, JSONValue)] {
                let response = try await client.post("\(path)/\(endpoint)", key: api.manager, body)
                #expect(response.status == 409 && response.code == "webhook_disabled", "\(response.text)")
            }
            let on = try await Self.patch(client, path, ["enabled": true])
            #expect(on["enabled"] == true && on["disabledAt"] == .null)
        }
    }

    @Test func webhookHasNameUntilItIsRemoved() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            #expect(try await Self.create(client, ["url": Self.url])["name"] == .null)
            let created = try await Self.create(client, ["url": Self.url, "name": "Orders"])
            #expect(created.status == 201 && created["name"] == "Orders")
            let path = try #require(created.headers[.location])
            #expect(try await Self.patch(client, path, ["enabled": true])["name"] == "Orders")
            let renamed = try await Self.patch(client, path, ["name": "Bestellungen"])
            #expect(renamed["name"] == "Bestellungen" && renamed["url"] == Self.url)
            #expect(renamed.headers[.eTag] != created.headers[.eTag])
            #expect(try await Self.patch(client, path, ["name": .null])["name"] == .null)
        }
    }

    @Test func webhookChangeRequiresMatchingETag() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let created = try await Self.create(client, ["url": Self.url])
            let path = try #require(created.headers[.location])
            let tag = try #require(try await client.send(.get, path, key: api.reader).headers[.eTag])
            #expect(created.headers[.eTag] == tag)
            func patch(_ body: JSONValue, if tag: String) async throws -> TestAPI.APIResponse {
                try await CatalogueEndpointTests.write(
                    .patch, path, body, client, headers: [.ifMatch: tag])
            }
            let changed = try await patch(["events": ["key.revoked"]], if: tag)
            #expect(changed.status == 200 && changed.headers[.eTag] != tag)
            let late = try await patch(["url": "https://example.com/2"], if: tag)
            #expect(late.status == 412 && late.code == "precondition_failed")
            let kept = try await client.send(.delete, path, key: api.manager, headers: [.ifMatch: tag])
            #expect(kept.status == 412)
            let read = try await client.send(.get, path, key: api.reader)
            #expect(read["url"] == Self.url && read["events"] == ["key.revoked"])
            let current = try #require(read.headers[.eTag])
            #expect(
                try await client.send(.delete, path, key: api.manager, headers: [.ifMatch: current]).status
                    == 204)
        }
    }

    @Test func webhooksPerTenantAreLimited() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            for _ in 1...RegisteredWebhook.limit {
                #expect(try await Self.create(client, ["url": Self.url]).status == 201)
            }
            let refused = try await Self.create(client, ["url": Self.url])
            #expect(refused.status == 409 && refused.code == "too_many_webhooks")
        }
    }

    @Test func messagesListEachAttempt() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let (path, reference) = try await Self.created(client)
            let attempts = [
                WebhookAttempt(
                    at: Date(timeIntervalSince1970: 1_772_368_200.25), duration: .milliseconds(20_000),
                    reply: .noResponse("no response in time")),
                WebhookAttempt(
                    at: Date(timeIntervalSince1970: 1_772_368_206), duration: .milliseconds(12),
                    reply: .status(204)),
            ]
            let first = Self.message(.taken, attempts, age: 60)
            let second = Self.message(.givenUp)
            for message in [first, second] { api.webhooks.add(message, of: reference) }
            let page = try await client.send(.get, "\(path)/messages?limit=1", key: api.reader)
            let next = try #require(page["next"]?.stringValue)
            let last = try await client.send(
                .get, "\(path)/messages?limit=1&after=\(next)", key: api.reader)
            #expect(page["data"]?.arrayValue?.first?.objectValue?["state"] == "given_up")
            #expect(last["next"] == .null)
            #expect(
                last["data"] == [
                    [
                        "id": .string(first.id.uuidString.lowercased()), "type": "delivery.finished",
                        "state": "taken", "createdAt": "2026-03-01T12:30:00Z", "dueAt": .null,
                        "attempts": [
                            [
                                "at": "2026-03-01T12:30:00.250Z", "milliseconds": 20_000, "status": .null,
                                "reason": "no response in time",
                            ],
                            [
                                "at": "2026-03-01T12:30:06.000Z", "milliseconds": 12, "status": 204,
                                "reason": .null,
                            ],
                        ],
                    ]
                ])
            let test = try await client.post("\(path)/test", key: api.manager, [:])
            #expect(test.status == 202)
            let newest = try await client.send(.get, "\(path)/messages?limit=1", key: api.reader)
            let message = newest["data"]?.arrayValue?.first?.objectValue
            #expect(message?["id"] == test["message"] && message?["type"] == "doorstep.test")
        }
    }

    @Test(arguments: WebhookEvent.allCases) func sampleOfEachEventIsQueued(event: WebhookEvent) async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            // The webhook receives other events only.
            let (path, _) = try await Self.created(client)
            let queued = try await client.post(
                "\(path)/test", key: api.manager, ["event": .string(event.rawValue)])
            #expect(queued.status == 202, "\(queued.text)")
            let id = try #require(queued["message"]?.stringValue)
            let shown = try await client.send(.get, "\(path)/messages/\(id)", key: api.reader)
            #expect(shown["type"] == .string(event.rawValue) && shown["state"] == "waiting")
            let body = try #require(shown["body"]?.objectValue)
            #expect(body["type"] == .string(event.rawValue) && body["id"] == .string(id))
            #expect(body["sample"] == true && body["data"] == .object(event.sample))
        }
    }

    @Test(arguments: ["doorstep.test", "x", 1] as [JSONValue])
    func unknownEventOfASampleIsRefused(event: JSONValue) async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let (path, _) = try await Self.created(client)
            let refused = try await client.post("\(path)/test", key: api.manager, ["event": event])
            #expect(refused.status == 400 && refused.field == "event", "\(refused.text)")
        }
    }

    @Test func messageIsShownWithBodyAndResponses() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let (path, reference) = try await Self.created(client)
            let test = try await client.post("\(path)/test", key: api.manager, [:])
            let id = try #require(test["message"]?.stringValue)
            let sent = try await client.send(.get, "\(path)/messages/\(id)", key: api.reader)
            #expect(sent.status == 200 && sent["attempts"] == [], "\(sent.text)")
            #expect(sent["body"]?.objectValue?["type"] == "doorstep.test")
            #expect(sent["body"]?.objectValue?["id"] == .string(id))
            #expect(sent["body"]?.objectValue?["sample"] == nil)
            let attempts = [Array("no\u{0}t now é".utf8.dropLast()), []].map { response in
                WebhookAttempt(
                    at: Date(timeIntervalSince1970: 1_772_368_200), duration: .zero, reply: .status(503),
                    response: response)
            }
            let message = Self.message(.waiting, attempts)
            api.webhooks.add(message, of: reference)
            let shown = try await client.send(
                .get, "\(path)/messages/\(message.id.uuidString.lowercased())", key: api.reader)
            #expect(
                shown["attempts"]?.arrayValue?.map { $0.objectValue?["response"] }
                    == ["no\u{0}t now \u{FFFD}", .null])
            for unknown in [UUID(number: 9).uuidString, "x"] {
                let response = try await client.send(.get, "\(path)/messages/\(unknown)", key: api.reader)
                #expect(response.status == 404 && response.code == "not_found")
            }
        }
    }

    @Test func messagesAreReplayed() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let (path, reference) = try await Self.created(client)
            let taken = Self.message(.taken)
            for message in [taken, Self.message(.givenUp)] { api.webhooks.add(message, of: reference) }
            func replay(_ body: JSONValue) async throws -> TestAPI.APIResponse {
                try await client.post("\(path)/replay", key: api.manager, body)
            }
            let one = try await replay(["message": .string(taken.id.uuidString.lowercased())])
            #expect(one.status == 202 && one["queued"] == 1)
            let all = try await replay(["since": "2026-03-01T00:00:00Z"])
            #expect(all.status == 202 && all["queued"] == 2)
            let some = try await replay(["since": "2026-03-01T00:00:00Z", "state": "given_up"])
            #expect(some.status == 202 && some["queued"] == 1)
            #expect(
                api.webhooks.replays == [
                    .message(taken.id),
                    .since(Date(timeIntervalSince1970: 1_772_323_200)),
                    .since(Date(timeIntervalSince1970: 1_772_323_200), state: .givenUp),
                ])
            let none = try await replay(["message": .string(UUID(number: 9).uuidString)])
            #expect(none.status == 422 && none.code == "unknown_message")
            for (body, field) in [
                ([:], "message or since"), (["message": "x"], "message"), (["since": "yesterday"], "since"),
                (["since": "2026-03-01T00:00:00Z", "message": "x"], "since"),
                (["message": "x", "state": "taken"], "state"), (["all": true], "all"),
                (["since": "2026-03-01T00:00:00Z", "state": "lost"], "state"),
                (["message": "x", "after": "x"], "after"),
                (["since": "2026-03-01T00:00:00Z", "after": "x"], "after"),
            ] as [(JSONValue, String)] {
                let response = try await replay(body)
                #expect(response.status == 400 && response.field == field, "\(response.text)")
            }
        }
    }

    /// Each response says where to continue.
    @Test func manyMessagesAreReplayedInParts() async throws {
        let api = TestAPI()
        api.webhooks.setReplayLimit(2)
        try await api.test(over: [.task]) { client in
            let (path, reference) = try await Self.created(client)
            for age in 1...3 { api.webhooks.add(Self.message(.taken, age: Double(age)), of: reference) }
            var body: JSONObject = ["since": "2026-03-01T00:00:00Z"]
            var counts: [JSONValue?] = []
            repeat {
                let response = try await client.post("\(path)/replay", key: api.manager, .object(body))
                #expect(response.status == 202)
                counts.append(response["queued"])
                body["after"] = response["next"]?.stringValue.map(JSONValue.string)
            } while body["after"] != nil
            #expect(counts == [2, 1])
        }
    }

    @Test func invalidFieldIsNamed() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            for (body, field) in [
                ([:], "url"), (["url": "http://example.com/"], "url"),
                (["url": "https://user:x@example.com/"], "url"), (["url": "https://10.0.0.1/x"], "url"),
                (["url": "https://example.com:25/"], "url"),
                (["url": Self.url, "name": ""], "name"), (["url": Self.url, "name": "a\u{7F}"], "name"),
                (["url": Self.url, "name": .null], "name"), (["url": Self.url, "events": []], "events"),
                (["url": Self.url, "events": ["other"]], "events"),
                (["url": Self.url, "events": ["key.revoked", "key.revoked"]], "events"),
                (["url": Self.url, "events": ["doorstep.test"]], "events"),
                (["url": Self.url, "secret": "x"], "secret"),
            ] as [(JSONValue, String)] {
                let response = try await Self.create(client, body)
                #expect(response.status == 400 && response.field == field, "\(response.text)")
            }
            let (path, _) = try await Self.created(client)
            let response = try await Self.patch(client, path, ["enabled": "no"])
            #expect(response.status == 400 && response.field == "enabled")
            let inside = try await Self.patch(client, path, ["url": "https://[fd00::1]/"])
            #expect(inside.status == 400 && inside.field == "url" && inside.text.contains("--outbound-allow"))
            let port = try await Self.patch(client, path, ["url": "https://example.com:22/"])
            #expect(port.status == 400 && port.field == "url" && port.text.contains("port 443"))
            for path in ["/v1/webhooks/x", "/v1/webhooks/wh_x", path.uppercased()] {
                #expect(try await client.send(.get, path, key: api.reader).status == 404)
            }
        }
    }

    @Test func webhookCreationWithoutSealingSecretIsUnavailable() async throws {
        var api = TestAPI()
        api.hasNotifications = false
        try await api.test(over: [.task]) { client in
            let response = try await Self.create(client, ["url": Self.url])
            #expect(response.status == 503 && response.code == "notifications_not_configured")
        }
    }

    @Test func webhookEndpointsRequireScopesAndOwnTenant() async throws {
        let api = TestAPI()
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: Self.neighbour, scopes: "read,manage")
        try await api.test(over: [.task]) { client in
            let (path, reference) = try await Self.created(client)
            api.webhooks.add(Self.message(.taken), of: reference)
            let id = UUID(number: 7).uuidString.lowercased()
            let reading = [path, "\(path)/messages", "\(path)/messages/\(id)", "/v1/webhooks"]
            let writing: [(HTTPRequest.Method, String, JSONValue?)] = [
                (.post, "/v1/webhooks", ["url": Self.url]), (.patch, path, ["enabled": false]),
                (.post, "\(path)/rotate", [:]), (.post, "\(path)/test", [:]),
                (.post, "\(path)/replay", ["since": "2026-03-01T00:00:00Z"]), (.delete, path, nil),
            ]
            func write(
                _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?, _ key: APIKey
            ) async throws -> TestAPI.APIResponse {
                switch (method, body) {
                case (.patch, let body?): try await Self.patch(client, path, body, key: key)
                case (_, let body?): try await client.post(path, key: key, body)
                default: try await client.send(method, path, key: key)
                }
            }
            for key in [api.publishable, api.secret, api.keyManager] {
                for path in reading {
                    #expect(try await client.send(.get, path, key: key).status == 403, "\(path)")
                }
                for (method, path, body) in writing {
                    #expect(try await write(method, path, body, key).status == 403, "\(method) \(path)")
                }
            }
            for (method, path, body) in writing {
                #expect(try await write(method, path, body, api.reader).status == 403, "\(method) \(path)")
            }
            for path in reading.dropLast() {
                let response = try await client.send(.get, path, key: neighbour)
                #expect(response.status == 404 && response.code == "unknown_webhook", "\(path)")
            }
            let listed = try await client.send(.get, "/v1/webhooks", key: neighbour)
            #expect(listed.text == #"{"data":[],"next":null}"#)
            for (method, path, body) in writing.dropFirst() {
                let response = try await write(method, path, body, neighbour)
                #expect(response.status == 404 && response.code == "unknown_webhook", "\(method) \(path)")
            }
            let left = try await client.send(.get, path, key: api.reader)
            #expect(left.status == 200 && left["enabled"] == true)
        }
    }
}
