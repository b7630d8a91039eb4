import Cards
import Foundation
import Geodesy
import Invocation
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

/// A restricted key sees only URLs that lead to its locations, as if nothing else were registered.
@Suite struct RestrictedTableTests {
    private static let tenant = TenantID(number: 1)
    private static let clip = "com.example.MyApp.Clip"
    private static let site = "https://example.com"
    private static let link = "https://appclip.apple.com/id?p=\(clip)"

    /// Two locations with one experience each, rules that lead to both, and a rule that leads nowhere.
    private static func table() throws -> LookupIndex {
        var table = LookupIndex()
        try table.set(.tenants, .tenant(tenant))
        try table.set(.clips, .clip(tenant, clip, isMultiBusiness: true))
        for (index, name) in ["a", "b"].enumerated() {
            try table.set(.locations, .location(tenant, name, latitude: 52 + Double(index) / 1_000))
            try table.set(
                .experiences,
                .experience(tenant, "advanced", "\(site)/own/\(name)", clip: clip, location: name))
            try table.set(.shortCodes, .shortCode(tenant, "code-\(name)", "\(site)/all/\(name)"))
        }
        for (path, rule) in [("all", "path:1"), ("find", "query:id"), ("short", "hash:h")] {
            try table.set(
                .experiences, .experience(tenant, "advanced", "\(site)/\(path)", clip: clip, rule: rule))
        }
        try table.set(.experiences, .experience(tenant, "default", "\(site)/app", clip: clip))
        // An experience of the other location is more specific than the rule.
        try table.set(
            .experiences, .experience(tenant, "advanced", "\(site)/all/a/b", clip: clip, location: "b"))
        return table
    }

    private static func locations(_ names: String...) throws -> Set<LocationIdentifier> {
        Set(try names.map { try LocationIdentifier($0) })
    }

