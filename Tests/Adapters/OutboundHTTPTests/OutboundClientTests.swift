import AsyncHTTPClient
import LocalServers
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

@testable import OutboundHTTP

@Suite(.timeLimit(.minutes(2))) struct OutboundClientTests {
    private static func fetch(
        _ path: String = "/page", limit: Int = 1_000, timeout: Duration = .seconds(60),
        _ page: @escaping @Sendable (LocalWebServer.Request) -> LocalWebServer.Page?
    ) async throws -> OutboundAnswer {
        try await LocalWebServer.lend(page) { server in
            try await OutboundClient.withClient(timeout: timeout) { client in
                try await client.get("http://127.0.0.1:\(server.port)\(path)", limit: limit)
            }
        }
    }

    @Test func aPageWithItsStatusAndType() async throws {
        let page = try await Self.fetch { request in
            LocalWebServer.Page(
                "path \(request.path)", status: 404, headers: [("Content-Type", "text/plain; charset=utf-8")])
        }
        #expect(page.status == 404)
        #expect(page.contentType == "text/plain; charset=utf-8")
        #expect(String(decoding: page.body, as: UTF8.self) == "path /page")
        #expect(!page.isCutOff)
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let page = try await Self.fetch { request in
            request.path == "/page"
                ? LocalWebServer.Page("", status: 302, headers: [("Location", "/other")])
                : LocalWebServer.Page("followed")
        }
        #expect(page.status == 302)
        #expect(page.location == "/other")
    }

    @Test(arguments: [(999, false), (1_000, false), (1_001, true), (5_000_000, true)])
    func noMoreThanTheLimitIsTaken(length: Int, isCutOff: Bool) async throws {
        let page = try await Self.fetch { _ in LocalWebServer.Page(String(repeating: "x", count: length)) }
        #expect(page.body.count == min(length, 1_000))
        #expect(page.isCutOff == isCutOff)
    }

    @Test func silenceAndAPageThatNeverEndsAreNoAnswer() async throws {
        await #expect(throws: OutboundError.late) {
            try await Self.fetch(timeout: .milliseconds(200)) { _ in nil }
        }
        await #expect(throws: OutboundError.late) {
            try await Self.fetch(timeout: .milliseconds(200)) { _ in LocalWebServer.Page("x", isUnended: true)
            }
        }
    }

    @Test func aRefusedConnectionIsSaidToBe() async throws {
        let port = try await LocalWebServer.lend({ _ in nil }) { $0.port }
        let error = await #expect(throws: OutboundError.self) {
            try await OutboundClient.withClient { try await $0.get("http://127.0.0.1:\(port)/", limit: 10) }
        }
        #expect(error?.reason == "Connection refused")
    }

    @Test func nobodyThereIsNoAnswer() async throws {
        try await OutboundClient.withClient { client in
            for url in ["http://127.0.0.1:1/", "nonsense", "", "ftp://127.0.0.1/", "https://"] {
                await #expect(throws: OutboundError.self, "\(url)") { try await client.get(url, limit: 10) }
            }
        }
    }

    /// A host is asked for by its own name wherever the connection leads, and must have a certificate.
    @Test func aDetourKeepsTheHostAndItsCertificate() async throws {
        try await TestCertificate.lend(for: ["shop.example.com"]) { certificate in
            try await LocalWebServer.lend(over: certificate, { LocalWebServer.Page($0.host) }) { server in
                let detour = try #require(
                    OutboundClient.Detour(around: "shop.example.com", to: "127.0.0.1:\(server.port)"))
                let page = try await OutboundClient.withClient(
                    detour: detour, authorities: certificate.path
                ) { try await $0.get("https://shop.example.com/page", limit: 100) }
                #expect(String(decoding: page.body, as: UTF8.self) == "shop.example.com")

                // The system's authorities did not sign it, and it is not another host's.
                await #expect(throws: OutboundError.self) {
                    try await OutboundClient.withClient(detour: detour) {
                        try await $0.get("https://shop.example.com/page", limit: 100)
                    }
                }
                await #expect(throws: OutboundError.self) {
                    try await OutboundClient.withClient(authorities: certificate.path) {
                        try await $0.get("https://127.0.0.1:\(server.port)/page", limit: 100)
                    }
                }
            }
        }
    }

    @Test func earlierTLSThan12IsRefused() async throws {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await LocalWebServer.lend(over: certificate, speaksOldTLSOnly: true, { _ in .init("") }) {
                let url = "https://localhost:\($0.port)/"
                let error = await #expect(throws: OutboundError.self) {
                    try await OutboundClient.withClient(authorities: certificate.path) {
                        try await $0.get(url, limit: 100)
                    }
                }
                #expect(error?.reason == "the connection could not be secured")
                #expect(error?.detail != error?.reason)
                // Who takes what it speaks is answered.
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.minimumTLSVersion = .tlsv1
                tls.trustRoots = .file(certificate.path)
                let configuration = HTTPClient.Configuration(tlsConfiguration: tls)
                let status = try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                    try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60)).status.code
                }
                #expect(status == 200)
            }
        }
    }

    @Test func aDetourHasAnAddressAndAPort() {
        for text in ["", "127.0.0.1", "127.0.0.1:", ":443", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x"] {
            #expect(OutboundClient.Detour(around: "example.com", to: text) == nil, "\(text)")
        }
        #expect(OutboundClient.Detour(around: "example.com", to: "[::1]:443")?.address == "::1")
    }
}

extension OutboundClient {
    fileprivate func get(_ url: String, limit: Int) async throws -> OutboundAnswer {
        try await execute(HTTPClientRequest(url: url), limit: limit)
    }
}
