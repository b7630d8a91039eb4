import Administration
import Formats
import Foundation
import LocalServers
import Synchronization
import Tenancy
import Testing

@testable import ServerClient

@Suite struct APIConnectionTests {
    private static let key = "dsk_secret"
    private static let clip = #"{"bundleID":"a.b.c","teamID":"ABCDE12345","multiBusiness":false}"#
    private static let problem = #"""
        {"type":"/problems/in_use","title":"It is in use","status":409,"code":"in_use","detail":"no\u001b[2J",
        "requestID":"7M2V9QK4T1XE"}
        """#

    /// Requests a clip from a server with this response.
    private static func show(
        _ page: LocalWebServer.Page, key: String = key
    ) async throws -> (clip: Clip, requests: [LocalWebServer.Request]) {
        let requests = Mutex<[LocalWebServer.Request]>([])
        let clip = try await LocalWebServer.lend({ request in
            requests.withLock { $0.append(request) }
            return page
        }) { server in
            try await APIConnection.with(try ServerURL("http://127.0.0.1:\(server.port)/"), key: key) {
                try await APIItems<Clip>($0).show(try BundleID("a.b.c"))
            }
        }
        return (clip, requests.withLock { $0 })
    }

    @Test func requestSendsKeyToThePath() async throws {
        let (clip, requests) = try await Self.show(
            .init(Self.clip, headers: [("Content-Type", "application/json"), ("ETag", "\"1\"")]))
        #expect(clip.bundleID.text == "a.b.c")
        let request = try #require(requests.first)
        #expect(requests.count == 1 && request.path == "/v1/clips/a.b.c" && request.method == "GET")
        let sent = request.headers.filter { $0.name.lowercased() == "authorization" }.map(\.value)
        #expect(sent == ["Bearer \(Self.key)"])
    }

    @Test func listContinuesAfterAnEmptyPage() async throws {
        let asked = Mutex(0)
        let items = try await LocalWebServer.lend({ _ in
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            return .init(
                isFirst ? #"{"data":[],"next":"Nw"}"# : #"{"data":[{"id":1}],"next":null}"#,
                headers: [("Content-Type", "application/json")])
        }) { server in
            try await APIConnection.with(try ServerURL("http://127.0.0.1:\(server.port)/"), key: Self.key) {
                try await $0.list("/v1/audit-log", where: [("actor", "key:1")])
            }
        }
        #expect(items.map { $0["id"] } == [1])
        #expect(asked.withLock { $0 } == 2)
    }

    @Test func redirectIsNotFollowed() async throws {
        let asked = Mutex(0)
        try await LocalWebServer.lend({ _ in
            asked.withLock { $0 += 1 }
            return .init(Self.clip)
        }) { other in
            let redirect = LocalWebServer.Page(
                "", status: 307, headers: [("Location", "http://127.0.0.1:\(other.port)/")])
            await #expect(throws: ServerError.self) { try await Self.show(redirect) }
        }
        #expect(asked.withLock { $0 } == 0)
    }

    @Test(arguments: [
        "not JSON", "[]", "{}", #"{"bundleID":"a.b.c"}"#, String(repeating: " ", count: 5_000_000),
    ])
    func responseNotFromDoorstepIsUnexpected(body: String) async throws {
        for status in [200, 404, 500] {
            do {
                _ = try await Self.show(.init(body, status: status, headers: [("ETag", "\"1\"")]))
                Issue.record("it was taken for an answer")
            } catch let error as ServerError {
                guard case .unexpected = error else {
                    Issue.record(error)
                    continue
                }
            }
        }
    }

    @Test func refusalNamesCodeAndRequest() async throws {
        do {
            _ = try await Self.show(.init(Self.problem, status: 409))
            Issue.record("it was not refused")
        } catch let error as ServerError {
            #expect("\(error)" == "no [2J (in_use; request 7M2V9QK4T1XE)")
        }
    }

    @Test(arguments: ["", "dsk_a\r", "dsk a", "dsk_\u{e9}"])
    func malformedKeyIsNeitherSentNorShown(key: String) async throws {
        do {
            _ = try await Self.show(.init(Self.clip), key: key)
            Issue.record("it was sent")
        } catch let error as ServerError {
            guard case .invalidKey = error else {
                Issue.record(error)
                return
            }
            #expect(!"\(error)".contains("dsk"))
        }
    }

    @Test func serverURLMustBeHTTPSOrLocal() throws {
        for text in [
            "https://example.com", "https://example.com:8443/doorstep/", "http://localhost:8080",
            "http://[::1]",
        ] {
            #expect(try !ServerURL(text).description.hasSuffix("/"))
        }
        for (text, same) in [
            ("HTTPS://Example.com:443//", "https://example.com"),
            ("https://example.com:8443/Doorstep/", "https://example.com:8443/Doorstep"),
            ("https://example.com:80", "https://example.com:80"),
            ("http://LOCALHOST:80/a%2Fb", "http://localhost/a%2Fb"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
        ] {
            #expect(try ServerURL(text).description == same)
            #expect(try ServerURL(text) == ServerURL(same))
        }
        for text in [
            "http://example.com", "http://127.0.0.1.example.com", "ftp://example.com", "example.com",
            "https://",
            "https://a:b@example.com", "https://example.com?a", "https://example.com#a", "",
        ] {
            #expect(throws: ServerError.self) { try ServerURL(text) }
        }
    }
}
