import Administration
import Formats
import Foundation
import HTTPTypes
import Lookups
import NIOCore
import Notifications
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Requests with an `Idempotency-Key`, except those of notifications.
@Suite struct IdempotencyTests {
    private static let tenant = TenantID(number: 1)
    private static let webhook: JSONObject = ["url": "https://example.com/hooks"]

    /// An API with a key that has all scopes, a webhook, and another key to rotate.
    private struct Fixture {
        let api = TestAPI()
        let key = APIKey.generate(.secret)
        let other: KeyRecord

        init() throws {
            let maker = KeyID(UUID(number: 90))
            try api.admit(key, of: IdempotencyTests.tenant, scopes: "lookup,notify,read,manage,manage_keys")
            api.keys.add(Self.record(maker), of: IdempotencyTests.tenant)
            other = Self.record(KeyID(UUID(number: 91)))
            api.keys.add(other, of: IdempotencyTests.tenant)
        }

        private static func record(_ id: KeyID) -> KeyRecord {
            KeyRecord(
                id: id, kind: .secret, scopes: [Scopes(.lookup), Scopes(.manageKeys)], hint: "dsk_abcd",
                createdAt: Date(timeIntervalSince1970: 0), expiresAt: nil, revokedAt: nil, lastUsedOn: nil)
        }

        func post(
            _ client: TestAPI.Client, _ path: String, _ body: JSONObject?, _ idempotencyKeys: String...,
            by key: APIKey? = nil
        ) async throws -> TestAPI.APIResponse {
            var headers: HTTPFields = [:]
            if body != nil { headers[.contentType] = "application/json" }
            headers[values: .idempotencyKey] = idempotencyKeys
            return try await client.send(
                .post, path, key: key ?? self.key, headers: headers,
                body: body.map { ByteBuffer(bytes: JSONValue.object($0).serialized()) })
        }

        /// Path and body of a request for each endpoint that stores responses.
        func requests(_ client: TestAPI.Client) async throws -> [(path: String, body: JSONObject?)] {
            let webhook = try await post(client, "/v1/webhooks", IdempotencyTests.webhook)
            let path = try #require(webhook.headers[.location])
            return [
                ("/v1/keys", ["kind": "secret"]), ("/v1/keys/\(other.id)/rotate", nil),
                ("/v1/webhooks", ["url": "https://example.com/others"]), ("\(path)/rotate", nil),
                ("\(path)/test", [:]),
                ("/v1/experiences", ["clip": "com.example.MyApp.Clip", "url": "https://example.com/new"]),
                ("/v1/channels", ["clip": "com.example.MyApp.Clip"]),
            ]
        }
    }