    @Test func restrictedTableListsOnlyBoundExperiences() throws {
        var rows = try Self.table()
        try rows.set(
            .experiences,
            .experience(
                Self.tenant, "demo", "\(Self.site)/own/a", clip: Self.clip, location: "a", title: "A",
                subtitle: "B"))
        let whole = rows.of(Self.tenant)
        let a = whole.restricted(to: try Self.locations("a", "c"))
        func urls(_ table: TenantTable, _ isWanted: (Span<UInt8>) -> Bool = { _ in true }) -> [String] {
            table.experiences(where: isWanted).map { "\($0.kind) \($0.url.dropFirst(Self.site.count))" }
                .sorted()
        }
        #expect(
            urls(whole) == [
                "advanced /all", "advanced /all/a/b", "advanced /find", "advanced /own/a", "advanced /own/b",
                "advanced /short", "default /app", "demo /own/a",
            ])
        #expect(
            urls(whole) { $0.count == "\(Self.site)/app".utf8.count } == ["advanced /all", "default /app"])
        #expect(urls(a) == ["advanced /own/a", "demo /own/a"])
        let other = rows.of(TenantID(number: 2))
        #expect(urls(other) == [])
        let url = try URLPrefix("\(Self.site)/own/a")
        let clip = try BundleID(Self.clip)
        let text = whole.text(of: try Experience(url: url, kind: .demo, clip: clip, binding: .unbound))
        #expect(text?.title == "A" && text?.subtitle == "B")
        let silent = try Experience(url: url, kind: .advanced, clip: clip, binding: .unbound)
        #expect(whole.text(of: silent) == nil)
    }

    @Test func urlOfOtherLocationDoesNotMatch() throws {
        let whole = try Self.table().of(Self.tenant)
        let a = whole.restricted(to: try Self.locations("a"))
        func url(_ text: String) throws -> InvocationURL { try InvocationURL("\(Self.site)/\(text)") }
        for own in ["own/a", "own/a/order/1", "all/a", "all/a/order/1", "find?id=a", "short?h=code-a"] {
            #expect(a.lookUp(try url(own)) == whole.lookUp(try url(own)), "\(own)")
            #expect(a.lookUp(try url(own)).location?.identifier.text == "a", "\(own)")
            #expect(a.match(try url(own), preferringAdvanced: true) != nil, "\(own)")
        }
        for other in [
            "own/b", "own/b/order/1", "own/c", "all/b", "all/c", "all", "all/a/b", "find?id=b", "find",
            "short?h=code-b", "short?h=code-c", "app", "nowhere",
        ] {
            #expect(a.lookUp(try url(other)) == .doesNotMatch, "\(other)")
            #expect(a.match(try url(other)) == nil, "\(other)")
            #expect(a.match(try url(other), preferringAdvanced: true) == nil, "\(other)")
        }
        #expect(a.lookUp(try InvocationURL(Self.link)) == .doesNotMatch)
        #expect(a.lookUp(stored: try url("all/a")).location != nil)
        #expect(a.lookUp(stored: try url("all/b")) == .doesNotMatch)
        for (name, isSeen) in [("a", true), ("b", false), ("c", false)] {
            #expect((a.location(try LocationIdentifier(name)) != nil) == isSeen, "\(name)")
            #expect((a.url(ofShortCode: "code-\(name)") != nil) == isSeen, "\(name)")
        }
        let both = whole.restricted(to: try Self.locations("a", "b", "c"))
        #expect(both.lookUp(try url("own/b")).location != nil)
        #expect(both.lookUp(try url("all")) == .doesNotMatch)
        #expect(try both.visibleLocations == Self.locations("a", "b") && whole.visibleLocations == nil)
        #expect(whole.restricted(to: nil).lookUp(try url("all")) != .doesNotMatch)
    }

    @Test func deletedLocationIsInvisibleUntilRecreated() throws {
        var table = try Self.table()
        let url = try InvocationURL("\(Self.site)/all/a")
        func restricted() throws -> TenantTable {
            table.of(Self.tenant).restricted(to: try Self.locations("a"))
        }
        table.remove(.locations, of: Self.tenant, key: ["a"])
        #expect(try restricted().lookUp(url) == .doesNotMatch)
        #expect(try restricted().visibleLocations == [])
        try table.set(.locations, .location(Self.tenant, "a"))
        #expect(try restricted().lookUp(url).location != nil)
    }

    @Test func nearbyReturnsOnlyAllowedLocations() throws {
        let table = try Self.table()
        let whole = table.of(Self.tenant)
        let a = whole.restricted(to: try Self.locations("a", "gone"))
        let here = try Coordinate(latitude: 52.001, longitude: 13)
        func found(_ table: TenantTable, _ url: String, within: Double = 5_000) throws -> [String] {
            try table.nearby(
                table.launch(by: try InvocationURL(url)), from: here, within: Distance(meters: within)
            ).locations
                .map(\.location.identifier.text)
        }
        #expect(try found(whole, "\(Self.site)/all") == ["b", "a"])
        // An experience of another location counts as missing. The result is what the URL finds without it.
        for url in ["all", "all/a", "all/b", "all/c", "all/a/b", "app", "own/a"] {
            #expect(try found(a, "\(Self.site)/\(url)") == ["a"], "\(url)")
        }
        #expect(try found(a, Self.link) == ["a"])
        #expect(try found(a, "\(Self.site)/all", within: 100).isEmpty)
        for url in ["own/b", "own/c", "nowhere"] {
            #expect(throws: LookupRefusal.self, "\(url)") { try found(a, "\(Self.site)/\(url)") }
        }
        var bound = table
        try bound.set(
            .experiences,
            .experience(Self.tenant, "default", "\(Self.site)/app", clip: Self.clip, location: "b"))
        #expect(throws: LookupRefusal.self) {
            try found(bound.of(Self.tenant).restricted(to: try Self.locations("a")), Self.link)
        }
    }

    @Test func keyLocationsAreParsedCompletely() throws {
        var table = try Self.table()
        let digest = [UInt8](repeating: 7, count: 32)
        let key = KeyID(UUID(number: 1))
        for (text, expected) in [("a", ["a"]), ("a\nb,c", ["a", "b,c"])] {
            try table.set(.keys, .key(Self.tenant, key, digest, locations: text))
            let expected = Set(try expected.map { try LocationIdentifier($0) })
            #expect(table.keyHolder(of: digest, at: .year2000)?.locations == expected)
        }
        for text in ["", "a\n", "\n", "a\n\u{1}"] {
            #expect(throws: LookupIndexError.self) {
                try table.set(.keys, .key(Self.tenant, key, digest, locations: text))
            }
        }
        try table.set(.keys, .key(Self.tenant, key, digest))
        let holder = try #require(table.keyHolder(of: digest, at: .year2000))
        #expect(holder.locations == nil)
    }
}
