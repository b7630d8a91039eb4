import Formats
import Foundation
import HTTPTypes
import Lookups
import NIOCore
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Authentication, scopes, and the responses to errors.
@Suite struct AccessTests {
    @Test(arguments: [
        (HTTPRequest.Method.post, "/v1/confirmations"), (.post, "/v1/domains/example.com/verify"),
        (.post, "/v1/webhooks/wh_a/replay"), (.post, "/v1/deliveries/retry"), (.put, "/v1/locations/a"),
        (.get, "/v1/locations"),
    ])
    func idempotencyKeyIsRejectedWhereNotSupported(method: HTTPRequest.Method, path: String) async throws {
        let api = TestAPI()
        let all = APIKey.generate(.secret)
        try api.admit(all, of: TenantID(number: 3), scopes: "confirm,notify,read,manage,manage_keys")
        try await api.test { client in
            let response = try await client.send(
                method, path, key: all,
                headers: [
                    .contentType: "application/json", try #require(HTTPField.Name("Idempotency-Key")): "a",
                ], body: method == .get ? nil : ByteBuffer(string: "{}"))
            #expect(
                response.status == 400 && response.code == "idempotency_key_not_supported", "\(response.text)"
            )
            #expect(response.field == "Idempotency-Key")
        }
    }

    @Test(arguments: [
        nil, "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer dpk_short", "Bearer a b",
    ])
    func requestWithoutValidKeyIsUnauthorized(authorization: String?) async throws {
        try await TestAPI().test { client in
            for (method, path) in [
                (HTTPRequest.Method.get, "/v1/lookup"), (.post, "/v1/confirmations"),
                (.post, "/v1/payloads"), (.post, "/v1/nearby"),
            ] {
                var headers = HTTPFields()
                headers[.authorization] = authorization
                let response = try await client.send(method, path, key: nil, headers: headers)
                #expect(response.status == 401)
                #expect(response.code == "unauthorized")
                #expect(response.headers[.wwwAuthenticate] == "Bearer")
            }
        }
    }

    @Test func unknownWellFormedKeyIsUnauthorized() async throws {
        try await TestAPI().test { client in
            let response = try await client.send(.get, "/v1/lookup?url=x", key: TestAPI().secret)
            #expect(response.status == 401)
        }
    }

    @Test func twoAuthorizationFieldsAreUnauthorized() async throws {
        try await TestAPI().test { client in
            var headers = HTTPFields()
            headers.append(HTTPField(name: .authorization, value: "Bearer \(client.api.secret.text)"))
            headers.append(HTTPField(name: .authorization, value: "Bearer \(client.api.secret.text)"))
            let response = try await client.send(.get, "/v1/lookup?url=x", key: nil, headers: headers)
            #expect(response.status == 401)
        }
    }

    @Test func authorizationSchemeIsCaseInsensitive() async throws {
        try await TestAPI().test { client in
            let response = try await client.send(
                .get, "/v1/lookup?url=https://example.com/restaurants/restaurant_a", key: nil,
                headers: [.authorization: "bEARER \(client.api.publishable.text)"])
            #expect(response.status == 200)
        }
    }

    @Test func publishableKeyCannotComposePayloads() async throws {
        try await TestAPI().test { client in
            let response = try await client.post("/v1/payloads", key: client.api.publishable, [:])
            #expect(response.status == 403)
            #expect(response.code == "forbidden")
        }
    }

    @Test func suspendedTenantIsForbidden() async throws {
        try await TestAPI().test { client in
            let response = try await client.post("/v1/payloads", key: client.api.suspended, [:])
            #expect(response.status == 403)
            #expect(response.code == "forbidden")
        }
    }

    @Test func unknownPathIsNotFoundAndWrongMethodNotAllowed() async throws {
        try await TestAPI().test { client in
            for path in ["/v1", "/v1/lookup/", "/v1/lookup/x", "/v1//lookup", "/etc/passwd"] {
                let response = try await client.send(.get, path, key: nil)
                let isKnown = path == "/v1/lookup/" || path == "/v1//lookup"
                #expect(response.status == (isKnown ? 401 : 404), "\(path)")
            }
            for method in [HTTPRequest.Method.post, .put, .delete, .options, .trace] {
                let response = try await client.send(method, "/v1/lookup", key: nil)
                #expect(response.status == 405)
                #expect(response.code == "method_not_allowed")
                #expect(response.headers[.allow] == "GET, HEAD")
            }
        }
    }

    @Test func rootNamesTheDocuments() async throws {
        try await TestAPI().test { client in
            let index = try await client.send(.get, "/", key: nil)
            #expect(index.status == 200 && index["guide"]?.stringValue?.contains("Guide") == true)
            for name in ["openapi", "problems"] {
                let path = try #require(index[name]?.stringValue)
                #expect(try await client.send(.get, path, key: nil).status == 200, "\(path)")
            }
        }
    }

    /// `/v1/deliveries/retry` also has the form of `/v1/deliveries/{id}`.
    @Test func allowHeaderNamesTheMethodsOfEachPath() async throws {
        let api = TestAPI()
        let endpoints = Dictionary(grouping: api.responder.endpoints) { "\($0.path)" }
        #expect(endpoints["/v1/deliveries/retry"]?.map(\.method) == [.post])
        try await api.test { client in
            for (path, endpoints) in endpoints {
                let methods = endpoints.flatMap {
                    $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue]
                }
                let response = try await client.send(
                    .options, path.replacing(/\{[^}]*\}/, with: "x"), key: nil)
                #expect(response.status == 405, "\(path)")
                #expect(response.headers[.allow] == methods.sorted().joined(separator: ", "), "\(path)")
            }
        }
    }

    @Test func headIsGetWithoutBody() async throws {
        try await TestAPI().test { client in
            let response = try await client.send(.head, "/livez", key: nil)
            #expect(response.status == 200)
            #expect(response.json == nil)
        }
    }

    @Test func healthEndpointsNeedNoKey() async throws {
        try await TestAPI().test { client in
            for path in ["/livez", "/readyz", "/metrics", "/openapi.json"] {
                let response = try await client.send(.get, path, key: nil)
                #expect(response.status == 200, "\(path)")
            }
        }
    }

    @Test func requestWithoutLookupIndexIsUnavailable() async throws {
        try await TestAPI(hasTable: false).test { client in
            let response = try await client.lookUp(ResponseTests.order)
            #expect(response.status == 503)
            #expect(response.code == "unavailable")
            #expect(response.headers[.retryAfter] == "1")
            #expect(try await client.send(.get, "/readyz", key: nil).status == 503)
            #expect(try await client.send(.get, "/livez", key: nil).status == 200)
        }
    }

    @Test func readinessShowsAgeOfLookupIndex() async throws {
        let api = TestAPI()
        let state = try #require(api.table.current)
        api.table.replace(by: state.table, from: .file, asOf: Date(timeIntervalSinceNow: -3_600))
        try await api.test { client in
            let table = try #require(try await client.send(.get, "/readyz", key: nil)["table"]?.objectValue)
            #expect(table["source"] == "file")
            #expect((3_600...3_660).contains(try #require(table["ageSeconds"]?.numberValue?.int)))
            #expect(table["experiences"] == 2)
            #expect(table["locations"] == 2)
        }
    }

    /// `OperationsTests` asserts that the operations port names it.
    @Test func publicReadinessNamesNoQuarantinedTenant() async throws {
        let api = TestAPI()
        try await api.test { client in
            api.table.setQuarantined(Date(), TenantID(UUID()))
            let response = try await client.send(.get, "/readyz", key: nil)
            #expect(response.status == 200)
            #expect(response["table"]?.objectValue?["quarantinedTenants"] == nil, "\(response.text)")
        }
    }

    @Test func requestIDIsEchoedIfSafeElseReplaced() async throws {
        let name = try #require(HTTPField.Name("X-Request-ID"))
        try await TestAPI().test { client in
            let given = try await client.send(.get, "/none", key: nil, headers: [name: "order-7.retry_1"])
            #expect(given.headers[name] == "order-7.retry_1")
            #expect(given["requestID"] == "order-7.retry_1")
            for unsafe in ["", "a b", "a\"b", String(repeating: "a", count: 129), "ü"] {
                let made = try await client.send(.get, "/none", key: nil, headers: [name: unsafe])
                let id = try #require(made.headers[name])
                #expect(id != unsafe)
                #expect(!id.isEmpty)
                #expect(made["requestID"] == .string(id))
            }
        }
    }

    /// At every log level, the log contains no key, query value, coordinate or content of a notification.
    @Test func logContainsNoSecrets() async throws {
        let api = TestAPI()
        try await api.test { client in
            _ = try await client.lookUp(ResponseTests.order + "?guest=canary1")
            _ = try await client.send(
                .get, "/v1/lookup?url=https://example.com/?x=canary2&canary3=1", key: api.secret)
            _ = try await client.post(
                "/v1/confirmations",
                [
                    "url": .string(ResponseTests.order), "source": "nfc", "locationAccess": "allowed",
                    "coordinate": ["latitude": 37.3341234, "longitude": -122.0091234],
                ])
            _ = try await client.post(
                "/v1/payloads", ["url": .string(ResponseTests.order), "aps": ["alert": "canary4"]])
            _ = try await client.send(.get, "/canary5", key: nil)
        }
        let log = api.log.text
        #expect(log.contains("answered"))
        for canary in [
            "canary1", "canary2", "canary3", "canary4", "37.3341234", "122.0091234",
            String(api.secret.text.dropFirst(8)),
            String(api.publishable.text.dropFirst(8)),
        ] {
            #expect(!log.contains(canary), "\(canary)")
        }
    }

    /// Operators need to see whose requests are refused.
    @Test func logNamesTenantAndKeyOfRejectedRequests() async throws {
        let limit = try #require(RateLimit(perSecond: 1, burst: 2))
        let api = TestAPI(limits: RequestLimits(key: limit))
        for path in TestAPI.Path.allCases {
            let before = api.log.lines.withLock(\.count)
            try await api.test(over: [path]) { client in
                for _ in 0..<3 {
                    _ = try await client.send(
                        .get, "/v1/lookup?url=https://example.com", key: api.confirmer)
                }
            }
            let lines = api.log.lines.withLock { $0.dropFirst(before) }
            for status in ["403", "429"] {
                let line = try #require(lines.first { $0.contains("\"status\": \(status)") }, "\(path)")
                #expect(line.contains(TenantID(number: 1).description), "\(line)")
                #expect(line.contains(KeyID(UUID(number: 4)).description), "\(line)")
            }
        }
    }
}
