import Formats
import Foundation
import HTTPTestClient
import HTTPTypes
import Logging
import Lookups
import NIOCore
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI
@testable import HTTPServer

/// Rate limits of responses from the event loop and from tasks. Each way has its own server, and the clock of the limits does not
/// advance.
@Suite struct LimitTests {
    private static let url = "https://example.com/restaurants/restaurant_a"

    private static func limit(_ burst: Int) throws -> RateLimit {
        try #require(RateLimit(perSecond: 1, burst: burst))
    }

    /// The value of a field, with its seconds removed.
    private static func field(_ response: TestAPI.APIResponse, _ name: String) throws -> String? {
        let name = try #require(HTTPField.Name(name))
        return response.headers[name]
    }

    @Test func responsesShowRemainingQuota() async throws {
        let limits = RequestLimits(key: try Self.limit(100), client: try Self.limit(50))
        try await TestAPI(limits: limits).test { client in
            for remaining in [49, 48] {
                let response = try await client.lookUp(Self.url)
                #expect(response.status == 200)
                #expect(
                    try Self.field(response, "RateLimit-Policy") == #""client";q=50;w=50, "key";q=100;w=100"#)
                let field = try #require(try Self.field(response, "RateLimit"))
                #expect(field.hasPrefix(#""client";r=\#(remaining);t="#))
                #expect(field.contains(#", "key";r=\#(remaining + 50);t="#))
            }
            // Refusals after the limit check have the field, too.
            for response in [
                try await client.lookUp("https://unknown.example"),
                try await client.send(.get, "/v1/lookup?nothing", key: client.api.publishable),
                try await client.post("/v1/payloads", key: client.api.publishable, [:]),
            ] {
                #expect(response.status >= 400)
                #expect(try Self.field(response, "RateLimit") != nil)
            }
            // A secret key has no limit per client.
            let response = try await client.post("/v1/confirmations", [:])
            #expect(try Self.field(response, "RateLimit-Policy") == #""key";q=100;w=100"#)
        }
    }

    @Test func documentsThatNeedNoKeyAreLimitedByClient() async throws {
        var api = TestAPI()
        api.settings.limits = RequestLimits(client: try Self.limit(4))
        api.settings.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        try api.proveHost()
        try await api.test(over: [.connection]) { client in
            func get(
                _ path: String, _ headers: HTTPFields = [:], from address: String?
            ) async throws -> TestAPI.APIResponse {
                var headers = headers
                headers[.forwardedFor] = address
                return try await client.send(.get, path, key: nil, headers: headers)
            }
            let paths = ["/openapi.json", "/problems", "/problems/not_found", "/.well-known/jwks.json"]
            // Documents count by their length. This one is half a megabyte.
            #expect(try await get("/openapi.json", from: "192.0.2.1").status == 200)
            for path in paths {
                let refused = try await get(path, from: "192.0.2.1")
                #expect(refused.status == 429 && refused["limit"] == "client", "\(path)")
            }
            // Compressed and short documents count as four requests at most. Other clients are not affected.
            for _ in 0..<4 { #expect(try await get("/problems/not_found", from: "192.0.2.2").status == 200) }
            #expect(try await get("/.well-known/jwks.json", from: "192.0.2.2").status == 429)
            // Apple's CDN requests the file of many hosts, so this limit is higher.
            for _ in 0..<80 {
                #expect(
                    try await get("/.well-known/apple-app-site-association", from: "192.0.2.2").status == 200)
            }
            #expect(
                try await get("/.well-known/apple-app-site-association", from: "192.0.2.2").status == 429)
            // Requests of the proxy itself have no client address.
            for _ in 0..<9 { #expect(try await get("/problems", from: nil).status == 200) }
        }
    }

