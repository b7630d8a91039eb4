import Foundation
import HTTPTypes
import LandingPages
import Lookups
import Tenancy
import Testing
import ValueFixtures

/// Hosts of two tenants with landing pages, for the restaurants of Apple's example.
struct TestSite {
    static let tenant = TenantID(number: 1)
    static let other = TenantID(number: 2)
    static let clip = "com.example.MyApp.Clip"
    static let image = String(repeating: "0123456789abcdef", count: 4)

    var table = LookupIndex()
    var trust = LocationTrust.nothing

    init() throws {
        try table.set(.tenants, .tenant(Self.tenant, name: "Restaurants"))
        try table.set(.tenants, .tenant(Self.other, name: "Others"))
        try table.set(
            .clips,
            .clip(
                Self.tenant, Self.clip, isMultiBusiness: true, appStoreID: "1234567890",
                androidURL: "https://play.google.com/store/apps/details?id=com.example&hl=en",
                siteName: "Restaurants of Example"))
        try table.set(.domains, .domain(Self.tenant, "example.com", pages: .on))
        try table.set(.locations, .location(Self.tenant, "restaurant_a", name: "Restaurant A"))
        try table.set(.locations, .location(Self.tenant, "restaurant_b", name: "Restaurant B"))
        try experience(
            "https://example.com/restaurants/restaurant_a", location: "restaurant_a", title: "Restaurant A",
            subtitle: "Order at your table", cardImage: Self.image)
        try experience("https://example.com/restaurants", rule: "path:1")
    }

    mutating func experience(
        _ url: String, kind: String = "advanced", location: String? = nil, rule: String? = nil,
        title: String? = nil, subtitle: String? = nil, card: String? = nil, cardImage: String? = nil
    ) throws {
        try table.set(
            .experiences,
            .experience(
                Self.tenant, kind, url, clip: Self.clip, location: location, rule: rule, title: title,
                subtitle: subtitle, card: card, cardImage: cardImage))
    }

    func response(
        _ path: String, host: String = "example.com", ifNoneMatch: String? = nil
    ) throws -> TestResponse {
        let live = LiveLookupIndex(trusting: trust)
        live.replace(by: table, from: .database, asOf: Date())
        return try Self.response(path, host: host, ifNoneMatch: ifNoneMatch, by: LandingSite(), live)
    }

    /// The response of a site, which may have cached it.
    static func response(
        _ path: String, host: String = "example.com", ifNoneMatch: String? = nil, by site: LandingSite,
        _ live: LiveLookupIndex
    ) throws -> TestResponse {
        let state = try #require(live.current)
        var request = HTTPRequest(method: .get, scheme: "https", authority: host, path: path)
        request.headerFields[.ifNoneMatch] = ifNoneMatch
        let (response, body) = site.response(
            request, at: try #require(state.provedHost(host)), in: state)
        return TestResponse(
            status: response.status.code, headers: response.headerFields,
            html: String(decoding: body, as: UTF8.self))
    }
}

struct TestResponse {
    let status: Int
    let headers: HTTPFields
    let html: String

    /// The text between two texts, if both exist.
    func text(from start: String, to end: String) -> String? {
        guard let first = html.range(of: start),
            let last = html.range(of: end, range: first.upperBound..<html.endIndex)
        else { return nil }
        return String(html[first.upperBound..<last.lowerBound])
    }

    var title: String? { text(from: "<title>", to: "</title>") }

    /// The content of a `meta` element.
    func meta(_ name: String) -> String? {
        text(from: "<meta name=\"\(name)\" content=\"", to: "\">")
            ?? text(from: "<meta property=\"\(name)\" content=\"", to: "\">")
    }
}
