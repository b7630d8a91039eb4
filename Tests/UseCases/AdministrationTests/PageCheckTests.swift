import Administration
import Synchronization
import Tenancy
import Testing

@Suite struct PageCheckTests {
    private static let clip = "com.example.MyApp.Clip"
    private static let url = "https://example.com/a?b=c"
    private static let good = """
        <!doctype html><html><head><title>A</title>
        <meta name="apple-itunes-app" content="app-id=1234567890, app-clip-bundle-id=\(clip), app-clip-display=card">
        <meta property="og:title" content="A &amp; B"><meta property="og:url" content="\(url)">
        <meta property="og:image" content="https://cdn.example.com/a.jpg">
        <meta property="og:image:width" content="1800"></head></html>
        """

    /// Pages by URL.
    private struct Web: PageFetcher {
        var pages: [String: Page] = [:]

        func fetch(_ url: String, limit: Int) async throws(NoResponse) -> Page {
            guard var page = pages[url] else { throw NoResponse("nobody is there") }
            if page.body.count > limit { (page.body, page.isCutOff) = (Array(page.body[..<limit]), true) }
            return page
        }
    }

    private static func html(_ text: String) -> Page {
        Page(status: 200, contentType: "text/html; charset=utf-8", body: Array(text.utf8))
    }

    private static func association(_ host: String, of clip: String = clip) -> [String: Page] {
        [
            "https://\(host)/.well-known/apple-app-site-association": Page(
                status: 200, contentType: "application/json",
                body: Array(#"{"appclips":{"apps":["ABCDE12345.\#(clip)"]}}"#.utf8))
        ]
    }

    private static func check(
        _ page: Page = html(good), at url: String = url, clip: String? = nil,
        beside others: [String: Page] = association("example.com")
    ) async throws -> PageCheck {
        await PageCheck.run(
            url, clip: try clip.map { try BundleID($0) },
            Web(pages: others.merging([url: page]) { _, page in page }))
    }

    private static func failed(_ check: PageCheck) -> [PageCheck.Point] {
        check.findings.filter { $0.verdict == .failed }.map(\.point)
    }

    @Test func goodPagePassesEveryPoint() async throws {
        let check = try await Self.check(clip: Self.clip)
        #expect(check.findings.map(\.point) == PageCheck.Point.allCases)
        #expect(check.findings.allSatisfy { $0.verdict == .passed }, "\(check.findings)")
        #expect(!check.hasFailed && check.url == Self.url)
        #expect(check.findings.contains { $0.detail == "og:title is A & B" })
    }

    @Test func unrequestedContentCodingIsNotJudged() async throws {
        let page = Page(
            status: 200, contentType: "text/html", body: [0x1F, 0x8B], contentCoding: "gzip")
        let check = try await Self.check(page)
        let finding = try #require(check.findings.first { $0.point == .contentType })
        #expect(finding.verdict == .unknown && finding.detail.contains("content coding gzip"))
        #expect(!check.hasFailed, "\(check.findings)")
    }

    /// In each case, another text replaces one part of the page.
    @Test(
        arguments: [
            ("app-id=1234567890, ", "", .appStoreID), ("1234567890", "id1234567890", .appStoreID),
            ("app-clip-bundle-id=com.example.MyApp.Clip, ", "", .clip),
            ("com.example.MyApp.Clip", "com.example.Other.Clip", .clip),
            ("app-clip-display=card", "app-clip-display=banner", .display),
            ("<meta name=\"apple-itunes-app\"", "<meta name=\"apple\"", .banner),
            ("og:title", "og:titel", .title), ("og:image\"", "og:picture\"", .image),
            ("https://cdn.example.com", "http://cdn.example.com", .image), ("1800", "899", .imageSize),
            ("1800", "149", .imageSize), (url, "https://example.com/a", .url),
        ] as [(String, String, PageCheck.Point)])
    func missingOrWrongElementFailsItsPoint(text: String, other: String, point: PageCheck.Point) async throws
    {
        let page = Self.html(Self.good.replacing(text, with: other))
        let check = try await Self.check(page, clip: Self.clip)
        let failed = Self.failed(check)
        #expect(failed.contains(point) && check.hasFailed, "\(failed)")
        #expect(failed.allSatisfy { $0 == point || $0 == .association }, "\(failed)")
    }

    @Test(arguments: [
        "app-clip-display=card,app-clip-bundle-id=com.example.MyApp.Clip,app-id=1234567890",
        "app-clip-bundle-id = com.example.MyApp.Clip ,\n app-id=1234567890",
        "app-argument=https://example.com/?a=b, app-id=1234567890, app-clip-bundle-id=com.example.MyApp.Clip",
    ])
    func bannerKeysAreAcceptedInAnyOrder(content: String) async throws {
        let usual = "app-id=1234567890, app-clip-bundle-id=com.example.MyApp.Clip, app-clip-display=card"
        let check = try await Self.check(Self.html(Self.good.replacing(usual, with: content)))
        #expect(!check.hasFailed, "\(check.findings)")
    }

    @Test func associationOfFinalRedirectHostCounts() async throws {
        let others = Self.association("www.example.com").merging([
            Self.url: Page(status: 301, location: "//www.example.com/a?b=c"),
            "https://www.example.com/a?b=c": Page(status: 302, location: "/b?long=enough"),
            "https://www.example.com/b?long=enough": Self.html(
                Self.good.replacing(Self.url, with: "https://www.example.com/b?long=enough")),
        ]) { $1 }
        let check = await PageCheck.run(Self.url, clip: nil, Web(pages: others))
        #expect(!check.hasFailed, "\(check.findings)")
        #expect(check.url == "https://www.example.com/b?long=enough")
        // The association of the first host does not matter for this host.
        var without = others
        without.merge(Self.association("example.com")) { $1 }
        without["https://www.example.com/.well-known/apple-app-site-association"] = nil
        #expect(Self.failed(await PageCheck.run(Self.url, clip: nil, Web(pages: without))) == [.association])
    }

    @Test func circularOrPlainHTTPRedirectFails() async throws {
        let circle = [Self.url: Page(status: 302, location: Self.url)]
        #expect(Self.failed(await PageCheck.run(Self.url, clip: nil, Web(pages: circle))) == [.redirects])
        let plain = [Self.url: Page(status: 302, location: "http://example.com/a")]
        #expect(Self.failed(await PageCheck.run(Self.url, clip: nil, Web(pages: plain))) == [.https])
        let nowhere = [Self.url: Page(status: 302)]
        #expect(Self.failed(await PageCheck.run(Self.url, clip: nil, Web(pages: nowhere))) == [.redirects])
    }

    @Test func unusablePageFailsItsPoint() async throws {
        #expect(Self.failed(await PageCheck.run("http://example.com", clip: nil, Web())) == [.https])
        #expect(Self.failed(await PageCheck.run(Self.url, clip: nil, Web())) == [.response])
        #expect(Self.failed(try await Self.check(Page(status: 404))) == [.status])
        var text = Self.html(Self.good)
        text.contentType = "text/plain"
        #expect(Self.failed(try await Self.check(text)) == [.contentType])
        let long = Self.html(Self.good + String(repeating: " ", count: PageCheck.maximumSize))
        #expect(Self.failed(try await Self.check(long)) == [.size])
        let other = try await Self.check(
            beside: Self.association("example.com", of: "com.example.Other.Clip"))
        #expect(Self.failed(other) == [.association])
        #expect(Self.failed(try await Self.check(beside: [:])) == [.association])
    }
}
