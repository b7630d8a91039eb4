import Formats
import LocalServers
import Testing

/// `doorstep domain check` on sites of the tests.
@Suite(.timeLimit(.minutes(30))) struct SiteCheckTests {
    private static let path = "/.well-known/apple-app-site-association"
    private static let clip = "ABCDE12345.com.example.MyApp.Clip"

    private static func check(
        _ page: LocalWebServer.Page, isSecure: Bool = true, _ options: String...
    ) async throws -> DoorstepBinary.Outcome {
        try await TestCertificate.lend(for: ["localhost"]) { certificate in
            try await LocalWebServer.lend(over: isSecure ? certificate : nil, { _ in page }) { server in
                let scheme = isSecure ? "https" : "http"
                return try await DoorstepBinary(databaseURL: "").run(
                    [
                        "domain", "check", "example.com", "--url",
                        "\(scheme)://localhost:\(server.port)\(path)",
                        "--ca-file", certificate.path,
                    ] + options)
            }
        }
    }

    private static func failed(_ outcome: DoorstepBinary.Outcome) throws -> [String] {
        let points = try #require(try outcome.json().objectValue?["points"]?.arrayValue)
        return points.compactMap(\.objectValue).filter { $0["verdict"] == "failed" }
            .compactMap { $0["point"]?.stringValue }
    }

    @Test func goodSitePasses() async throws {
        let page = LocalWebServer.Page(#"{"appclips":{"apps":["\#(Self.clip)"]}}"#)
        let table = try await Self.check(page, "--clip", Self.clip)
        #expect(table.status == 0, "\(table.output)\(table.errors)")
        #expect(!table.output.contains("failed"))
        #expect(table.output.contains("clip_listed"))
        let json = try await Self.check(page, "--clip", Self.clip, "--format", "json")
        #expect(json.status == 0)
        #expect(try json.json().objectValue?["passed"] == true)
        #expect(try Self.failed(json) == [])
    }

    @Test func invalidSiteFailsPointByPoint() async throws {
        for (page, isSecure, failed) in [
            (LocalWebServer.Page("{}"), false, ["https", "appclips"]),
            (.init("", status: 301, headers: [("Location", "https://www.example.com/")]), true, ["redirect"]),
            (.init("gone", status: 404), true, ["status"]),
            (.init("<html>", headers: [("Content-Type", "text/html")]), true, ["content_type", "json"]),
            (.init(String(repeating: " ", count: 131_073)), true, ["size"]),
            (
                .init(#"{"appclips":{"apps":["ABCDE12345.com.example.MyApp","com.example.MyApp.Clip"]}}"#),
                true,
                ["app_ids", "clip_listed", "not_swapped"]
            ),
        ] {
            let outcome = try await Self.check(
                page, isSecure: isSecure, "--clip", Self.clip, "--format", "json")
            #expect(outcome.status == 1)
            #expect(try Self.failed(outcome) == failed)
            #expect(outcome.errors.isEmpty)
        }
    }

    @Test func unreachableSiteFails() async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(
            "domain", "check", "example.com", "--url", "https://127.0.0.1:1/", "--format", "json")
        #expect(outcome.status == 1)
        #expect(try Self.failed(outcome) == ["response"])
    }

    @Test(arguments: [
        ["check"], ["check", "example.com", "--clip", "com.example.MyApp.Clip"], ["check", "x"],
    ])
    func wrongUsageExitsWithStatus64(arguments: [String]) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(["domain"] + arguments)
        #expect(outcome.status == 64, "\(arguments): \(outcome.errors)")
    }
}
