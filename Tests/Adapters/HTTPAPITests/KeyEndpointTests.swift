import Administration
import AppAttest
import Formats
import Foundation
import HTTPTypes
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct KeyEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = [
        "listKeys", "createKey", "getKey", "patchKey", "revokeKey", "rotateKey", "listAuditLog",
        "listAttestKeys", "revokeAttestKey",
    ]

    private static let tenant = TenantID(number: 1)
    private static let neighbour = TenantID(number: 3)
    private static let lookup: JSONValue = ["lookup"]
    private static let maker = KeyID(UUID(number: 7))

    private static func record(
        _ id: KeyID, _ scopes: [Scope], expiresAt: Date? = nil, kind: KeyKind = .secret
    ) -> KeyRecord {
        KeyRecord(
            id: id, kind: kind, scopes: Scopes(scopes.map(Scopes.init)), hint: "dsk_abcd",
            createdAt: Date(timeIntervalSince1970: 0), expiresAt: expiresAt, revokedAt: nil, lastUsedOn: nil)
    }

    private static func api(expiresAt: Date? = nil) -> TestAPI {
        let api = TestAPI()
        api.keys.add(record(maker, [.lookup, .manageKeys], expiresAt: expiresAt), of: tenant)
        return api
    }

    @Test func keyIsShownOnceAndFoundByID() async throws {
        let api = Self.api()
        try await api.test(over: [.task]) { client in
            let created = try await client.post(
                "/v1/keys", key: api.keyManager, ["kind": "secret", "scopes": ["lookup"]])
            #expect(
                created.status == 201 && created["scopes"] == Self.lookup && created["expiresAt"] == .null)
            let text = try #require(created["key"]?.stringValue)
            #expect((try? APIKey(text))?.kind == .secret)
            let place = try #require(created.headers[.location])
            let read = try await client.send(.get, place, key: api.keyManager)
            #expect(read.status == 200 && read["key"] == nil && read["id"] == created["id"])
            let page = try await client.send(.get, "/v1/keys?limit=1", key: api.keyManager)
            let next = try #require(page["next"]?.stringValue)
            let last = try await client.send(.get, "/v1/keys?limit=1&after=\(next)", key: api.keyManager)
            #expect(last["data"]?.arrayValue?.count == 1 && last["next"] == .null)
            #expect(!(page.text + last.text).contains(text))
            #expect(try await client.send(.delete, place, key: api.keyManager).status == 204)
            #expect(try await client.send(.delete, place, key: api.keyManager).status == 404)
        }
    }

    @Test func attestedKeysAreListedAndRevoked() async throws {
        let api = TestAPI()
        let ids = try (1...3).map { try #require(AttestKeyID([UInt8](repeating: $0 | 0xF8, count: 32))) }
        for (id, tenant) in zip(ids, [Self.tenant, Self.tenant, Self.neighbour]) {
            api.attestKeys.add(
                AttestKeyRecord(
                    id: id, clip: try BundleID("com.example.MyApp.Clip"),
                    build: AttestedBuild(environment: .production, category: nil), bundleVersion: "4",
                    attestedOn: "2026-03-01", lastUsedOn: "2026-03-02", revokedAt: nil), of: tenant)
        }
        try await api.test(over: [.task]) { client in
            var seen: [JSONValue] = []
            var path = "/v1/attest-keys?limit=1"
            while true {
                let page = try await client.send(.get, path, key: api.reader)
                #expect(page.status == 200, "\(page.text)")
                seen += page["data"]?.arrayValue ?? []
                guard let next = page["next"]?.stringValue else { break }
                #expect(!next.contains(ids[0].description))
                path = "/v1/attest-keys?limit=1&after=\(next)"
            }
            let first: JSONValue = [
                "id": .string(ids[0].description), "clip": "com.example.MyApp.Clip",
                "environment": "production", "category": .null, "bundleVersion": "4",
                "attestedOn": "2026-03-01", "lastUsedOn": "2026-03-02", "revokedAt": .null,
            ]
            #expect(seen.count == 2 && seen.first == first)
            let place = "/v1/attest-keys/\(ids[0])"
            for key in [api.reader, api.keyManager, api.secret, api.publishable] {
                #expect(try await client.send(.delete, place, key: key).status == 403)
            }
            // The key ID in the form in which an app has it.
            let base64 = Data(ids[0].bytes).base64EncodedString()
                .replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
            for place in [place, "/v1/attest-keys/\(base64)"] {
                #expect(try await client.send(.delete, place, key: api.manager).status == 204)
            }
            for unknown in ["x", "\(ids[2])", "%FF"] {
                let response = try await client.send(.delete, "/v1/attest-keys/\(unknown)", key: api.manager)
                #expect(response.status == 404 && response.code == "unknown_attest_key", "\(unknown)")
            }
            let page = try await client.send(.get, "/v1/attest-keys", key: api.reader)
            let revoked = (page["data"]?.arrayValue ?? []).compactMap(\.objectValue)
                .map { $0["revokedAt"] != .null }
            #expect(revoked == [true, false])
            let wrong = try await client.send(.get, "/v1/attest-keys?after=eA", key: api.reader)
            #expect(wrong.status == 400)
        }
    }

    @Test func createdKeyIsNeverWiderThanItsCreator() async throws {
        let end = Date(timeIntervalSinceNow: 3_600)
        let api = Self.api(expiresAt: end)
        let wide = KeyID(UUID(number: 50))
        let lasting = KeyID(UUID(number: 51))
        let narrow = KeyID(UUID(number: 52))
        api.keys.add(Self.record(wide, [.lookup, .notify], expiresAt: end), of: Self.tenant)
        api.keys.add(Self.record(lasting, [.lookup]), of: Self.tenant)
        api.keys.add(Self.record(narrow, [.lookup], expiresAt: end), of: Self.tenant)
        try await api.test(over: [.task]) { client in
            func create(_ scopes: JSONValue?, _ expiresAt: Date?) async throws -> TestAPI.APIResponse {
                var body: JSONObject = ["kind": "secret"]
                body["scopes"] = scopes
                body["expiresAt"] = expiresAt.map { JSONValue($0) }
                return try await client.post("/v1/keys", key: api.keyManager, .object(body))
            }
            // Without `expiresAt`, the key expires with the key that creates it.
            let usual = try await create(nil, nil)
            #expect(
                usual.status == 201 && usual["scopes"] == Self.lookup && usual["expiresAt"] == JSONValue(end))
            #expect(try await create(["manage_keys"], end - 60).status == 201)
            for (scopes, expiresAt) in [
                (["notify"], nil), (["lookup", "manage"], nil), (["lookup"], end + 60),
            ] as [(JSONValue, Date?)] {
                let response = try await create(scopes, expiresAt)
                #expect(response.status == 403 && response.code == "wider_key", "\(response.text)")
            }
            for id in [wide, lasting] {
                let response = try await client.post("/v1/keys/\(id)/rotate", key: api.keyManager, [:])
                #expect(response.status == 403 && response.code == "wider_key", "\(response.text)")
            }
            for (id, expiresAt, status) in [
                (narrow, JSONValue(end - 60), 200), (lasting, JSONValue(end), 403), (narrow, .null, 403),
                (narrow, JSONValue(end + 60), 403), (wide, JSONValue(end - 60), 403),
                (Self.maker, .null, 403), (narrow, JSONValue(end), 200),
            ] as [(KeyID, JSONValue, Int)] {
                let response = try await CatalogueEndpointTests.write(
                    .patch, "/v1/keys/\(id)", ["expiresAt": expiresAt], client, key: api.keyManager)
                #expect(response.status == status, "\(response.text)")
                #expect(response["expiresAt"] == (status == 200 ? expiresAt : nil))
                #expect(status == 200 || response.code == "wider_key")
            }
            let rotated = try await client.post(
                "/v1/keys/\(narrow)/rotate", key: api.keyManager, ["overlapHours": 0.5])
            #expect(rotated.status == 201 && rotated["scopes"] == Self.lookup)
        }
    }

    @Test func keyHasNameUntilItIsRemoved() async throws {
        let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 3_600)
        let api = Self.api()
        let wide = KeyID(UUID(number: 50))
        api.keys.add(Self.record(wide, [.notify]), of: Self.tenant)
        try await api.test(over: [.task]) { client in
            func patch(_ path: String, _ body: JSONValue) async throws -> TestAPI.APIResponse {
                try await CatalogueEndpointTests.write(.patch, path, body, client, key: api.keyManager)
            }
            let unnamed = try await client.post("/v1/keys", key: api.keyManager, ["kind": "secret"])
            #expect(unnamed.status == 201 && unnamed["name"] == .null)
            let created = try await client.post(
                "/v1/keys", key: api.keyManager,
                ["kind": "secret", "name": "Kiosk", "scopes": ["lookup"], "expiresAt": JSONValue(end)])
            #expect(created.status == 201 && created["name"] == "Kiosk")
            let path = try #require(created.headers[.location])
            let rotated = try await client.post("\(path)/rotate", key: api.keyManager, [:])
            #expect(rotated.status == 201 && rotated["name"] == "Kiosk")
            // A change of the one leaves the other as it is.
            let renamed = try await patch(path, ["name": "Café kiosk"])
            #expect(renamed["name"] == "Café kiosk" && renamed["expiresAt"] == JSONValue(end))
            let shortened = try await patch(path, ["expiresAt": JSONValue(end - 60)])
            #expect(shortened["name"] == "Café kiosk" && shortened["expiresAt"] == JSONValue(end - 60))
            let both = try await patch(path, ["name": .null, "expiresAt": .null])
            #expect(both.status == 200 && both["name"] == .null && both["expiresAt"] == .null)
            let refused = try await patch("/v1/keys/\(wide)", ["name": "Mine"])
            #expect(refused.status == 403 && refused.code == "wider_key")
        }
    }

    @Test func rotationNeedsNoBody() async throws {
        let api = Self.api()
        try await api.test { client in
            let created = try await client.post("/v1/keys", key: api.keyManager, ["kind": "secret"])
            let id = try #require(created["id"]?.stringValue)
            let rotated = try await client.send(.post, "/v1/keys/\(id)/rotate", key: api.keyManager)
            #expect(rotated.status == 201 && rotated["key"] != nil, "\(rotated.text)")
        }
    }

    @Test func revocationOfWiderKeyIsRejected() async throws {
        let end = Date(timeIntervalSinceNow: 3_600)
        let api = Self.api(expiresAt: end)
        let wide = KeyID(UUID(number: 50))
        let lasting = KeyID(UUID(number: 51))
        let narrow = KeyID(UUID(number: 52))
        api.keys.add(Self.record(wide, [.lookup, .notify], expiresAt: end), of: Self.tenant)
        api.keys.add(Self.record(lasting, [.lookup]), of: Self.tenant)
        api.keys.add(Self.record(narrow, [.lookup], expiresAt: end), of: Self.tenant)
        try await api.test(over: [.task]) { client in
            for (id, status) in [(wide, 403), (lasting, 403), (narrow, 204)] {
                let response = try await client.send(.delete, "/v1/keys/\(id)", key: api.keyManager)
                #expect(response.status == status, "\(response.text)")
                #expect(response.code == (status == 403 ? "wider_key" : nil))
            }
            #expect(try await client.send(.get, "/v1/keys/\(wide)", key: api.keyManager).status == 200)
        }
    }

    @Test func keyIsRestrictedToLocations() async throws {
        let api = Self.api()
        try await api.test(over: [.task]) { client in
            let created = try await client.post(
                "/v1/keys", key: api.keyManager,
                ["kind": "secret", "scopes": ["lookup"], "locations": ["b", "a"]])
            #expect(created.status == 201 && created["locations"] == ["a", "b"], "\(created.text)")
            let place = try #require(created.headers[.location])
            let read = try await client.send(.get, place, key: api.keyManager)
            #expect(read["locations"] == ["a", "b"])
            let id = try #require(created["id"]?.stringValue)
            let rotated = try await client.post("/v1/keys/\(id)/rotate", key: api.keyManager, [:])
            #expect(rotated.status == 201 && rotated["locations"] == ["a", "b"])
            let whole = try await client.post(
                "/v1/keys", key: api.keyManager, ["kind": "secret", "scopes": ["lookup"]])
            #expect(whole["locations"] == .null)
        }
    }

    @Test func invalidFieldIsNamed() async throws {
        let api = Self.api()
        try await api.test(over: [.task]) { client in
            for (body, field) in [
                ([:], "kind"), (["kind": "master"], "kind"), (["kind": "secret", "scopes": []], "scopes"),
                (["kind": "secret", "scopes": ["other"]], "scopes"),
                (["kind": "secret", "scopes": [1]], "scopes"),
                (["kind": "publishable", "scopes": ["read"]], "scopes"), (["kind": "secret", "x": 1], "x"),
                (["kind": "secret", "locations": []], "locations"),
                (["kind": "secret", "locations": ["a", "a"]], "locations"),
                (["kind": "secret", "locations": ["a", 1]], "locations"),
                (["kind": "secret", "locations": [""]], "locations"),
                (["kind": "secret", "locations": .array((0..<101).map { .string("\($0)") })], "locations"),
                (["kind": "publishable", "locations": ["a"]], "locations"),
                (["kind": "secret", "scopes": ["manage_keys"], "locations": ["a"]], "locations"),
                (["kind": "secret", "scopes": ["lookup", "register"], "locations": ["a"]], "locations"),
                (["kind": "secret", "name": ""], "name"), (["kind": "secret", "name": .null], "name"),
                (["kind": "secret", "name": "\u{200B}"], "name"),
                (["kind": "secret", "name": "a\nb"], "name"),
                (["kind": "secret", "expiresAt": "2020-01-01T00:00:00Z"], "expiresAt"),
                (["kind": "secret", "expiresAt": "9999-01-01T00:00:00Z"], "expiresAt"),
            ] as [(JSONValue, String)] {
                let response = try await client.post("/v1/keys", key: api.keyManager, body)
                #expect(response.status == 400 && response.field == field, "\(response.text)")
            }
            for (body, field) in [
                ([:], "name or expiresAt"), (["name": ""], "name"), (["expiresAt": 1], "expiresAt"),
                (["scopes": ["read"]], "scopes"),
                (["expiresAt": "2020-01-01T00:00:00Z"], "expiresAt"),
            ] as [(JSONValue, String)] {
                let response = try await CatalogueEndpointTests.write(
                    .patch, "/v1/keys/\(Self.maker)", body, client, key: api.keyManager)
                #expect(response.status == 400 && response.field == field, "\(response.text)")
            }
            let path = "/v1/keys/\(Self.maker)/rotate"
            let response = try await client.post(path, key: api.keyManager, ["overlapHours": 8_761])
            #expect(response.status == 400 && response.field == "overlapHours")
            #expect(try await client.send(.get, "/v1/keys/x", key: api.keyManager).status == 404)
        }
    }

    @Test func keyEndpointsRequireScopeAndOwnTenant() async throws {
        let api = Self.api()
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: Self.neighbour, scopes: "read,manage_keys")
        api.auditLog.add(
            AuditEntry(
                id: 1, at: Date(timeIntervalSince1970: 0), actor: "key:1", login: "l", action: .insert,
                relation: "locations", before: nil, after: ["identifier": "a"]), of: Self.tenant)
        try await api.test(over: [.task]) { client in
            let path = "/v1/keys/\(Self.maker)"
            for key in [api.publishable, api.secret, api.manager, api.reader] {
                for (method, path) in [
                    (HTTPRequest.Method.get, "/v1/keys"), (.get, path), (.delete, path), (.post, "/v1/keys"),
                    (.post, "\(path)/rotate"),
                ] {
                    let response = try await client.send(
                        method, path, key: key, headers: [.contentType: "application/json"])
                    #expect(response.status == 403, "\(method) \(path)")
                }
            }
            #expect(try await client.send(.get, path, key: neighbour).status == 404)
            #expect(try await client.send(.delete, path, key: neighbour).status == 404)
            #expect(try await client.post("\(path)/rotate", key: neighbour, [:]).status == 404)
            let listed = try await client.send(.get, "/v1/keys", key: neighbour)
            #expect(listed.text == #"{"data":[],"next":null}"#)
            #expect(try await client.send(.get, path, key: api.keyManager).status == 200)

            #expect(try await client.send(.get, "/v1/audit-log", key: api.keyManager).status == 403)
            let log = try await client.send(.get, "/v1/audit-log", key: neighbour)
            #expect(log.text == #"{"data":[],"next":null}"#)
            let own = try await client.send(.get, "/v1/audit-log?relation=locations", key: api.reader)
            #expect(
                own.text == """
                    {"data":[{"action":"insert","actor":"key:1","after":{"identifier":"a"},"at":"1970-01-01T00:00:00Z",\
                    "before":null,"id":1,"login":"l","relation":"locations"}],"next":null}
                    """)
            let none = try await client.send(.get, "/v1/audit-log?actor=key%3A2", key: api.reader)
            #expect(none.text == #"{"data":[],"next":null}"#)
            let wrong = try await client.send(.get, "/v1/audit-log?action=insert", key: api.reader)
            #expect(wrong.status == 400 && wrong.field == "action")
        }
    }

    /// A page examines a limited number of entries, so that a filter without matches does not read the whole log.
    @Test func auditLogPageWithoutMatchesHasNext() async throws {
        var api = Self.api()
        api.auditLog = MemoryAuditLog(examined: 3)
        for id in 1...7 {
            api.auditLog.add(
                AuditEntry(
                    id: id, at: Date(timeIntervalSince1970: 0), actor: id == 2 || id == 6 ? "key:2" : "key:1",
                    login: "l", action: .insert, relation: "locations", before: nil, after: [:]),
                of: Self.tenant)
        }
        try await api.test(over: [.task]) { [api] client in
            var (pages, after) = ([[Int]](), "")
            repeat {
                let page = try await client.send(
                    .get, "/v1/audit-log?actor=key%3A2\(after)", key: api.reader)
                pages.append(
                    (page["data"]?.arrayValue ?? []).compactMap { $0.objectValue?["id"]?.numberValue?.int })
                after = page["next"]?.stringValue.map { "&after=\($0)" } ?? ""
            } while !after.isEmpty && pages.count < 9
            #expect(pages == [[6], [2], []])
        }
    }
}