    /// Tests the limits of key and client, for both ways of a response.
    @Test func nearbyCountsAsManyLookupsAsItTakes() async throws {
        let limits = RequestLimits(key: try Self.limit(100), client: try Self.limit(50))
        for places in [0, 2_000] {
            let api = TestAPI(limits: limits)
            var table = try #require(api.table.current).table
            for number in 0..<places {
                try table.set(
                    .locations,
                    .location(TenantID(number: 1), "\(number)", latitude: 37.333, longitude: -122.015))
            }
            api.table.replace(by: table, from: .database, asOf: Date())
            try await api.test { client in
                let response = try await client.post(
                    "/v1/nearby", key: client.api.publishable,
                    [
                        "url": "https://example.com/restaurants",
                        "coordinate": ["latitude": 37.333, "longitude": -122.015],
                    ])
                #expect(response.status == 200 && (response["truncated"] == true) == (places > 0))
                let field = try #require(try Self.field(response, "RateLimit"))
                let rest = try #require(try /"client";r=(\d+);/.prefixMatch(in: field)).output.1
                let cost = 50 - (try #require(Int(rest)))
                #expect(places == 0 ? cost == 1 : (5...10).contains(cost), "\(field)")
                #expect(field.contains(#", "key";r=\#(100 - cost);t="#), "\(field)")
                let next = try #require(try Self.field(try await client.lookUp(Self.url), "RateLimit"))
                #expect(next.hasPrefix(#""client";r=\#(49 - cost);t="#), "\(next)")
            }
        }
    }

    @Test func keyOverItsLimitIsRejected() async throws {
        var api = TestAPI(limits: RequestLimits(key: try Self.limit(3), client: try Self.limit(1_000)))
        api.settings.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        try await api.test { client in
            for _ in 0..<3 { #expect(try await client.lookUp(Self.url).status == 200) }
            let refused = try await client.lookUp(Self.url)
            #expect(refused.status == 429 && refused.code == "rate_limited")
            #expect(refused["limit"] == "key")
            #expect(refused.headers[.retryAfter] == "1")
            #expect(refused["retryAfter"] == 1)
            #expect(try Self.field(refused, "RateLimit")?.contains(#""key";r=0;t="#) == true)
            // Another key of the tenant has its own limit.
            #expect(try await client.post("/v1/confirmations", ["x": 1]).status == 400)
        }
    }

    @Test func clientOverItsLimitDoesNotConsumeTheKeysLimit() async throws {
        let limits = RequestLimits(key: try Self.limit(5), client: try Self.limit(2))
        var api = TestAPI(limits: limits)
        api.settings.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        // `X-Forwarded-For` is trusted only on connections from a proxy.
        try await api.test(over: [.connection]) { client in
            func lookUp(from address: String) async throws -> TestAPI.APIResponse {
                var headers = HTTPFields()
                headers[try #require(HTTPField.Name("X-Forwarded-For"))] = address
                return try await client.lookUp(Self.url, headers: headers)
            }
            for _ in 0..<2 { #expect(try await lookUp(from: "203.0.113.1").status == 200) }
            for _ in 0..<2 {
                let refused = try await lookUp(from: "198.51.100.7, 203.0.113.1")
                #expect(refused.status == 429 && refused["limit"] == "client")
            }
            #expect(try await lookUp(from: "203.0.113.2").status == 200)
            // Addresses of one /64 are one client.
            #expect(try await lookUp(from: "2001:db8::1").status == 200)
            #expect(try await lookUp(from: "2001:db8::2").status == 200)
            let spent = try await lookUp(from: "203.0.113.3")
            #expect(spent.status == 429 && spent["limit"] == "key")
        }
    }

    @Test func delayedResponsesOnProxyConnectionsAreBounded() {
        let proxied = Client(address: Client.Address(nil), isBehindProxy: true)
        let direct = Client(address: Client.Address(nil), isBehindProxy: false)
        let count = Pause.Count(maximum: 2)
        var held = [count.pause(for: proxied), count.pause(for: proxied)]
        #expect(!held.contains { $0 == nil })
        #expect(count.pause(for: proxied) == nil)
        #expect(count.pause(for: direct) != nil)
        held.removeLast()
        #expect(withExtendedLifetime(count.pause(for: proxied)) { count.pause(for: proxied) == nil })
        #expect(count.pause(for: proxied) != nil)
        #expect(held.count == 1)
    }

    /// The delay grows with the number of delayed responses. Otherwise a client with a thousand connections would cost ten times as
    /// much as one with a hundred.
    @Test func clientWithOverAHundredDelayedResponsesWaitsLonger() throws {
        let count = Pause.Count()
        let client = Client(address: Client.Address(IPAddress("203.0.113.1")), isBehindProxy: false)
        let other = Client(address: Client.Address(IPAddress("203.0.113.2")), isBehindProxy: false)
        var held = (0..<1_000).map { _ in count.pause(for: client) }
        let durations = try held.map { try #require($0).duration }
        #expect(durations[..<100].allSatisfy { $0 == .seconds(1) })
        #expect(durations[299] == .seconds(3) && durations[999] == .seconds(5))
        #expect(count.pause(for: other)?.duration == .seconds(1))
        held = []
        #expect(count.pause(for: client)?.duration == .seconds(1))
    }

    @Test func forwardedForOfUntrustedClientIsIgnored() async throws {
        let api = TestAPI(limits: RequestLimits(client: try Self.limit(1)))
        try await api.test { client in
            var headers = HTTPFields()
            let name = try #require(HTTPField.Name("X-Forwarded-For"))
            headers[name] = "203.0.113.1"
            #expect(try await client.lookUp(Self.url, headers: headers).status == 200)
            headers[name] = "203.0.113.2"
            #expect(try await client.lookUp(Self.url, headers: headers).status == 429)
        }
    }

    @Test func clientGuessingKeysIsLimited() async throws {
        var api = TestAPI()
        api.settings.limits.client = try Self.limit(2)
        try await api.test { client in
            let path = "/v1/lookup?url=https://example.com"
            for _ in 0..<2 {
                #expect(try await client.send(.get, path, key: nil).status == 401)
            }
            let refused = try await client.send(.get, path, key: nil)
            #expect(refused.status == 429 && refused["limit"] == "client")
            // Requests with a valid key do not count.
            #expect(try await client.lookUp(Self.url).status == 200)
        }
    }

    /// Unknown paths and methods need no key.
    @Test func clientProbingUnknownPathsIsLimited() async throws {
        var api = TestAPI()
        api.settings.limits.client = try Self.limit(2)
        try await api.test { client in
            #expect(try await client.send(.get, "/v1/nothing", key: nil).status == 404)
            #expect(try await client.send(.delete, "/v1/lookup", key: nil).status == 405)
            for (method, path) in [
                (.get, "/v1/nothing"), (.delete, "/v1/lookup"),
            ] as [(HTTPRequest.Method, String)] {
                let refused = try await client.send(method, path, key: nil)
                #expect(refused.status == 429 && refused["limit"] == "client")
            }
            // Failed lookups with a valid key do not count.
            #expect(try await client.lookUp("https://unknown.example").status == 404)
        }
    }

    @Test func unavailableResponseIsDelayed() async throws {
        let api = TestAPI()
        api.instances.goAway()
        let pauses = Mutex(0)
        let log = api.log
        let responder = APIResponder(
            api.settings, api.dependencies, RequestObserver(), logger: Logger(label: "test") { _ in log },
            sleep: { _ in pauses.withLock { $0 += 1 } })
        let response = try await HTTPTestClient(responder).send(
            .get, "/v1/instances/\(UUID())", headers: [.authorization: "Bearer \(api.secret.text)"])
        #expect(response.status.code == 503 && pauses.withLock { $0 } == 1)
    }

    @Test func responsesWithoutLimitsHaveNoRateLimitHeaders() async throws {
        let off = RequestLimits(key: .off, client: .off)
        for (server, tenant) in [
            (RequestLimits(), RequestLimits()), (off, RequestLimits()),
            (RequestLimits(key: try Self.limit(1), client: try Self.limit(1)), off),
        ] {
            var api = TestAPI(limits: tenant)
            api.settings.limits = server
            try await api.test { client in
                for _ in 0..<2 {
                    let response = try await client.lookUp(Self.url)
                    #expect(response.status == 200)
                    #expect(try Self.field(response, "RateLimit") == nil)
                    #expect(try Self.field(response, "RateLimit-Policy") == nil)
                }
            }
        }
    }

    // MARK: New instances

    private static func register(
        _ client: TestAPI.Client, _ id: UUID, from address: String = "203.0.113.1", key: APIKey? = nil
    ) async throws -> TestAPI.APIResponse {
        let body: JSONObject = [
            "url": .string(url), "environment": "production", "permission": "ephemeral",
        ]
        return try await client.send(
            .put, "/v1/instances/\(id)", key: key ?? client.api.publishable,
            headers: [
                .contentType: "application/json", try #require(HTTPField.Name("X-Forwarded-For")): address,
            ], body: ByteBuffer(bytes: JSONValue.object(body).serialized()))
    }

    /// A script that invents instances is refused. Existing instances and other clients are not affected.
    @Test func newInstancesHaveTheirOwnLimits() async throws {
        let limits = RequestLimits(newInstances: try Self.limit(6), clientNewInstances: try Self.limit(2))
        var api = TestAPI(limits: limits)
        api.settings.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        let (instances, settings) = (api.instances, api.settings)
        try await api.test(over: [.connection]) { client in
            let known = (0..<2).map { _ in UUID() }
            for id in known { #expect(try await Self.register(client, id).status == 201) }
            for _ in 0..<3 {
                let refused = try await Self.register(client, UUID())
                #expect(refused.status == 429 && refused.code == "rate_limited", "\(refused.text)")
                #expect(refused["limit"] == "client_new_instances")
                #expect(refused["retryAfter"] == 1 && refused.headers[.retryAfter] == "1")
            }
            #expect(instances.count == 2)
            // Known instances are not limited.
            for id in known + known + known {
                #expect(try await Self.register(client, id).status == 200)
            }
            // Requests that are refused for other reasons, or whose instance is known, do not count.
            for _ in 0..<4 {
                #expect(try await Self.register(client, known[0], from: "203.0.113.2").status == 200)
                let refused = try await client.send(
                    .put, "/v1/instances/\(UUID())", key: client.api.publishable,
                    headers: [
                        .contentType: "application/json",
                        try #require(HTTPField.Name("X-Forwarded-For")): "203.0.113.2",
                    ], body: ByteBuffer(string: #"{"environment":"production","permission":"denied"}"#))
                #expect(refused.status == 422, "\(refused.text)")
            }
            for _ in 0..<2 {
                #expect(try await Self.register(client, UUID(), from: "203.0.113.2").status == 201)
            }
            // A secret key has no client limit. Its new instances count for the tenant.
            for _ in 0..<2 {
                #expect(try await Self.register(client, UUID(), key: client.api.secret).status == 201)
            }
            for key in [client.api.secret, client.api.publishable] {
                let refused = try await Self.register(client, UUID(), from: "203.0.113.3", key: key)
                #expect(refused.status == 429 && refused["limit"] == "new_instances", "\(refused.text)")
            }
            #expect(try await Self.register(client, known[0]).status == 200)
            #expect(instances.count == 6)
        }
        #expect(settings.limits.newInstances == RateLimit("50:20000"))
        #expect(settings.limits.clientNewInstances == RateLimit("1:2000"))
    }

    /// Concurrent registrations do not exceed the limit.
    @Test func concurrentRegistrationsDoNotExceedTheLimit() async throws {
        let limits = RequestLimits(newInstances: try Self.limit(9), clientNewInstances: try Self.limit(5))
        let api = TestAPI(limits: limits)
        // In this process, so that the requests run concurrently.
        try await api.test(over: [.task]) { client in
            let responses = try await withThrowingTaskGroup(of: (KeyKind, Int).self) { group in
                for key in [client.api.publishable, client.api.secret] {
                    for _ in 0..<20 {
                        group.addTask { (key.kind, try await Self.register(client, UUID(), key: key).status) }
                    }
                }
                return try await group.reduce(into: [(KeyKind, Int)]()) { $0.append($1) }
            }
            #expect(Set(responses.map(\.1)) == [201, 429])
            #expect(responses.count { $0.1 == 201 } == 9)
            #expect(responses.count { $0 == (.publishable, 201) } <= 5)
            #expect(client.api.instances.count == 9)
        }
    }

    @Test func concurrentRequestsPerTenantAreBounded() async throws {
        let concurrency = TenantConcurrency(maximum: 2)
        let one = TenantID(UUID())
        try await concurrency.with(one) {
            try await concurrency.with(one) {
                await #expect(throws: Problem.self) { try await concurrency.with(one) {} }
                try await concurrency.with(TenantID(UUID())) {}
            }
            try await concurrency.with(one) {}
        }
    }

    /// The publishable key is part of the app, so anyone can have it.
    @Test func clientGetsOnlyAShareOfATenantsConcurrency() async throws {
        let concurrency = TenantConcurrency(maximum: 20)
        let one = TenantID(UUID())
        let address = Client.Identity.address(Client.Address(IPAddress("203.0.113.1")))
        try await concurrency.with(one, client: address) {
            try await concurrency.with(one, client: address) {
                await #expect(throws: Problem.self) { try await concurrency.with(one, client: address) {} }
                try await concurrency.with(one, client: .installation([1])) {}
                try await concurrency.with(TenantID(UUID()), client: address) {}
                try await concurrency.with(one) {}
            }
            try await concurrency.with(one, client: address) {}
        }
    }

    /// However many tenants share the permits, some remain free for another one.
    @Test func fewTenantsCannotUseAllPermits() throws {
        for count in [1, 4, 40] {
            let concurrency = TenantConcurrency(maximum: 100, ofAll: 400, refusalOfAll: .tooManyDownloads)
            var permits: [TenantConcurrency.Permit] = []
            var refusals: Set<String> = []
            for _ in 0..<100 {
                for tenant in 0..<count {
                    do throws(Problem) {
                        permits.append(try concurrency.permit(TenantID(number: UInt8(tenant + 1))))
                    } catch {
                        refusals.insert(error.detail)
                    }
                }
            }
            #expect(permits.count == [1: 100, 4: 320, 40: 391][count], "\(count) tenants")
            #expect(refusals == (count == 1 ? [] : [Problem.tooManyDownloads.detail]))
            let other = try concurrency.permit(TenantID(number: 200))
            withExtendedLifetime((permits, other)) {}
        }
    }

    @Test func clientHasAShareOverAllTenants() throws {
        let concurrency = TenantConcurrency(maximum: 100, ofClient: 3, ofAll: 400)
        let client = Client.Identity.installation([1])
        var permits = try (1...3).map { try concurrency.permit(TenantID(number: $0), client: client) }
        #expect(throws: Problem.self) { try concurrency.permit(TenantID(number: 4), client: client) }
        // Neither other clients nor secret keys count.
        _ = try concurrency.permit(TenantID(number: 4), client: .installation([2]))
        for _ in 0..<4 { permits.append(try concurrency.permit(TenantID(number: 1))) }
        permits.removeFirst()
        _ = try concurrency.permit(TenantID(number: 4), client: client)
        withExtendedLifetime(permits) {}
    }

    @Test(.timeLimit(.minutes(30))) func clientWithholdingBodiesDoesNotBlockItsTenant() async throws {
        var api = TestAPI()
        // One client may use one of these two requests.
        api.settings.tenantConcurrency = 2
        let settings = api.settings
        let (publishable, secret) = (api.publishable, api.secret)
        let pauses = Mutex(0)
        let log = api.log
        let responder = APIResponder(
            settings, api.dependencies, RequestObserver(), logger: Logger(label: "test") { _ in log },
            sleep: { _ in pauses.withLock { $0 += 1 } })
        let respond = { @Sendable (key: APIKey, body: ServerRequestBody) async -> ServerResponse in
            await responder.respond(
                to: ServerRequest(
                    .post, "/v1/confirmations", authority: TestAPI.host,
                    fields: [.authorization: "Bearer \(key.text)", .contentType: "application/json"]),
                body: body)
        }
        // The first request occupies its slot from when its body is requested until the body ends.
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let source = BodySource(want: { ask.finish() }, resume: {})
        let body = source.body
        async let first = respond(publishable, body)
        for await _ in asked {}
        let refused = await respond(publishable, ServerRequestBody(ByteBuffer(string: "{}")))
        #expect(refused.status.code == 429)
        // The refusal is delayed, because many refusals would cost more than the requests.
        #expect(pauses.withLock { $0 } == 1)
        let others = await respond(secret, ServerRequestBody(ByteBuffer(string: "{}")))
        #expect(others.status.code == 400)
        source.finish()
        #expect(await first.status.code == 400)
    }

    @Test func keyWithoutScopeIsForbidden() async throws {
        try await TestAPI().test { client in
            let confirmer = client.api.confirmer
            let refused = try await client.send(.get, "/v1/lookup?url=https://example.com", key: confirmer)
            #expect(refused.status == 403 && refused.code == "forbidden")
            #expect(try await client.post("/v1/confirmations", key: confirmer, [:]).status == 400)
        }
    }

    @Test func usedKeysAreRecorded() async throws {
        let api = TestAPI()
        try await api.test { client in
            _ = try await client.lookUp(Self.url)
            _ = try await client.send(
                .get, "/v1/lookup?url=https://example.com", key: client.api.suspended)
        }
        // Refused requests count as a use of the key, too.
        #expect(api.usage.keys.count == 4 && Set(api.usage.keys).count == 2)
    }
}
