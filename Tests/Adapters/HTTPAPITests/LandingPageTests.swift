import Formats
import Foundation
import HTTPTypes
import Lookups
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Landing pages on proved hosts, and the paths that have precedence over them.
@Suite struct LandingPageTests {
    private static let page = "/restaurants/restaurant_a"
    private static let tenant = TenantID(number: 1)

    private static func api(
        _ pages: DomainPages = .on, limits: RequestLimits = RequestLimits()
    ) throws -> TestAPI {
        let api = TestAPI(limits: limits)
        try api.proveHost(pages: pages)
        var table = try #require(api.table.current).table
        for path in [
            "restaurants", "v1/lookup", "v1", "problems", "openapi.json", ".well-known/x", "livez", "metrics",
        ] {
            try table.set(
                .experiences,
                .experience(
                    tenant, "advanced", "https://\(TestAPI.host)/\(path)", clip: "com.example.MyApp.Clip",
                    rule: "path:1"))
        }
        api.table.replace(by: table, from: .database, asOf: Date())
        return api
    }

    @Test func landingPageIsShownIfEnabled() async throws {
        try await Self.api().test { client in
            let response = try await client.send(.get, Self.page, key: nil)
            #expect(response.status == 200, "\(response.text)")
            #expect(response.headers[.contentType] == "text/html; charset=utf-8")
            #expect(response.text.contains("<title>Restaurant A</title>"))
            #expect(response.headers[.requestID] != nil && response.headers[.setCookie] == nil)
            let head = try await client.send(.head, Self.page, key: nil)
            #expect(head.status == 200 && head.text.isEmpty)
            #expect(head.headers[.eTag] == response.headers[.eTag])
            let tag = try #require(response.headers[.eTag])
            let known = try await client.send(.get, Self.page, key: nil, headers: [.ifNoneMatch: tag])
            #expect(known.status == 304 && known.text.isEmpty)
            let missing = try await client.send(.get, "/nothing", key: nil)
            #expect(missing.status == 404 && missing.text.contains("<h1>Page not found</h1>"))
            let icon = try await client.send(.get, "/favicon.ico", key: nil)
            #expect(icon.status == 404 && icon.text.isEmpty)
            // The page is the same for every client.
            for headers in [
                [.userAgent: "Mozilla/5.0 (iPhone)"], [.authorization: "Bearer nonsense"],
                [.accept: "application/json"],
            ] as [HTTPFields] {
                #expect(
                    try await client.send(.get, Self.page, key: nil, headers: headers).text == response.text)
            }
        }
    }

    @Test func landingPageIsNotShownIfDisabledOrHostUnproved() async throws {
        let api = try Self.api(.off)
        try await api.test { client in
            #expect(try await client.send(.get, Self.page, key: nil).code == "not_found")
            try api.proveHost(false)
            #expect(try await client.send(.get, Self.page, key: nil).code == "not_found")
        }
    }

    @Test func landingPageAllowsOnlyGETAndHEAD() async throws {
        try await Self.api().test { client in
            for method in [HTTPRequest.Method.post, .put, .delete, .options] {
                let response = try await client.send(method, Self.page, key: nil)
                #expect(response.status == 405 && response.headers[.allow] == "GET, HEAD", "\(method)")
            }
        }
    }

    @Test func apiPathsTakePrecedenceOverPages() async throws {
        let api = try Self.api()
        try await api.test { client in
            #expect(try await client.send(.get, "/v1/lookup", key: nil).status == 401)
            #expect(
                try await client.lookUp("https://example.com/restaurants/restaurant_a")["location"] != nil)
            for path in ["/v1/nothing", "/v1/lookup/x", "//v1/nothing", "/.well-known/x", "/problems/x"] {
                #expect(try await client.send(.get, path, key: nil).code == "not_found", "\(path)")
            }
            for path in [
                "/openapi.json", "/problems", "/problems/not_found",
                "/.well-known/apple-app-site-association",
            ] {
                let response = try await client.send(.get, path, key: nil)
                #expect(response.status == 200 && !response.text.contains("apple-itunes-app"), "\(path)")
            }
        }
    }

    /// On a tenant's host, these paths belong to the tenant.
    @Test func healthEndpointsAreHiddenOnTenantHost() async throws {
        try await Self.api().test { client in
            for path in ["/livez", "/metrics", "/metrics/restaurant_a"] {
                let response = try await client.send(.get, path, key: nil)
                #expect(
                    response.status == 200 && response.headers[.contentType] == "text/html; charset=utf-8",
                    "\(path)")
            }
            for path in ["/readyz", "/tls/allowed?host=localhost"] {
                let response = try await client.send(.get, path, key: nil)
                #expect(response.status == 404 && response.text.contains("Page not found"), "\(path)")
            }
        }
    }

    /// Lint warns about experiences whose paths the API hides.
    @Test func apiPathsMatchThoseKnownToLint() throws {
        let api = TestAPI()
        let operations = Set(OperationsEndpoints(api.dependencies, isPublic: true).endpoints.map(\.path))
        let components = api.responder.endpoints.map(\.path).filter { !operations.contains($0) }
            .compactMap { $0.split(separator: "/").first.map(String.init) }
        #expect(Set(components) == DomainPages.pathsOfAPI)
    }

    @Test func clientLimitAppliesToPages() async throws {
        let limits = RequestLimits(client: RateLimit(perSecond: 1, burst: 3))
        try await Self.api(limits: limits).test(over: [.task]) { client in
            for path in [Self.page, "/nothing", Self.page] {
                #expect(try await client.send(.get, path, key: nil).status != 429)
            }
            let response = try await client.send(.get, Self.page, key: nil)
            #expect(response.code == "rate_limited" && response["limit"] == "client")
        }
    }

    @Test func suspendedTenantShowsNoPages() async throws {
        let api = try Self.api()
        var table = try #require(api.table.current).table
        try table.set(.tenants, .tenant(Self.tenant, isSuspended: true))
        api.table.replace(by: table, from: .database, asOf: Date())
        try await api.test { client in
            #expect(try await client.send(.get, Self.page, key: nil).status == 404)
            let association = try await client.send(
                .get, "/.well-known/apple-app-site-association", key: nil)
            #expect(association.status == 200)
        }
    }
}
