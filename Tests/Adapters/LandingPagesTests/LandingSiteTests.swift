import Foundation
import HTTPTypes
import Invocation
import Lookups
import Testing
import ValueFixtures

@testable import LandingPages

/// URLs with landing pages, and the content of the pages.
@Suite struct LandingSiteTests {
    private static func expectNothing(
        _ response: TestResponse, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(response.status == 404, sourceLocation: sourceLocation)
        #expect(response.title == "Page not found", sourceLocation: sourceLocation)
        #expect(response.meta("apple-itunes-app") == nil, sourceLocation: sourceLocation)
        #expect(!response.html.contains("<svg"), sourceLocation: sourceLocation)
        #expect(response.headers[.cacheControl] == "public, max-age=60", sourceLocation: sourceLocation)
        #expect(response.headers[.contentSecurityPolicy] != nil, sourceLocation: sourceLocation)
        #expect(response.headers[.contentLanguage] == "en", sourceLocation: sourceLocation)
    }

    @Test func equivalentURLSpellingsHaveTheSamePage() throws {
        let site = try TestSite()
        for path in [
            "/restaurants/restaurant_a", "/restaurants/restaurant_a/", "/restaurants/restaurant%5Fa",
            "/restaurants/./restaurant_a?x=1", "/restaurants/restaurant_a/order/1234",
        ] {
            let response = try site.response(path)
            #expect(response.status == 200 && response.title == "Restaurant A", "\(path)")
        }
        #expect(try site.response("/restaurants/restaurant_b").title == "Restaurant B")
    }

    @Test func unmatchedURLHasNoPage() throws {
        let site = try TestSite()
        for path in [
            "/", "/other", "/restaurants2", "/Restaurants/restaurant_a", "", "*",
            "/restaurants/%zz", "/" + String(repeating: "x", count: 2_048),
        ] {
            Self.expectNothing(try site.response(path))
        }
    }

    @Test func pageWithoutLocationHasTheTenantsName() throws {
        let response = try TestSite().response("/restaurants")
        #expect(response.status == 200 && response.title == "Restaurants")
        #expect(response.meta("apple-itunes-app") != nil)
    }

