import Administration
import Formats
import Foundation
import HTTPTypes
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct DomainEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = [
        "listDomains", "getDomain", "putDomain", "patchDomain", "deleteDomain", "verifyDomain",
    ]

    private static let path = "/v1/domains/shop.example.com"
    private static let verification = "\(path)/verify"
    private static let content: JSONValue = ["webcredentials": ["apps": ["ABCDE12345.com.example.Bank"]]]

    private static func put(
        _ client: TestAPI.Client, _ body: JSONValue = [:], key: APIKey? = nil, headers: HTTPFields = [:]
    ) async throws -> TestAPI.APIResponse {
        try await CatalogueEndpointTests.write(.put, path, body, client, key: key, headers: headers)
    }

    private static func patch(
        _ client: TestAPI.Client, _ body: JSONValue, key: APIKey? = nil, headers: HTTPFields = [:]
    ) async throws -> TestAPI.APIResponse {
        try await CatalogueEndpointTests.write(.patch, path, body, client, key: key, headers: headers)
    }

    @Test func domainIsClaimedProvedAndDeleted() async throws {
        let api = TestAPI()
        try await api.test(over: [.connection]) { client in
            let claimed = try await CatalogueEndpointTests.write(
                .put, "/v1/domains/Shop.Example.com", [:], client)
            #expect(claimed.status == 201 && claimed.headers[.location] == Self.path)
            #expect(claimed["status"] == "claimed" && claimed["content"] == .null)
            let record = try #require(claimed["record"]?.objectValue)
            #expect(record["name"] == "_doorstep-challenge.shop.example.com")
            let file = try #require(claimed["file"]?.objectValue)
            let challenge = try #require(file["content"]?.stringValue)
            #expect(record["value"] == .string("doorstep-verification=\(challenge)"))
            // A repeated claim, and a PUT of the response, keep the challenge.
            for body in [[:], try #require(claimed.json)] as [JSONValue] {
                let again = try await Self.put(client, body)
                #expect(again.status == 200 && again.text == claimed.text)
                #expect(again.headers[.eTag] == claimed.headers[.eTag])
            }
            let read = try await client.send(.get, Self.path, key: api.reader)
            #expect(read.status == 200 && read.text == claimed.text)

            let missing = try await client.post(Self.verification, key: api.manager, [:])
            #expect(missing.status == 200 && missing["status"] == "claimed" && missing["answered"] == true)
            #expect(
                missing["detail"]?.stringValue?.contains(
                    "TXT record _doorstep-challenge.shop.example.com not found") == true)
            #expect(missing["record"] == claimed["record"])
            api.records.publish(
                "_doorstep-challenge.shop.example.com", "doorstep-verification=\(challenge)")
            let proved = try await client.post(Self.verification, key: api.manager, [:])
            #expect(proved["status"] == "proved" && proved["method"] == "dns" && proved["detail"] == .null)

            let page = try await client.send(.get, "/v1/domains?limit=1", key: api.reader)
            #expect(page["data"]?.arrayValue?.first?.objectValue?["status"] == "proved")
            #expect(page["next"] == .null)
            #expect(try await client.send(.delete, Self.path, key: api.manager).status == 204)
            let gone = try await client.post(Self.verification, key: api.manager, [:])
            #expect(gone.status == 404 && gone.code == "unknown_domain")
            #expect(try await client.send(.get, Self.path, key: api.manager).code == "unknown_domain")
            #expect(try await Self.patch(client, [:]).code == "unknown_domain")
        }
        #expect(api.domains.actors == Array(repeating: "key:\(KeyID(UUID(number: 5)))", count: 3))
    }

    @Test func verificationNeedsNoBody() async throws {
        let api = TestAPI()
        try await api.test { client in
            _ = try await Self.put(client)
            let response = try await client.send(.post, Self.verification, key: api.manager)
            #expect(response.status == 200 && response["status"] == "claimed", "\(response.text)")
        }
    }

    @Test func contentIsKeptWithTheClaim() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let created = try await Self.put(client, ["content": Self.content])
            #expect(created.status == 201 && created["content"] == Self.content)
            let patched = try await Self.patch(client, ["content": ["x": 1, "webcredentials": .null]])
            let merged: JSONValue = ["x": 1]
            #expect(patched.status == 200 && patched["content"] == merged)
            #expect(patched["record"] == created["record"])
            #expect(try await Self.patch(client, ["content": .null])["content"] == .null)
            #expect(try await Self.put(client, ["content": Self.content])["content"] == Self.content)
            #expect(try await Self.put(client)["content"] == .null)
        }
    }

    @Test func landingPagesAreSwitchedOnAndOff() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let created = try await Self.put(client, ["content": Self.content])
            #expect(created["pages"] == "off")
            for pages in ["on", "redirecting_short_codes", "off", "on"] as [JSONValue] {
                let patched = try await Self.patch(client, ["pages": pages])
                #expect(patched.status == 200 && patched["pages"] == pages)
                #expect(patched["content"] == Self.content)
            }
            #expect(try await Self.patch(client, ["content": .null])["pages"] == "on")
            #expect(try await Self.patch(client, ["pages": .null])["pages"] == "off")
            #expect(try await Self.put(client, ["pages": "on"])["pages"] == "on")
            #expect(try await Self.put(client)["pages"] == "off")
        }
    }

    @Test func invalidFieldIsNamed() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            for isThere in [false, true] {
                if isThere { #expect(try await Self.put(client).status == 201) }
                for (body, status, code, field) in [
                    (["colour": "red"], 400, "unknown_field", "colour"),
                    (["content": "x"], 400, "invalid_field", "content"),
                    (["pages": "yes"], 400, "invalid_field", "pages"),
                    (["pages": true], 400, "invalid_field", "pages"),
                    (["status": "proved"], 400, "invalid_field", "status"),
                    (["host": "other.example.com"], 400, "invalid_field", "host"),
                    (["content": ["appclips": ["apps": []]]], 400, "invalid_field", "content"),
                ] as [(JSONValue, Int, String, String)] {
                    let response = try await Self.put(client, body)
                    #expect(response.status == status && response.code == code && response.field == field)
                    guard isThere else { continue }
                    let patched = try await Self.patch(client, body)
                    #expect(patched.status == status && patched.code == code && patched.field == field)
                }
            }
            #expect(try await Self.patch(client, ["colour": .null]).code == "unknown_field")
            let body = try await client.post(Self.verification, key: api.manager, ["x": 1])
            #expect(body.status == 400 && body.code == "unknown_field")
            for host in ["localhost", "192.0.2.1", "shop.example.com:443", "*.example.com", "%00"] {
                let response = try await client.send(.get, "/v1/domains/\(host)", key: api.manager)
                #expect(response.status == 404 && response.code == "not_found", "\(host)")
            }
        }
    }

    @Test func domainChangeRequiresMatchingETag() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            #expect(try await Self.put(client, headers: [.ifMatch: "*"]).status == 412)
            let created = try await Self.put(client, headers: [.ifNoneMatch: "*"])
            #expect(created.status == 201)
            #expect(try await Self.put(client, headers: [.ifNoneMatch: "*"]).status == 412)
            let tag = try #require(created.headers[.eTag])
            let changed = try await Self.patch(
                client, ["content": Self.content], headers: [.ifMatch: tag])
            #expect(changed.status == 200)
            let late = try await Self.patch(client, ["content": .null], headers: [.ifMatch: tag])
            #expect(late.status == 412 && late.code == "precondition_failed")
            let deletion = try await client.send(
                .delete, Self.path, key: api.manager, headers: [.ifMatch: tag])
            #expect(deletion.status == 412)
        }
    }

    @Test func domainEndpointsRequireScope() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            _ = try await Self.put(client)
            for key in [api.publishable, api.secret, api.reader, api.keyManager] {
                let responses = [
                    try await Self.put(client, key: key), try await Self.patch(client, [:], key: key),
                    try await client.post(Self.verification, key: key, [:]),
                    try await client.send(.delete, Self.path, key: key),
                ]
                #expect(responses.allSatisfy { $0.status == 403 })
                let reads = [
                    try await client.send(.get, Self.path, key: key),
                    try await client.send(.get, "/v1/domains", key: key),
                ]
                let status = key.text == api.reader.text ? 200 : 403
                #expect(reads.allSatisfy { $0.status == status })
            }
        }
    }

    @Test func anotherTenantsDomainIsUnknown() async throws {
        let api = TestAPI()
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: TenantID(number: 3), scopes: "read,manage")
        try await api.test(over: [.task]) { client in
            func ask() async throws -> [TestAPI.APIResponse] {
                let headers: HTTPFields = [try #require(HTTPField.Name("X-Request-ID")): "probe"]
                let verified = try await CatalogueEndpointTests.write(
                    .post, Self.verification, [:], client, key: neighbour, headers: headers)
                return [
                    try await client.send(.get, Self.path, key: neighbour, headers: headers),
                    try await Self.patch(
                        client, ["content": Self.content], key: neighbour, headers: headers),
                    try await client.send(.delete, Self.path, key: neighbour, headers: headers), verified,
                    try await client.send(.get, "/v1/domains", key: neighbour, headers: headers),
                ]
            }
            let before = try await ask()
            let created = try await Self.put(client)
            let after = try await ask()
            #expect(after.map(\.status) == [404, 404, 404, 404, 200])
            #expect(before.map(\.text) == after.map(\.text))
            // The other tenant can claim the same host and gets its own challenge.
            let own = try await Self.put(client, key: neighbour)
            #expect(own.status == 201 && own["record"] != created["record"])
            #expect(try await client.send(.get, Self.path, key: api.reader).text == created.text)
        }
    }

    @Test func storeErrorsMapToStatusAndCode() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let claimed = try await Self.put(client)
            let record = try #require(claimed["record"]?.objectValue)
            api.records.publish(
                try #require(record["name"]?.stringValue), try #require(record["value"]?.stringValue))
            api.domains.refuse(AdministrationError.domainTaken(try DomainName("shop.example.com")))
            let taken = try await client.post(Self.verification, key: api.manager, [:])
            #expect(taken.status == 409 && taken.code == "domain_taken")
            api.domains.refuse(nil)
            api.domains.lagBehind(true)
            let late = try await client.post(Self.verification, key: api.manager, [:])
            #expect(late.status == 202 && late.text == #"{"visible":false}"#)
        }
    }

    /// Each verification waits for servers that the tenant names.
    @Test(.timeLimit(.minutes(30))) func concurrentVerificationsAreLimited() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            _ = try await Self.put(client)
            api.records.hold(true)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await client.post(Self.verification, key: api.manager, [:]).status
                    }
                }
                while api.records.asked < 4 { await Task.yield() }
                let refused = try await client.post(Self.verification, key: api.manager, [:])
                #expect(refused.status == 429 && refused["limit"] == "concurrency")
                api.records.hold(false)
                for try await status in group { #expect(status == 200) }
            }
        }
    }
}
