import Foundation
import HTTPTypes
import NIOCore
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI
@testable import Lookups

/// Pages in browsers, which call the API with publishable keys.
@Suite struct CrossOriginTests {
    private static let origin = "https://order.example.com"
    /// An origin of another tenant.
    private static let foreign = "https://other.example"
    private static let lookup = "/v1/lookup?url=https://example.com/restaurants/restaurant_a"

    private static func api() throws -> TestAPI {
        let api = TestAPI()
        guard var table = api.table.current?.table else { throw Problem.unavailable }
        try table.set(.tenants, .tenant(TenantID(number: 1), corsOrigins: "http://localhost:3000 \(origin)"))
        try table.set(.tenants, .tenant(TenantID(number: 3), corsOrigins: foreign))
        api.table.replace(by: table, from: .database, asOf: Date())
        return api
    }

    private static func preflight(
        _ path: String, _ method: String?, origin: String? = origin, _ client: TestAPI.Client
    ) async throws -> TestAPI.APIResponse {
        var headers: HTTPFields = [:]
        headers[.origin] = origin
        headers[.accessControlRequestMethod] = method
        headers[.accessControlRequestHeaders] = "authorization,content-type"
        return try await client.send(.options, path, key: nil, headers: headers)
    }

    @Test(arguments: [
        ("/v1/lookup", "GET", "GET"), ("/v1/lookup?url=x", "HEAD", "GET"), ("/v1/nearby", "POST", "POST"),
        ("/v1/confirmations", "POST", "POST"),
        ("/v1/instances/7f6c3c5e-58a1-4c0e-9d0b-0c6a2f6f9a11", "PUT", "PUT, DELETE"),
    ])
    func preflightOfListedOriginIsAllowed(path: String, method: String, methods: String) async throws {
        try await Self.api().test { client in
            for origin in [Self.origin, "http://localhost:3000", Self.foreign] {
                let response = try await Self.preflight(path, method, origin: origin, client)
                #expect(response.status == 204 && response.text.isEmpty)
                #expect(response.headers[.accessControlAllowOrigin] == origin)
                let allowed = response.headers[.accessControlAllowMethods]?.split(separator: ", ") ?? []
                #expect(Set(allowed) == Set(methods.split(separator: ", ")))
                let fields = response.headers[.accessControlAllowHeaders] ?? ""
                #expect(fields.contains("Authorization") && fields.contains("Content-Type"))
                #expect(response.headers[.accessControlMaxAge] == "7200")
                #expect(response.headers[.vary] == "Origin")
                #expect(response.headers[.accessControlAllowCredentials] == nil)
            }
        }
    }

    @Test(
        arguments: [
            ("/v1/lookup", "GET", "https://evil.example"), ("/v1/lookup", "GET", "null"),
            ("/v1/lookup", "GET", "\(origin)."), ("/v1/lookup", "GET", "http://order.example.com"),
            ("/v1/lookup", "GET", "\(origin), \(foreign)"), ("/v1/lookup", "POST", origin),
            ("/v1/lookup", nil, origin), ("/v1/lookup", "GET", nil), ("/v1/payloads", "POST", origin),
            ("/v1/notifications", "POST", origin), ("/v1/locations/a", "PUT", origin),
            ("/v1/keys", "POST", origin),
            ("/v1/tenant", "GET", origin), ("/v1/key", "GET", origin), ("/openapi.json", "GET", origin),
        ] as [(String, String?, String?)])
    func otherPreflightIsRefused(path: String, method: String?, origin: String?) async throws {
        try await Self.api().test(over: [.task]) { client in
            let response = try await Self.preflight(path, method, origin: origin, client)
            #expect(response.status == 405 && response.headers[.allow] != nil)
            #expect(!response.headers.contains(.accessControlAllowOrigin))
        }
    }