    /// A mistyped or outdated code: the page is of the brand, launches no clip, and search engines ignore it.
    @Test func unknownLocationIsNotFoundOnThePageOfTheBrand() throws {
        var site = try TestSite()
        try site.experience(
            "https://example.com/restaurants", rule: "path:1", title: "Order here", subtitle: "At your table",
            cardImage: TestSite.image)
        let response = try site.response("/restaurants/nowhere")
        #expect(response.status == 404 && response.title == "Restaurants of Example")
        #expect(
            response.html.contains(
                "<h1>Restaurants of Example</h1><p>None of our locations has this address."))
        #expect(
            response.html.contains("<img ")
                && response.html.contains("https://apps.apple.com/app/id1234567890"))
        #expect(response.meta("apple-itunes-app") == nil && !response.html.contains("<svg"))
        #expect(response.meta("robots") == "noindex" && response.headers[.eTag] == nil)
        #expect(!response.html.contains("canonical"))
        #expect(response.headers[.cacheControl] == "public, max-age=60")
        #expect(response.headers[.contentSecurityPolicy] != nil)
        #expect(try site.response("/restaurants/nowhere", ifNoneMatch: "*").status == 404)
        try site.table.set(.clips, .clip(TestSite.tenant, TestSite.clip, isMultiBusiness: true))
        #expect(try site.response("/restaurants/nowhere").title == "Restaurants")
        // Once the location exists, so does its page.
        try site.table.set(.locations, .location(TestSite.tenant, "nowhere", name: "Here"))
        #expect(try site.response("/restaurants/nowhere").status == 200)
    }

    @Test func demoExperienceHasNoPage() throws {
        var site = try TestSite()
        try site.experience("https://example.com/demo", kind: "demo", location: "restaurant_a")
        Self.expectNothing(try site.response("/demo"))
        try site.experience("https://example.com/demo", kind: "default", location: "restaurant_a")
        #expect(try site.response("/demo").status == 200)
    }

    @Test func coordinatePageRequiresValidSignatureAndIsNotIndexed()
        throws
    {
        var site = try TestSite()
        try site.experience("https://example.com/bikes", rule: "coordinates:lat,lon")
        let path = "/bikes?lat=52.5&lon=13.4&sig=c2ln"
        Self.expectNothing(try site.response(path))
        Self.expectNothing(try site.response("/bikes"))
        site.trust = .everything
        let response = try site.response(path)
        #expect(response.status == 200 && response.title == "Restaurants")
        #expect(response.meta("robots") == "noindex")
        #expect(response.meta("og:url")?.hasSuffix("lat=52.5&amp;lon=13.4&amp;sig=c2ln") == true)
        #expect(try site.response("/restaurants/restaurant_a").meta("robots") == nil)
        Self.expectNothing(try site.response("/bikes?lat=152.5&lon=13.4&sig=c2ln"))
        Self.expectNothing(try site.response("/bikes"))
    }

    @Test func suspendedTenantHasNoPages() throws {
        var site = try TestSite()
        try site.table.set(.tenants, .tenant(TestSite.tenant, isSuspended: true))
        Self.expectNothing(try site.response("/restaurants/restaurant_a"))
    }

    @Test func locationsAreNotShownOnAnotherTenantsHost() throws {
        var site = try TestSite()
        try site.table.set(.domains, .domain(TestSite.other, "other.example", pages: .on))
        try site.experience("https://other.example/a", location: "restaurant_a", title: "Mine")
        Self.expectNothing(try site.response("/a", host: "other.example"))
        Self.expectNothing(try site.response("/restaurants/restaurant_a", host: "other.example"))
    }

    @Test func iconRequestsReturnCacheableNotFound() throws {
        let site = try TestSite()
        for path in [
            "/favicon.ico", "/favicon.ico?x", "/apple-touch-icon.png", "/apple-touch-icon-precomposed.png",
            "/apple-touch-icon-120x120.png",
        ] {
            let response = try site.response(path)
            #expect(response.status == 404 && response.html.isEmpty, "\(path)")
            #expect(response.headers[.cacheControl] == "public, max-age=3600")
        }
    }

    // MARK: Cached pages

    @Test func cachedPageIsReplacedAfterChange() throws {
        var tables = try TestSite()
        let (site, live) = (LandingSite(), LiveLookupIndex())
        let path = "/restaurants/restaurant_b"
        func show(_ path: String, ifNoneMatch: String? = nil) throws -> TestResponse {
            try TestSite.response(path, ifNoneMatch: ifNoneMatch, by: site, live)
        }
        live.replace(by: tables.table, from: .database, asOf: Date())
        let first = try show(path)
        let again = try show(path)
        #expect(first.title == "Restaurant B" && again.html == first.html && again.headers == first.headers)
        #expect(try show(path, ifNoneMatch: first.headers[.eTag]).status == 304)
        // URLs are compared by their bytes.
        for name in ["caf\u{E9}", "cafe\u{301}"] {
            try tables.table.set(
                .locations, .location(TestSite.tenant, name, name: "Called \(name.utf8.count)"))
        }
        live.replace(by: tables.table, from: .database, asOf: Date())
        for name in ["caf\u{E9}", "cafe\u{301}"] {
            #expect(try show("/restaurants/\(name)").title == "Called \(name.utf8.count)")
        }
        try tables.table.set(.locations, .location(TestSite.tenant, "restaurant_b", name: "Another"))
        live.replace(by: tables.table, from: .database, asOf: Date())
        #expect(try show(path).title == "Another")
        try tables.table.set(.tenants, .tenant(TestSite.tenant, isSuspended: true))
        live.replace(by: tables.table, from: .database, asOf: Date())
        Self.expectNothing(try show(path))
    }

    @Test func pageCacheSizeIsBounded() throws {
        let cache = PageCache()
        let page = try WrittenPage(Self.page(), [:])
        func key(_ number: Int, at host: Int = 0) throws -> PageCache.Key {
            try #require(PageCache.Key(host: "\(host).example.com", target: "/\(number)"))
        }
        func count(at host: Int, upTo limit: Int) throws -> Int {
            try (0..<limit).count { cache.page(try key($0, at: host), in: 1) != nil }
        }
        let limit = PageCache.maximumByteCountOfHost / page.byteCount
        let others = 1...PageCache.maximumByteCount / PageCache.maximumByteCountOfHost + 1
        // If one host requests more than its share, pages of other hosts stay in the cache.
        cache.keep(page, as: try key(0, at: 1), in: 1)
        for number in 0..<limit { cache.keep(page, as: try key(number), in: 1) }
        let kept = try count(at: 0, upTo: limit)
        #expect(0 < kept && kept < limit)
        #expect(try cache.page(key(limit - 1), in: 1) != nil)
        #expect(try count(at: 1, upTo: 1) == 1)
        // If all hosts use their whole share, the cache cannot store everything.
        let share = limit / 2
        for numbers in [0..<share, share..<limit * 3 / 4] {
            for host in others {
                for number in numbers { cache.keep(page, as: try key(number, at: host), in: 1) }
            }
        }
        let all = try others.map { try count(at: $0, upTo: limit) }.reduce(0, +)
        #expect(0 < all && all * page.byteCount <= PageCache.maximumByteCount)
        #expect(try cache.page(key(limit - 1), in: 2) == nil)
        cache.keep(page, as: try key(0), in: 2)
        #expect(try cache.page(key(limit - 1), in: 2) == nil)
        #expect(try cache.page(key(0), in: 2) != nil)
        #expect(PageCache.Key(host: "example.com", target: "/caf\u{E9}") == nil)
    }

    private static func page() throws -> LandingPage {
        let site = try TestSite()
        let table = site.table.of(TestSite.tenant)
        let url = try InvocationURL("https://example.com/restaurants/restaurant_a")
        let lookup = table.lookUp(url)
        let experience = try #require(lookup.experience)
        return LandingPage(
            url, experience, lookup,
            table.presentation(of: experience, at: lookup.location),
            at: try #require(site.table.provedHost("example.com")))
    }

    // MARK: Short codes

    /// A site with short codes on a separate host.
    private static func codes(_ pages: DomainPages) throws -> TestSite {
        var site = try TestSite()
        try site.table.set(.domains, .domain(TestSite.tenant, "s.example", pages: pages))
        try site.experience("https://s.example", rule: "hash:p")
        for (code, url) in [
            ("a", "https://example.com/restaurants/restaurant_a?x=1"), ("again", "https://s.example?p=a"),
            ("self", "https://s.example?p=self"), ("dead", "https://example.com/nothing"),
            ("theirs", "https://other.example/a"), ("elsewhere", "https://elsewhere.example/a"),
            ("demo", "https://elsewhere.example/demo"),
        ] {
            try site.table.set(.shortCodes, .shortCode(TestSite.tenant, code, url))
        }
        try site.table.set(.domains, .domain(TestSite.other, "other.example", pages: .on))
        for host in ["other.example", "elsewhere.example"] {
            try site.experience("https://\(host)/a", location: "restaurant_b")
        }
        try site.experience("https://elsewhere.example/demo", kind: "demo", location: "restaurant_b")
        return site
    }

    @Test func shortCodeURLHasThePageOfItsTarget() throws {
        let site = try Self.codes(.on)
        let response = try site.response("/?p=a", host: "s.example")
        #expect(response.status == 200 && response.title == "Restaurant A")
        #expect(response.meta("og:url") == "https://s.example?p=a")
        Self.expectNothing(try site.response("/?p=dead", host: "s.example"))
        Self.expectNothing(try site.response("/?p=demo", host: "s.example"))
    }

    @Test func shortCodeRedirectsOnlyIfEnabledAndToProvedHost() throws {
        let site = try Self.codes(.redirectingShortCodes)
        let response = try site.response("/?p=a", host: "s.example")
        #expect(response.status == 302 && response.html.isEmpty)
        #expect(response.headers[.location] == "https://example.com/restaurants/restaurant_a?x=1")
        #expect(response.headers[.cacheControl] == "public, max-age=60")
        // Other codes do not redirect, and there are no loops.
        for code in ["again", "self", "theirs", "elsewhere", "dead", "unknown"] {
            let response = try site.response("/?p=\(code)", host: "s.example")
            #expect(response.headers[.location] == nil, "\(code)")
            #expect(response.status == (["dead", "unknown"].contains(code) ? 404 : 200), "\(code)")
        }
        // A long URL is not redirected.
        var both = site
        try both.table.set(.domains, .domain(TestSite.tenant, "example.com", pages: .redirectingShortCodes))
        #expect(try both.response("/restaurants/restaurant_a").status == 200)
    }
}
