import Formats
import Foundation
import HTTPTypes
import NIOCore
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct TenantEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["getTenant", "patchTenant", "getCurrentKey"]

    private static let path = "/v1/tenant"

    private static func patch(
        _ client: TestAPI.Client, _ body: JSONValue, key: APIKey? = nil, headers: HTTPFields = [:]
    ) async throws -> TestAPI.APIResponse {
        try await CatalogueEndpointTests.write(.patch, path, body, client, key: key, headers: headers)
    }

    @Test func tenantChangesItsOwnSettings() async throws {
        let api = TestAPI()
        try await api.test(over: [.connection]) { client in
            let read = try await client.send(.get, Self.path, key: api.reader)
            #expect(read.status == 200 && read["keyLimit"] == "100:200" && read["clientLimit"] == .null)
            #expect(read["collapsePolicy"] == "none" && read["suspendedAt"] == .null)
            let tag = try #require(read.headers[.eTag])
            let known = try await client.send(
                .get, Self.path, key: api.reader, headers: [.ifNoneMatch: tag])
            // The tag does not cover the quotas, so the response always has the current usage.
            #expect(known.status == 200 && known.headers[.eTag] == tag && known.text == read.text)
            #expect(
                read["quotas"]?.objectValue?["locations"]?.objectValue?["rows"] == ["used": 3, "limit": 10])

            let changed = try await Self.patch(
                client, ["name": "Restaurants", "collapsePolicy": "business"], headers: [.ifMatch: tag])
            #expect(changed.status == 200 && changed["name"] == "Restaurants")
            #expect(changed["collapsePolicy"] == "business" && changed["id"] == read["id"])
            let late = try await Self.patch(client, ["name": "Late"], headers: [.ifMatch: tag])
            #expect(late.status == 412 && late.code == "precondition_failed")
            // The response can be sent back unchanged. Null sets the default.
            let back = try await Self.patch(client, try #require(changed.json))
            #expect(back.status == 200 && back.text == changed.text)
            let used = try await Self.patch(client, ["quotas": ["locations": ["rows": ["used": 4]]]])
            #expect(used.status == 200)
            #expect(try await Self.patch(client, ["collapsePolicy": .null])["collapsePolicy"] == "none")
            #expect(try await client.send(.get, Self.path, key: api.reader)["name"] == "Restaurants")
        }
        #expect(api.tenants.actors == Array(repeating: "key:\(KeyID(UUID(number: 5)))", count: 2))
    }

    @Test func webOriginsAreReplaced() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            #expect(try await client.send(.get, Self.path, key: api.reader)["corsOrigins"] == [])
            let set = try await Self.patch(
                client, ["corsOrigins": ["https://b.example", "https://a.example", "https://b.example"]])
            #expect(set.status == 200 && set["corsOrigins"] == ["https://a.example", "https://b.example"])
            let named = try await Self.patch(client, ["name": "Named"])
            #expect(named["corsOrigins"] == set["corsOrigins"])
            for origins in [
                ["*"], ["null"], ["https://a.example/"], [1], "https://a.example", 7,
                .array((0...WebOrigin.maximumCount).map { .string("https://a\($0).example") }),
            ] as [JSONValue] {
                let refused = try await Self.patch(client, ["corsOrigins": origins])
                #expect(
                    refused.status == 400 && refused.code == "invalid_field"
                        && refused.field == "corsOrigins",
                    "\(refused.text)")
            }
            #expect(try await Self.patch(client, ["corsOrigins": .null])["corsOrigins"] == [])
        }
    }

    @Test func operatorSettingsCannotBeChanged() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            for (body, status, code, field) in [
                (["keyLimit": "1000000:1000000"], 400, "invalid_field", "keyLimit"),
                (["keyLimit": .null], 400, "invalid_field", "keyLimit"),
                (["suspendedAt": "2026-03-01T12:30:00Z"], 400, "invalid_field", "suspendedAt"),
                (["slug": "other"], 400, "invalid_field", "slug"),
                (["test": true], 400, "invalid_field", "test"),
                (["quotas": ["locations": ["rows": ["limit": 11]]]], 400, "invalid_field", "quotas"),
                (["quotas": .null], 400, "invalid_field", "quotas"),
                (["quotas": 7], 400, "invalid_field", "quotas"),
                (["colour": "red"], 400, "unknown_field", "colour"),
                (["colour": .null], 400, "unknown_field", "colour"),
                (["collapsePolicy": "all"], 400, "invalid_field", "collapsePolicy"),
                (["name": .null], 400, "missing_field", "name"), (["name": ""], 400, "invalid_field", "name"),
            ] as [(JSONValue, Int, String, String)] {
                let response = try await Self.patch(client, body)
                #expect(
                    response.status == status && response.code == code && response.field == field,
                    "\(response.text)")
            }
            let limit = try await Self.patch(client, ["keyLimit": "1:1"])
            #expect(limit["detail"]?.stringValue?.contains("is the operator's to change") == true)
            // No operator can change these.
            for body in [["test": true], ["createdAt": "2026-01-01T00:00:00Z"]] as [JSONValue] {
                let fixed = try await Self.patch(client, body)
                #expect(fixed["detail"]?.stringValue?.contains("cannot be changed") == true)
            }
        }
        #expect(api.tenants.actors.isEmpty)
    }

    @Test func tenantEndpointsRequireScope() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            for key in [api.publishable, api.secret, api.reader, api.keyManager] {
                let isReader = key.text == api.reader.text
                let read = try await client.send(.get, Self.path, key: key)
                let patched = try await Self.patch(client, ["name": "x"], key: key)
                #expect(read.status == (isReader ? 200 : 403) && patched.status == 403)
            }
        }
    }

    @Test func secretKeyOfAnyScopeReadsItself() async throws {
        let api = TestAPI()
        let restricted = APIKey.generate(.secret)
        try api.admit(restricted, of: TenantID(number: 3), scopes: "lookup,confirm", locations: "b\na")
        try await api.test(over: [.task]) { client in
            for key in [api.secret, api.reader, api.keyManager] {
                let read = try await client.send(.get, "/v1/key", key: key)
                #expect(read.status == 200 && read["locations"] == .null, "\(read.text)")
                #expect(read["tenant"]?.objectValue?["id"] == .string("\(TenantID(number: 1))"))
            }
            let read = try await client.send(.get, "/v1/key", key: restricted)
            #expect(read["kind"] == "secret" && read["scopes"] == ["lookup", "confirm"])
            #expect(read["locations"] == ["a", "b"])
            #expect(
                read["tenant"] == [
                    "id": .string("\(TenantID(number: 3))"), "slug": "tenant",
                    "name": .string("Tenant \(TenantID(number: 3))"),
                ])
            let publishable = try await client.send(.get, "/v1/key", key: api.publishable)
            #expect(publishable.status == 403 && publishable.code == "forbidden")
            #expect(try await client.send(.get, "/v1/key", key: nil).status == 401)
            #expect(try await client.send(.get, "/v1/key?x=1", key: api.secret).status == 400)
        }
    }

    @Test func keyReachesOnlyItsOwnTenant() async throws {
        let api = TestAPI()
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: TenantID(number: 3), scopes: "read,manage")
        try await api.test(over: [.task]) { client in
            let before = try await client.send(.get, Self.path, key: api.reader)
            let changed = try await Self.patch(client, ["name": "Neighbour"], key: neighbour)
            #expect(changed["name"] == "Neighbour" && changed["id"] != before["id"])
            #expect(try await client.send(.get, Self.path, key: api.reader).text == before.text)
            api.tenants.lagBehind(true)
            let late = try await Self.patch(client, ["name": "Late"])
            #expect(late.status == 202 && late.text == #"{"visible":false}"#)
        }
    }
}