    /// Responses from the event loop and from tasks, successful and refused.
    @Test func responseToPublishableKeyIsReadableByListedOrigin() async throws {
        let api = try Self.api()
        try await api.test { client in
            for (method, path, status) in [
                (.get, Self.lookup, 200), (.get, "/v1/lookup", 400), (.head, Self.lookup, 200),
                (.get, "/v1/lookup?url=https://none.example", 404), (.post, "/v1/nearby", 415),
                (.post, "/v1/payloads", 403),
            ] as [(HTTPRequest.Method, String, Int)] {
                let response = try await client.send(
                    method, path, key: api.publishable, headers: [.origin: Self.origin])
                #expect(response.status == status, "\(path) \(response.text)")
                let isOpen = path != "/v1/payloads"
                #expect(
                    response.headers[.accessControlAllowOrigin] == (isOpen ? Self.origin : nil), "\(path)")
                #expect((response.headers[.accessControlExposeHeaders] != nil) == isOpen)
                if isOpen {
                    let exposed = response.headers[.accessControlExposeHeaders] ?? ""
                    for name in ["X-Request-ID", "RateLimit", "RateLimit-Policy", "Retry-After"] {
                        #expect(exposed.contains(name))
                    }
                    #expect(response.headers[.vary]?.contains("Origin") == true)
                }
            }
            let known = try await client.send(
                .get, Self.lookup, key: api.publishable, headers: [.origin: Self.origin, .ifNoneMatch: "*"])
            #expect(known.status == 304 && known.headers[.accessControlAllowOrigin] == Self.origin)
        }
    }

    @Test func otherResponsesAreNotReadableByPages() async throws {
        let api = try Self.api()
        try await api.test { client in
            for (key, origin) in [
                (api.secret, Self.origin), (api.publishable, Self.foreign),
                (api.publishable, "https://evil.example"), (api.publishable, "null"), (api.publishable, nil),
            ] {
                var headers: HTTPFields = [:]
                headers[.origin] = origin
                let response = try await client.send(.get, Self.lookup, key: key, headers: headers)
                #expect(response.status == 200)
                #expect(!response.headers.contains(.accessControlAllowOrigin), "\(origin ?? "")")
                // A cache must not send this response to a page of a listed origin.
                #expect(response.headers[.vary]?.contains("Origin") == true)
            }
        }
    }

    /// Without a valid key, the tenant is unknown. Origins of any tenant can read the reason of the refusal.
    @Test func refusalWithoutValidKeyIsReadableByListedOrigin() async throws {
        try await Self.api().test { client in
            for origin in [Self.origin, Self.foreign, "https://evil.example"] {
                let response = try await client.send(
                    .get, Self.lookup, key: .generate(.publishable), headers: [.origin: origin])
                #expect(response.status == 401)
                let allowed = response.headers[.accessControlAllowOrigin]
                #expect(allowed == (origin == "https://evil.example" ? nil : origin))
            }
        }
    }

    @Test func indexCountsTenantsOfEachOrigin() throws {
        var table = LookupIndex()
        let (one, two) = (TenantID(number: 1), TenantID(number: 2))
        try table.set(.tenants, .tenant(one, corsOrigins: "https://a.example https://b.example"))
        try table.set(.tenants, .tenant(two, corsOrigins: "https://b.example"))
        func allowed() -> [Bool] { ["https://a.example", "https://b.example"].map(table.allows(origin:)) }
        #expect(allowed() == [true, true] && !table.of(two).allows(origin: "https://a.example"))
        try table.set(.tenants, .tenant(one, corsOrigins: ""))
        #expect(allowed() == [false, true] && !table.of(one).allows(origin: "https://b.example"))
        try table.set(.tenants, .tenant(two, corsOrigins: "https://b.example"))
        table.remove(.tenants, of: two, key: [])
        #expect(allowed() == [false, false])
        try table.set(.tenants, .tenant(two, corsOrigins: "https://b.example"))
        table.removeAll(.tenants, of: two)
        #expect(allowed() == [false, false])
    }
}
