import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Stores the recorded requests.
final class MemoryRequestLog: RefusedRequestRecorder {
    private let requests = Mutex<[(tenant: TenantID, request: RefusedRequest)]>([])

    func all(of tenant: TenantID) -> [RefusedRequest] {
        requests.withLock { $0.filter { $0.tenant == tenant }.map(\.request) }
    }

    func record(_ request: RefusedRequest, of tenant: TenantID) {
        requests.withLock { $0.append((tenant, request)) }
    }
}

@Suite struct RequestLogEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["listRequests"]

    private static let tenant = TenantID(number: 1)

    @Test func refusedRequestsOfKeysAreRecorded() async throws {
        let api = TestAPI()
        try await api.test { client in
            let before = api.requests.all(of: Self.tenant).count
            func ask(_ path: String, key: APIKey?) async throws -> String {
                let response = try await client.send(.get, path, key: key)
                #expect(response.status >= 400)
                return response["requestID"]?.stringValue ?? ""
            }
            let secret = "https%3A%2F%2Fexample.org%2Fsecret"
            let ids = [
                try await ask("/v1/lookup?url=\(secret)", key: api.publishable),
                try await ask("/v1/lookup?url=x", key: api.publishable),
                // Refused by its scope.
                try await ask("/v1/locations/a", key: api.publishable),
                try await ask("/v1/audit-log?limit=0", key: api.reader),
            ]
            // Without a key, a request belongs to no tenant. A successful request is not recorded.
            _ = try await ask("/v1/lookup?url=\(secret)", key: nil)
            _ = try await ask("/v1/nothing", key: nil)
            #expect(try await client.send(.get, "/v1/key", key: api.reader).status == 200)
            let recorded = Array(api.requests.all(of: Self.tenant).dropFirst(before))
            #expect(recorded.map(\.requestID) == ids)
            #expect(
                recorded.map { "\($0.endpoint) \($0.status) \($0.code)" } == [
                    "GET /v1/lookup 404 does_not_match", "GET /v1/lookup 400 invalid_url",
                    "GET /v1/locations/{identifier} 403 forbidden", "GET /v1/audit-log 400 invalid_parameter",
                ])
            #expect(Set(recorded.map(\.key)).count == 2)
            #expect(!"\(recorded)".contains("secret"))
        }
    }

    @Test func requestsAreListedNewestFirstOnlyForTheirTenant() async throws {
        let api = TestAPI()
        let other = TenantID(number: 3)
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: other, scopes: "read")
        let key = UUID(number: 7)
        for number in 1...3 {
            api.auditLog.add(
                RefusedRequest(
                    id: UUID(number: UInt8(number)), at: Date(timeIntervalSince1970: Double(number)),
                    requestID: "r\(number)", endpoint: "GET /v1/lookup", status: number == 2 ? 400 : 404,
                    code: number == 2 ? "invalid_url" : "does_not_match",
                    key: KeyID(number == 3 ? key : UUID(number: 8))), of: Self.tenant)
        }
        try await api.test(over: [.task]) { client in
            func ids(_ query: String) async throws -> [String] {
                let response = try await client.send(.get, "/v1/requests\(query)", key: api.reader)
                return try #require(response["data"]?.arrayValue, "\(response.text)").compactMap {
                    $0.objectValue?["requestID"]?.stringValue
                }
            }
            #expect(try await ids("") == ["r3", "r2", "r1"])
            #expect(try await ids("?status=404") == ["r3", "r1"])
            #expect(try await ids("?code=invalid_url") == ["r2"])
            #expect(try await ids("?requestID=r1") == ["r1"])
            #expect(try await ids("?key=\(key)") == ["r3"])
            #expect(try await ids("?key=\(key)&status=400") == [])
            var seen: [String] = []
            var query = "?limit=2"
            while true {
                let page = try await client.send(.get, "/v1/requests\(query)", key: api.reader)
                seen += try await ids(query)
                guard let next = page["next"]?.stringValue else { break }
                query = "?limit=2&after=\(next)"
            }
            #expect(seen == ["r3", "r2", "r1"])
            let last = try await client.send(.get, "/v1/requests?requestID=r1", key: api.reader)
            #expect(
                last.text == """
                    {"data":[{"at":"1970-01-01T00:00:01Z","code":"does_not_match","endpoint":"GET /v1/lookup",\
                    "key":"\(UUID(number: 8).uuidString.lowercased())","requestID":"r1","status":404}],"next":null}
                    """)
            for (query, field) in [
                ("?status=200", "status"), ("?status=x", "status"), ("?code=none", "code"), ("?key=1", "key"),
                ("?requestID=%20", "requestID"), ("?requestID=", "requestID"), ("?after=AA", "after"),
                ("?limit=0", "limit"), ("?id=1", "id"),
            ] {
                let response = try await client.send(.get, "/v1/requests\(query)", key: api.reader)
                #expect(response.status == 400 && response.field == field, "\(query): \(response.text)")
            }
            let theirs = try await client.send(.get, "/v1/requests", key: neighbour)
            #expect(theirs.status == 200 && theirs["data"]?.arrayValue?.isEmpty == true)
            for key in [api.publishable, api.secret, api.keyManager] {
                #expect(try await client.send(.get, "/v1/requests", key: key).status == 403)
            }
        }
    }
}
