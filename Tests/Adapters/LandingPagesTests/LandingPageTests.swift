import Codes
import Crypto
import Foundation
import HTTPTypes
import Lookups
import PropertyTesting
import Testing
import ValueFixtures

@testable import LandingPages

/// The content of landing pages.
@Suite struct LandingPageTests {
    private static let order = "/restaurants/restaurant_a/order/1234"

    /// `deploy/checks/landing` reads the QR code of the same bytes with zbarimg.
    @Test func pageMatchesGoldenFile() throws {
        let golden = try Data(
            contentsOf: try #require(
                Bundle.module.url(forResource: "page", withExtension: "html", subdirectory: "Vectors")))
        let response = try TestSite().response(Self.order)
        #expect(response.html == String(decoding: golden, as: UTF8.self))
        #expect(response.status == 200)
    }

    @Test func pageHeadersSetContentPolicyAndCaching() throws {
        let response = try TestSite().response(Self.order)
        let style = try #require(response.text(from: "<style>", to: "</style>"))
        let hash = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
        #expect(
            response.headers[.contentSecurityPolicy] == """
                default-src 'none'; style-src 'sha256-\(hash)'; img-src 'self'; base-uri 'none'; \
                form-action 'none'; frame-ancestors 'none'
                """)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.cacheControl] == "public, max-age=60")
        #expect(response.headers[.contentLanguage] == "en")
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
        #expect(response.headers[.referrerPolicy] == "strict-origin")
        #expect(response.headers[.vary] == "Accept-Encoding" && response.headers[.setCookie] == nil)
        #expect(!response.html.contains("<script"))
    }

    @Test func matchingETagReturnsNotModified() throws {
        let site = try TestSite()
        let tag = try #require(try site.response(Self.order).headers[.eTag])
        #expect(tag.count == 18 && tag.hasPrefix("\"") && tag.hasSuffix("\""))
        for known in [tag, "W/\(tag)", "\"other\", \(tag)", " \(tag) ,x", "*"] {
            let again = try site.response(Self.order, ifNoneMatch: known)
            #expect(again.status == 304 && again.html.isEmpty, "\(known)")
            #expect(again.headers[.eTag] == tag && again.headers[.contentType] == nil)
        }
        for other in ["", "\"other\"", String(tag.dropLast()), "W/"] {
            #expect(try site.response(Self.order, ifNoneMatch: other).status == 200, "\(other)")
        }
        #expect(try site.response("/restaurants/restaurant_b").headers[.eTag] != tag)
    }

    @Test
    func pageOmitsMissingAppStoreIDAndAndroidLink()
        throws
    {
        var site = try TestSite()
        let whole = try site.response(Self.order)
        #expect(
            whole.meta("apple-itunes-app")
                == "app-id=1234567890, app-clip-bundle-id=com.example.MyApp.Clip, app-clip-display=card")
        try site.table.set(.clips, .clip(TestSite.tenant, TestSite.clip, isMultiBusiness: true))
        let bare = try site.response(Self.order)
        #expect(
            bare.meta("apple-itunes-app")
                == "app-clip-bundle-id=com.example.MyApp.Clip, app-clip-display=card")
        #expect(bare.meta("og:site_name") == nil && !bare.html.contains("<a "))
    }

    @Test func pageNamesVisitedURLAndCanonicalExperienceURL() throws {
        let response = try TestSite().response("/restaurants/restaurant_a/order/%7e1234?b=%2f&a=x+y")
        #expect(
            response.meta("og:url")
                == "https://example.com/restaurants/restaurant_a/order/~1234?b=%2F&amp;a=x+y")
        #expect(
            response.html.contains(
                #"<link rel="canonical" href="https://example.com/restaurants/restaurant_a">"#))
        // Otherwise all locations of one rule would have the same canonical page.
        let ofRule = try TestSite().response("/restaurants/restaurant_b?x")
        #expect(
            ofRule.html.contains(
                #"<link rel="canonical" href="https://example.com/restaurants/restaurant_b?x">"#))
    }

    @Test func qrCodeShowsPageURLUpTo300Bytes() throws {
        let start = "https://example.com/restaurants/restaurant_a/"
        for length in [start.count + 1, 299, 300, 301, 2_048] {
            let url = start + String(repeating: "x", count: length - start.count)
            let response = try TestSite().response(String(url.dropFirst("https://example.com".count)))
            #expect(response.status == 200)
            let path = response.text(from: "<path d=\"", to: "\">")
            #expect(path == (length <= 300 ? try QRSymbol(url).path : nil), "\(length)")
            #expect((response.text(from: "<figure>", to: "</figure>") != nil) == (length <= 300))
        }
    }

    @Test func textsAndImagesFallBackFromExperienceToLocationToClip()
        throws
    {
        var site = try TestSite()
        let other = String(repeating: "ab", count: 32)
        func page(_ path: String = "/a") throws -> TestResponse { try site.response(path) }
        try site.experience("https://example.com/a", location: "restaurant_a")
        #expect(try page().title == "Restaurant A" && page().meta("description") == nil)
        #expect(try page().meta("og:image") == nil && page().meta("twitter:card") == "summary")
        #expect(try !page().html.contains("<img "))

        try site.table.set(
            .clips,
            .clip(
                TestSite.tenant, TestSite.clip, isMultiBusiness: true,
                card:
                    #"{"defaultLanguage": "EN", "texts": {"EN": {"title": "Clip", "subtitle": "Of the clip"}, "DE": {"title": "Klip"}}}"#,
                cardImage: TestSite.image))
        #expect(try page().title == "Clip" && page().meta("og:description") == "Of the clip")
        #expect(
            try page().meta("og:image")
                == "https://example.com/.well-known/doorstep/images/\(TestSite.image)")
        #expect(try page().meta("og:image:width") == "1800" && page().meta("og:image:height") == "1200")
        #expect(try page().meta("og:image:alt") == "Clip")
        #expect(
            try page().html.contains(
                """
                <main><img src="/.well-known/doorstep/images/\(TestSite.image)" alt="" width="1800" \
                height="1200"><h1>Clip</h1>
                """))

        try site.table.set(
            .locations,
            .location(
                TestSite.tenant, "restaurant_a", name: "Restaurant A",
                card: #"{"texts": {"EN": {"title": "Place"}}}"#, cardImage: other))
        #expect(try page().title == "Place" && page().meta("description") == "Of the clip")
        #expect(try page().meta("og:image")?.hasSuffix(other) == true)

        try site.experience(
            "https://example.com/a", location: "restaurant_a",
            card: #"{"texts": {"EN": {"subtitle": "Here"}, "JA": {"title": "ここ"}}}"#)
        #expect(try page().title == "Place" && page().meta("description") == "Here")
        // Texts of the experience besides its card are in the default language, too.
        try site.experience("https://example.com/a", location: "restaurant_a", title: "Own")
        #expect(try page().title == "Own" && page().meta("description") == "Of the clip")

        site.table.remove(.locations, of: TestSite.tenant, key: ["restaurant_a"])
        site.table.remove(.experiences, of: TestSite.tenant, key: ["advanced", "https://example.com/a"])
        try site.table.set(.locations, .location(TestSite.tenant, "restaurant_a", name: "Restaurant A"))
        try site.experience("https://example.com/a", location: "restaurant_a")
        #expect(try page().title == "Clip" && page().meta("og:image")?.hasSuffix(TestSite.image) == true)
    }

    @Test(arguments: [
        (#"{"defaultLanguage":"JA","texts":{"JA":{"title":"店"},"EN":{"title":"Shop"}}}"#, "店", "ja"),
        (#"{"defaultLanguage":"FR","texts":{"JA":{"title":"店"},"EN":{"title":"Shop"}}}"#, "Shop", "en"),
        (#"{"texts":{"JA":{"title":"店"},"DE":{"title":"Laden"}}}"#, "Laden", "de"),
        (#"{"defaultLanguage":"AR"}"#, "Restaurant A", "en"),
        (#"{"from":"a later version"}"#, "Restaurant A", "en"),
    ])
    func pageLanguageIsChosenFromTheCard(card: String, title: String, language: String) throws {
        var site = try TestSite()
        try site.experience("https://example.com/a", location: "restaurant_a", card: card)
        let page = try site.response("/a")
        #expect(page.title == title && page.headers[.contentLanguage] == language)
        #expect(page.html.hasPrefix("<!doctype html><html lang=\"\(language)\">"))
        #expect(page.html.contains(language == "en" ? "<p>On an iPhone" : "<p lang=\"en\">On an iPhone"))
    }

    @Test(arguments: [
        #"</title><script>alert(1)</script>"#, #""><img src=x onerror=alert(1)>"#, "'\"<>&",
        "</style><style>*{display:none}", "<!-- -->", "\u{202E}evil\u{2066}", "a\u{301}\u{301}\u{301}",
        "]]><svg onload=alert(1)>", "&lt;script&gt;", "javascript:alert(1)", "𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏",
    ])
    func hostileNamesAreEscaped(text: String) throws {
        var site = try TestSite()
        let usual = try site.response("/restaurants/restaurant_b")
        try site.table.set(.locations, .location(TestSite.tenant, "restaurant_b", name: text))
        try site.table.set(
            .clips,
            .clip(
                TestSite.tenant, TestSite.clip, isMultiBusiness: true, androidURL: text, siteName: text))
        let page = try site.response("/restaurants/restaurant_b")
        let escaped = Self.escaped(text)
        #expect(page.title == escaped && page.meta("og:title") == escaped)
        #expect(page.meta("og:site_name") == escaped)
        #expect(page.html.contains("<h1>\(escaped)</h1>"))
        // The page has the usual elements, except links without a target.
        #expect(Self.elements(page.html) == Self.elements(usual.html).filter { $0 != "a" && $0 != "/a" })
    }

    private static func escaped(_ text: String) -> String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")]
            .reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    /// The names of the elements, in order.
    private static func elements(_ html: String) -> [String] {
        html.split(separator: "<", omittingEmptySubsequences: false).dropFirst()
            .map { String($0.prefix { !" >".contains($0) }) }
    }
}
