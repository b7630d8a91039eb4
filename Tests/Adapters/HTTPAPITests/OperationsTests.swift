import Formats
import Foundation
import HTTPTypes
import Logging
import Lookups
import Tenancy
import Testing

@testable import HTTPAPI

/// Endpoints for monitors, on the operations port and on the public port.
@Suite struct OperationsTests {
    static let paths = ["/livez", "/readyz", "/metrics"]

    @Test func operationsPathsAreNotFoundOnProvedHost() async throws {
        let api = TestAPI()
        try await api.test { client in
            for path in Self.paths + ["/metrics/", "//readyz"] {
                for method in [HTTPRequest.Method.get, .head, .post, .delete] {
                    try api.proveHost(false)
                    let known = try await client.send(method, path, key: nil)
                    #expect(
                        known.status == ([.get, .head].contains(method) ? 200 : 405), "\(method) \(path)")
                    try api.proveHost()
                    let response = try await client.send(method, path, key: nil)
                    let unknown = try await client.send(method, "/nothing", key: nil)
                    #expect(response.status == 404, "\(method) \(path)")
                    #expect(response.code == unknown.code && response.headers[.allow] == nil)
                    #expect(response.headers.map(\.name) == unknown.headers.map(\.name))
                }
            }
            for path in [
                "/tls/allowed?host=localhost", "//tls//allowed/?host=localhost",
                "/tls/%61llowed?host=localhost", "/%6Civez",
            ] {
                #expect(try await client.send(.get, path, key: nil).code == "not_found")
            }
            #expect(try await client.send(.get, "/openapi.json", key: nil).status == 200)
            #expect(try await client.send(.get, "/v1/lookup", key: nil).status == 401)
        }
    }

    @Test func livezNamesVersionAndCommit() async throws {
        try await TestAPI().test { client in
            let document = try #require(
                try await client.send(.get, "/openapi.json", key: nil).json?.objectValue)
            let body = try #require(try await client.send(.get, "/livez", key: nil).json?.objectValue)
            #expect(Set(body.map(\.key)) == ["commit", "status", "version"])
            #expect(body["version"] != nil && body["version"] == document["info"]?.objectValue?["version"])
        }
    }

    @Test func certificatesAreAllowedOnlyForProvedHosts() async throws {
        let api = TestAPI()
        try api.proveHost()
        try await PipelineTests.serve(api, fromMemory: true) { port in
            for query in [
                "host=localhost", "host=LocalHost", "host=localhost.", "host=localhost:443",
                "domain=localhost",
                "host=%6Cocalhost", "host=localhost&domain=example.com",
            ] {
                let response = try await PipelineTests.send(
                    ["GET /tls/allowed?\(query) HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n"],
                    to: port)
                #expect(response.hasPrefix("HTTP/1.1 200 "), "\(query): \(response)")
                #expect(response.hasSuffix(#"{"host":"localhost"}"#), "\(query): \(response)")
            }
            for query in [
                "host=example.com", "host=a.localhost", "host=", "", "host=localhost%00",
                "domain=example.com",
                "host=example.com&domain=localhost", "host=" + String(repeating: "a", count: 300),
            ] {
                try await Self.expect("404", of: "/tls/allowed?\(query)", host: "other", at: port)
            }
            for query in ["name=localhost", "host=localhost&host=localhost", "host=%ZZ"] {
                try await Self.expect("400", of: "/tls/allowed?\(query)", host: "other", at: port)
            }
            try api.proveHost(false)
            try await Self.expect("404", of: "/tls/allowed?host=localhost", host: "other", at: port)
        }
    }

    @Test(arguments: ["LocalHost", "localhost:8080", "localhost.", "localhost.:80"])
    func provedHostIsRecognizedInEverySpelling(host: String) async throws {
        let api = TestAPI()
        try api.proveHost()
        try await PipelineTests.serve(api, fromMemory: true) { port in
            try await Self.expect("404", of: "/metrics", host: host, at: port)
            try await Self.expect("200", of: "/metrics", host: "not.\(host)", at: port)
        }
    }

    private static func expect(
        _ status: String, of path: String, _ method: String = "GET", host: String = "localhost", at port: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let response = try await PipelineTests.send(
            ["\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n"], to: port)
        #expect(
            response.hasPrefix("HTTP/1.1 \(status) "), "\(method) \(path) at \(host): \(response)",
            sourceLocation: sourceLocation)
    }

    private static func server(
        _ api: TestAPI, operationsPort: Int = 0, limits: RequestLimits? = nil,
        onListening: @escaping @Sendable (APIServer.Listener, Int) async -> Void = { _, _ in }
    ) -> APIServer {
        var settings = APIServer.Settings.forBusyMachines
        settings.port = 0
        settings.operations = ("127.0.0.1", operationsPort)
        if let limits { settings.limits = limits }
        return APIServer(
            settings, api.dependencies, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onListening: onListening)
    }

    @Test(.timeLimit(.minutes(30))) func operationsPortServesOnlyMonitoringPaths() async throws {
        let api = TestAPI()
        try api.proveHost()
        let listening = AsyncStream<(APIServer.Listener, Int)>.makeStream()
        let server = Self.server(api) { listening.continuation.yield(($0, $1)) }
        try await PipelineTests.run(server) {
            var ports: [APIServer.Listener: Int] = [:]
            for await (listener, port) in listening.stream {
                ports[listener] = port
                if ports.count == 2 { break }
            }
            let (everyone, monitors) = (try #require(ports[.api]), try #require(ports[.operations]))
            for path in Self.paths + ["/tls/allowed?host=localhost"] {
                // The operations port serves every host.
                for host in ["localhost", "example.com"] {
                    try await Self.expect("200", of: path, host: host, at: monitors)
                    for method in ["GET", "POST"] {
                        try await Self.expect("404", of: path, method, host: host, at: everyone)
                    }
                }
                try await Self.expect("405", of: path, "POST", at: monitors)
            }
            for path in ["/openapi.json", "/v1/lookup", "/.well-known/apple-app-site-association", "/"] {
                try await Self.expect("404", of: path, at: monitors)
            }
            // `AccessTests` asserts that the public port does not name quarantined tenants.
            let tenant = TenantID(UUID())
            for isQuarantined in [true, false] {
                api.table.setQuarantined(isQuarantined ? Date() : nil, tenant)
                let text = try await PipelineTests.send(
                    ["GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], to: monitors)
                #expect(text.contains(#""tenant":"\#(tenant)""#) == isQuarantined, "\(text)")
            }
            for path in ["/problems", "/problems/not_found"] {
                for port in [everyone, monitors] { try await Self.expect("200", of: path, at: port) }
            }
            try await Self.expect("200", of: "/openapi.json", at: everyone)
            try await Self.expect("401", of: "/v1/lookup", at: everyone)
        }
    }

    @Test(.timeLimit(.minutes(30))) func monitorsAreNeverLimited() async throws {
        let listening = AsyncStream<(APIServer.Listener, Int)>.makeStream()
        let server = Self.server(TestAPI(), limits: RequestLimits(client: RateLimit(perSecond: 1, burst: 1)))
        {
            listening.continuation.yield(($0, $1))
        }
        try await PipelineTests.run(server) {
            for await (listener, port) in listening.stream where listener == .operations {
                for path in Self.paths + Self.paths + Self.paths {
                    try await Self.expect("200", of: path, at: port)
                }
                break
            }
        }
    }

    @Test(.timeLimit(.minutes(30))) func serverFailsIfOperationsPortIsTaken() async throws {
        try await PipelineTests.serve(TestAPI(), fromMemory: true) { port in
            await #expect(throws: (any Error).self) {
                try await Self.server(TestAPI(), operationsPort: port).run()
            }
        }
    }
}