    @Test func repetitionGetsTheFirstResponse() async throws {
        let fixture = try Fixture()
        try await fixture.api.test(over: [.connection]) { client in
            for (number, (path, body)) in try await fixture.requests(client).enumerated() {
                let first = try await fixture.post(client, path, body, "order \(number)")
                #expect((200..<300).contains(first.status), "\(path): \(first.text)")
                #expect(first.headers[.idempotentReplayed] == nil)
                for _ in 0..<2 {
                    let again = try await fixture.post(client, path, body, "order \(number)")
                    #expect(
                        again.status == first.status && again.text == first.text, "\(path): \(again.text)")
                    #expect(again.headers[.idempotentReplayed] == "true")
                    for name in [HTTPField.Name.location, .eTag, .contentType, .cacheControl] {
                        #expect(again.headers[name] == first.headers[name], "\(path): \(name)")
                    }
                }
                // Without an idempotency key, or with another one, the request is executed again.
                let other = try await fixture.post(client, path, body, "other \(number)")
                #expect(other.headers[.idempotentReplayed] == nil)
                #expect(other.text != first.text || path == "/v1/experiences", "\(path): \(other.text)")
            }
            let keys = try await client.send(.get, "/v1/keys", key: fixture.key)
            // Two initial keys, two created keys and two rotated keys.
            #expect(keys["data"]?.arrayValue?.count == 6)
        }
    }

    @Test func anotherRequestWithTheKeyIsRefused() async throws {
        let fixture = try Fixture()
        try await fixture.api.test(over: [.task]) { client in
            #expect(try await fixture.post(client, "/v1/webhooks", Self.webhook, "a").status == 201)
            var other = Self.webhook
            other["events"] = ["key.revoked"]
            for response in [
                try await fixture.post(client, "/v1/webhooks", other, "a"),
                try await fixture.post(client, "/v1/keys", ["kind": "secret"], "a"),
                try await fixture.post(client, "/v1/webhooks", Self.webhook, "a", by: fixture.api.manager),
            ] {
                #expect(
                    response.status == 422 && response.code == "idempotency_key_reused", "\(response.text)")
                #expect(response.field == "Idempotency-Key" && !response.text.contains("whsec_"))
            }
            let same = ByteBuffer(string: #" { "url" : "https:\/\/example.com\/hooks" } "#)
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.idempotencyKey] = "a"
            let again = try await client.send(
                .post, "/v1/webhooks", key: fixture.key, headers: headers, body: same)
            #expect(again.status == 201 && again.headers[.idempotentReplayed] == "true")
        }
    }

    @Test func failedRequestFreesItsKey() async throws {
        let fixture = try Fixture()
        try await fixture.api.test(over: [.task]) { client in
            let refused = try await fixture.post(client, "/v1/channels", ["clip": "com.example.App"], "a")
            #expect(refused.status == 404)
            let unreadable = try await fixture.post(client, "/v1/webhooks", ["url": "x"], "a")
            #expect(unreadable.status == 400 && unreadable.field == "url")
            #expect(try await fixture.post(client, "/v1/webhooks", Self.webhook, "a").status == 201)
        }
    }

    @Test func runningRequestIsInUse() async throws {
        let fixture = try Fixture()
        let content: JSONObject = [
            "apiKey": .string("\(KeyID(UUID(number: 90)))"), "method": "POST", "target": "/v1/webhooks",
            "body": .object(Self.webhook),
        ]
        let key = try #require(IdempotencyKey("a", for: content, of: Self.tenant))
        guard case .claimed(let claim) = try await fixture.api.idempotency.claim(key, of: Self.tenant) else {
            Issue.record("the key is new")
            return
        }
        try await fixture.api.test(over: [.task]) { client in
            let second = try await fixture.post(client, "/v1/webhooks", Self.webhook, "a")
            #expect(second.status == 409 && second.code == "idempotency_key_in_use", "\(second.text)")
            #expect(second.headers[.retryAfter] == "2")
            fixture.api.idempotency.lose("a", of: Self.tenant)
            let lost = try await fixture.post(client, "/v1/webhooks", Self.webhook, "a")
            #expect(lost.status == 409 && lost.code == "idempotency_response_lost", "\(lost.text)")
            try await fixture.api.idempotency.release(claim)
            #expect(try await fixture.post(client, "/v1/webhooks", Self.webhook, "a").status == 201)
        }
    }

    @Test func storedResponseHasNoReadableSecret() async throws {
        let fixture = try Fixture()
        try await fixture.api.test(over: [.task]) { client in
            let created = try await fixture.post(client, "/v1/keys", ["kind": "secret"], "a")
            let key = try #require(created["key"]?.stringValue)
            let stored = fixture.api.idempotency.storedBytes
            #expect(stored.count > created.text.utf8.count)
            let text = String(decoding: stored, as: UTF8.self)
            #expect(!text.contains(key) && !text.contains("dsk_") && !text.contains("status"))
        }
    }

    @Test func unusableKeyIsRefused() async throws {
        let fixture = try Fixture()
        try await fixture.api.test(over: [.task]) { client in
            for response in [
                try await fixture.post(client, "/v1/webhooks", Self.webhook, "a", "a"),
                try await fixture.post(client, "/v1/webhooks", Self.webhook, "é"),
                try await fixture.post(
                    client, "/v1/webhooks", Self.webhook, String(repeating: "a", count: 256)),
            ] {
                #expect(
                    response.status == 400 && response.code == "invalid_idempotency_key", "\(response.text)")
                #expect(response.field == "Idempotency-Key")
            }
        }
    }

    /// The OpenAPI document lists the header field exactly for the endpoints that support it.
    @Test func documentListsTheField() throws {
        let api = TestAPI()
        let document = try JSONValue(parsing: OpenAPIDocument.bytes)
        let paths = try #require(document.objectValue?["paths"]?.objectValue)
        var supporting: Set<String> = []
        for endpoint in api.responder.endpoints {
            let operation = paths[endpoint.path]?.objectValue?[endpoint.method.rawValue.lowercased()]?
                .objectValue
            let parameters = operation?["parameters"]?.arrayValue ?? []
            let isListed = parameters.contains {
                $0.objectValue?["$ref"] == "#/components/parameters/IdempotencyKey"
            }
            #expect(isListed == (endpoint.idempotency != .refused), "\(endpoint.method) \(endpoint.path)")
            if isListed { supporting.insert("\(endpoint.method) \(endpoint.path)") }
        }
        #expect(
            supporting == [
                "POST /v1/notifications", "POST /v1/keys", "POST /v1/keys/{id}/rotate", "POST /v1/webhooks",
                "POST /v1/webhooks/{id}/rotate", "POST /v1/webhooks/{id}/test", "POST /v1/experiences",
                "POST /v1/channels",
            ])
    }
}
