import AsyncHTTPClient
import Formats
import Foundation
import LocalServers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Platform
import Synchronization
import Testing

@testable import OutboundHTTP

@Suite(.timeLimit(.minutes(30))) struct OutboundClientTests {
    /// A client that may connect to this machine.
    private static func local(
        _ authorities: String? = nil, timeout: Duration = .seconds(60)
    ) -> OutboundClient.Settings {
        OutboundClient.Settings(
            authorities: authorities, allowed: ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) },
            timeout: timeout)
    }

    private static func fetch(
        _ path: String = "/page", limit: Int = 1_000, timeout: Duration = .seconds(60),
        _ page: @escaping @Sendable (LocalWebServer.Request) -> LocalWebServer.Page?
    ) async throws -> OutboundResponse {
        try await LocalWebServer.lend(page) { server in
            try await OutboundClient.withClient(local(timeout: timeout)) { client in
                try await client.get("http://127.0.0.1:\(server.port)\(path)", limit: limit)
            }
        }
    }

    @Test func pageHasStatusTypeAndBody() async throws {
        let page = try await Self.fetch { request in
            LocalWebServer.Page(
                "path \(request.path)", status: 404, headers: [("Content-Type", "text/plain; charset=utf-8")])
        }
        #expect(page.status == 404)
        #expect(page.contentType == "text/plain; charset=utf-8")
        #expect(String(decoding: page.body, as: UTF8.self) == "path /page")
        #expect(!page.isCutOff)
    }

    @Test func identityCodingIsRequestedAndOtherCodingIsReported() async throws {
        let plain = try await Self.fetch { request in
            let codings = request.headers.filter { $0.name.lowercased() == "accept-encoding" }.map(\.value)
            return LocalWebServer.Page(codings.joined(separator: ";"))
        }
        #expect(String(decoding: plain.body, as: UTF8.self) == "identity" && plain.contentCoding == nil)
        let coded = try await Self.fetch { _ in
            LocalWebServer.Page("x", status: 200, headers: [("Content-Encoding", "GZIP")])
        }
        #expect(coded.contentCoding == "gzip")
    }

    @Test func bodyWithoutCloseNotifyIsAnError() async throws {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await LocalWebServer.lend(
                over: certificate,
                { _ in
                    var page = LocalWebServer.Page("half of")
                    page.isCutOff = true
                    return page
                }
            ) { server in
                try await OutboundClient.withClient(Self.local(certificate.path)) { client in
                    let error = await #expect(throws: OutboundError.self) {
                        try await client.get("https://localhost:\(server.port)/", limit: 1_000)
                    }
                    #expect(error?.reason == "the connection was closed before the end of the response")
                }
            }
        }
    }

    @Test func redirectIsNotFollowed() async throws {
        let page = try await Self.fetch { request in
            request.path == "/page"
                ? LocalWebServer.Page("", status: 302, headers: [("Location", "/other")])
                : LocalWebServer.Page("followed")
        }
        #expect(page.status == 302)
        #expect(page.location == "/other")
    }

    @Test(arguments: [(999, false), (1_000, false), (1_001, true), (5_000_000, true)])
    func bodyIsCutOffAtTheLimit(length: Int, isCutOff: Bool) async throws {
        let page = try await Self.fetch { _ in LocalWebServer.Page(String(repeating: "x", count: length)) }
        #expect(page.body.count == min(length, 1_000))
        #expect(page.isCutOff == isCutOff)
    }

    @Test func silentServerAndEndlessBodyTimeOut() async throws {
        await #expect(throws: OutboundError.late) {
            try await Self.fetch(timeout: .milliseconds(200)) { _ in nil }
        }
        await #expect(throws: OutboundError.late) {
            try await Self.fetch(timeout: .milliseconds(200)) { _ in LocalWebServer.Page("x", isUnended: true)
            }
        }
    }

    @Test func refusedConnectionIsReported() async throws {
        let error = await #expect(throws: OutboundError.self) {
            try await OutboundClient.withClient(Self.local()) {
                try await $0.get("http://127.0.0.1:1/", limit: 10)
            }
        }
        #expect(error?.reason == "Connection refused")
    }

    @Test func unreachableOrInvalidURLIsAnError() async throws {
        try await OutboundClient.withClient(Self.local()) { client in
            for url in ["http://127.0.0.1:1/", "nonsense", "", "ftp://127.0.0.1/", "https://"] {
                await #expect(throws: OutboundError.self, "\(url)") { try await client.get(url, limit: 10) }
            }
        }
    }

    /// The request names the host itself, wherever the connection leads, and the host's certificate is verified.
    @Test func detourKeepsHostNameAndVerifiesCertificate() async throws {
        try await TestCertificate.lend(for: ["shop.example.com"]) { certificate in
            try await LocalWebServer.lend(over: certificate, { LocalWebServer.Page($0.host) }) { server in
                let detour = try #require(
                    OutboundClient.Detour(around: "shop.example.com", to: "127.0.0.1:\(server.port)"))
                let page = try await OutboundClient.withClient(
                    OutboundClient.Settings(authorities: certificate.path), detour: detour
                ) { try await $0.get("https://shop.example.com/page", limit: 100) }
                #expect(String(decoding: page.body, as: UTF8.self) == "shop.example.com")

                // The certificate is not signed by an authority of the system, and it is for another host.
                await #expect(throws: OutboundError.self) {
                    try await OutboundClient.withClient(detour: detour) {
                        try await $0.get("https://shop.example.com/page", limit: 100)
                    }
                }
                await #expect(throws: OutboundError.self) {
                    try await OutboundClient.withClient(Self.local(certificate.path)) {
                        try await $0.get("https://127.0.0.1:\(server.port)/page", limit: 100)
                    }
                }
            }
        }
    }

    @Test func tlsBelow12IsRejected() async throws {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await LocalWebServer.lend(over: certificate, speaksOldTLSOnly: true, { _ in .init("") }) {
                let url = "https://localhost:\($0.port)/"
                let error = await #expect(throws: OutboundError.self) {
                    try await OutboundClient.withClient(Self.local(certificate.path)) {
                        try await $0.get(url, limit: 100)
                    }
                }
                #expect(error?.reason == "the connection could not be secured")
                #expect(error?.detail != error?.reason)
                // A client that supports the server's TLS version gets a response.
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

    // MARK: Hostile responses

    /// Endless responses: their first bytes, and the bytes that are repeated.
    private static let endlessResponses = [
        ("", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"),
        ("", "HTTP/1.1 100 \r\n\r\n"),
        ("", "\r\n"),
        ("HTTP/1.1 200 ", "a"),
        ("HTTP/1.1 200 OK\r\n", "a: b\r\n"),
        ("HTTP/1.1 200 OK\r\nLink: ", "a"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;a=b\r\nx\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "a: b\r\n"),
    ]

    /// The limit of the body is the limit of a page, 1 MiB. No response reaches the time limit.
    @Test(arguments: endlessResponses)
    func endlessResponseEndsByItsBytes(start: String, piece: String) async throws {
        try await HostileServer.lend(start: start, endless: piece) { server in
            try await OutboundClient.withClient(Self.local(timeout: .seconds(600))) { client in
                let error = await #expect(throws: OutboundError.self) {
                    try await client.get("http://127.0.0.1:\(server.port)/", limit: 1_048_577)
                }
                let reasons = ["the response is too long", "the response is not valid HTTP"]
                #expect(reasons.contains(error?.reason ?? ""), "\(String(describing: error))")
            }
            // This includes the buffers of two sockets until the connection was closed.
            #expect(server.sentByteCount < 33_554_432)
        }
    }

    /// With TLS, no more is read either, after the budget is used up or after the client has its part of the body.
    @Test(arguments: [
        ("", "HTTP/1.1 103 Early Hints\r\n\r\n", 1_048_577),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 1_048_577),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 10),
    ])
    func endlessResponseOverTLSEndsByItsBytes(start: String, piece: String, limit: Int) async throws {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await HostileServer.lend(start: start, endless: piece, over: certificate) { server in
                let settings = Self.local(certificate.path, timeout: .seconds(600))
                try await OutboundClient.withClient(settings) { client in
                    do {
                        let page = try await client.get("https://localhost:\(server.port)/", limit: limit)
                        #expect(page.isCutOff && limit == 10)
                    } catch let error as OutboundError {
                        #expect(error == .tooLong && limit != 10)
                    }
                }
                #expect(server.sentByteCount < 33_554_432)
            }
        }
    }

    /// The responses on one connection together exceed the budget of one response.
    @Test func eachRequestHasTheWholeBudget() async throws {
        try await LocalWebServer.lend({ _ in .init(String(repeating: "x", count: 10_000)) }) { server in
            var settings = Self.local()
            settings.responseBudget = 15_000
            try await OutboundClient.withClient(settings) { client in
                for _ in 0..<10 {
                    let page = try await client.get("http://127.0.0.1:\(server.port)/", limit: 20_000)
                    #expect(page.body.count == 10_000)
                }
            }
            settings.responseBudget = 9_000
            try await OutboundClient.withClient(settings) { client in
                _ = await #expect(throws: OutboundError.tooLong) {
                    try await client.get("http://127.0.0.1:\(server.port)/", limit: 20_000)
                }
            }
        }
    }

    /// Data from tenants' servers is read on other event loops than requests.
    @Test func serversOfTenantsHaveEventLoopsOfTheirOwn() {
        let tenants = BoundHosts.eventLoops(for: OutboundClient.Settings())
        #expect(tenants !== MultiThreadedEventLoopGroup.singleton)
        let operators = BoundHosts.eventLoops(for: OutboundClient.Settings(responseBudget: nil))
        #expect(operators === MultiThreadedEventLoopGroup.singleton)
    }

    // MARK: Addresses

    @Test(arguments: LocalWebServer.hostsThatAreNotPublic)
    func nonPublicHostsAreNotContacted(host: String) async throws {
        let asked = Mutex(0)
        try await LocalWebServer.lend({ _ in
            asked.withLock { $0 += 1 }
            return .init("secret")
        }) { server in
            try await OutboundClient.withClient(OutboundClient.Settings(timeout: .seconds(60))) { client in
                for scheme in ["http", "HTTP", "https"] {
                    await #expect(throws: OutboundError.self, "\(scheme)") {
                        try await client.get("\(scheme)://\(host):\(server.port)/", limit: 100)
                    }
                }
            }
        }
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func errorDetailNamesTheNonPublicAddress() async throws {
        try await OutboundClient.withClient(resolver: { _ in ["10.1.2.3", "127.0.0.1"] }) { client in
            let error = await #expect(throws: OutboundError.self) {
                try await client.get("http://shop.example.com/", limit: 100)
            }
            #expect(error?.reason == "the host's address is not public")
            #expect(error?.detail.contains("10.1.2.3") == true)
            #expect(error?.detail.contains("--outbound-allow") == true)
        }
    }

    /// The name resolves to a public address when it is checked, and to this machine when the client connects.
    @Test func connectionUsesTheVerifiedAddress() async throws {
        let asked = Mutex(0)
        try await LocalWebServer.lend({ _ in .init("the one that was looked at") }) { server in
            let only = OutboundClient.Settings(
                allowed: [try #require(AddressRange("127.0.0.1"))], timeout: .seconds(60))
            let resolver: BoundHosts.Resolver = { _ in
                let number = asked.withLock { count in
                    count += 1
                    return count
                }
                return number == 1 ? ["127.0.0.1"] : ["127.0.0.2"]
            }
            try await OutboundClient.withClient(only, resolver: resolver) { client in
                for _ in 0..<3 {
                    let page = try await client.get("http://shop.example.com:\(server.port)/", limit: 100)
                    #expect(String(decoding: page.body, as: UTF8.self) == "the one that was looked at")
                }
            }
            #expect(asked.withLock { $0 } == 1)
        }
    }

    /// Addresses that are not permitted are skipped, and so are addresses without a response.
    @Test func nextAddressIsTriedIfOneIsUnreachable() async throws {
        try await LocalWebServer.lend({ LocalWebServer.Page($0.host) }) { server in
            let resolver: BoundHosts.Resolver = { _ in ["10.0.0.1", "127.0.0.2", "127.0.0.1"] }
            let host = "shop.example.com:\(server.port)"
            try await OutboundClient.withClient(Self.local(), resolver: resolver) { client in
                let page = try await client.get("http://\(host)/", limit: 100)
                #expect(String(decoding: page.body, as: UTF8.self) == host)
            }
            try await OutboundClient.withClient(Self.local(), resolver: { _ in ["127.0.0.2", "127.0.0.3"] }) {
                let error = await #expect(throws: OutboundError.self) { [client = $0] in
                    try await client.get("http://\(host)/", limit: 100)
                }
                #expect(error?.reason == "Connection refused")
            }
        }
    }

    /// The host's name servers drop every query. The system's lookup cannot be cancelled.
    @Test func silentNameServerTimesOut() async throws {
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let resolver: BoundHosts.Resolver = { _ in
            guard await Thread.result(of: { end.wait() }) == nil else { return ["127.0.0.1"] }
            throw CancellationError()
        }
        let hasty = OutboundClient.Settings(timeout: .milliseconds(10))
        try await OutboundClient.withClient(hasty, resolver: resolver) { client in
            _ = await #expect(throws: OutboundError.late) {
                try await client.get("http://shop.example.com/", limit: 100)
            }
        }
    }

    /// Many hosts at once, each with its own short-lived client.
    @Test func concurrentRequestsReachTheirOwnHosts() async throws {
        let count = 200
        // The server sends no response before all requests have arrived.
        let allArrived = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        defer { allArrived.succeed() }
        let arrived = Mutex(0)
        try await LocalWebServer.lend(
            respondingAfter: allArrived.futureResult,
            { request in
                let isLast = arrived.withLock {
                    $0 += 1
                    return $0 == count
                }
                if isLast { allArrived.succeed() }
                return LocalWebServer.Page(request.host)
            }
        ) { server in
            let settings = Self.local(timeout: .seconds(600))
            try await OutboundClient.withClient(settings, resolver: { _ in ["127.0.0.1"] }) { client in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<count {
                        group.addTask {
                            let host = "shop\(number % 100).example.com:\(server.port)"
                            let page = try await client.get("http://\(host)/", limit: 100)
                            return String(decoding: page.body, as: UTF8.self) == host
                        }
                    }
                    for try await isRight in group { #expect(isRight) }
                }
            }
        }
    }

    @Test func detourRequiresAddressAndPort() {
        for text in ["", "127.0.0.1", "127.0.0.1:", ":443", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x"] {
            #expect(OutboundClient.Detour(around: "example.com", to: text) == nil, "\(text)")
        }
        #expect(OutboundClient.Detour(around: "example.com", to: "[::1]:443")?.address == "::1")
    }
}

extension OutboundClient {
    fileprivate func get(_ url: String, limit: Int) async throws -> OutboundResponse {
        try await execute(HTTPClientRequest(url: url), limit: limit)
    }
}
