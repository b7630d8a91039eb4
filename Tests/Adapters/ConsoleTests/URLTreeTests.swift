import Invocation
import Lookups
import Tenancy
import Testing
import ValueFixtures

@testable import Console

@Suite struct URLTreeTests {
    private static let tenant = TenantID(number: 1)

    /// A tree of an index that also contains an experience of another tenant, which must never appear.
    private func tree(_ urls: [String], at path: String = "", wholeUpTo limit: Int = 60) throws -> URLTree? {
        var table = LookupIndex()
        for tenant in [Self.tenant, TenantID(number: 2)] {
            try table.set(.tenants, .tenant(tenant))
            try table.set(.clips, .clip(tenant, "com.example.MyApp.Clip", isMultiBusiness: false))
        }
        for url in urls {
            try table.set(.experiences, .experience(Self.tenant, "advanced", "https://\(url)"))
        }
        try table.set(.experiences, .experience(TenantID(number: 2), "advanced", "https://example.com/a/z"))
        return URLTree(at: path, in: table.of(Self.tenant), wholeUpTo: limit)
    }

    /// Each step with the number of experiences below it, and the experiences that end there.
    private func text(_ tree: URLTree) -> String {
        let parts =
            tree.experiences.map { String($0.url.canonical.dropFirst("https://".count)) }
            + tree.children.map(text)
        return "\(tree.name)=\(tree.count)" + (parts.isEmpty ? "" : "[\(parts.joined(separator: " "))]")
    }

    private static let urls = [
        "example.com", "example.com/a", "example.com/a?p=1", "example.com/a/b", "example.com/ab",
        "example.org/a//b/",
    ]

    @Test func treeLevelsAreHostsAndPathComponents() throws {
        let tree = try #require(try tree(Self.urls))
        #expect(
            text(tree)
                == "=6[example.com=5[example.com a=3[example.com/a?p=1 example.com/a b=1[example.com/a/b]]"
                + " ab=1[example.com/ab]] example.org=1[a=1[b=1[example.org/a//b]]]]")
        #expect(tree.isWhole)
    }

    @Test func largeTreeShowsOneLevel() throws {
        let whole = try #require(try tree(Self.urls, wholeUpTo: 5))
        #expect(text(whole) == "=6[example.com=5 example.org=1]" && !whole.isWhole)
        let host = try #require(try tree(Self.urls, at: "example.com", wholeUpTo: 4))
        #expect(text(host) == "example.com=5[example.com a=3 ab=1]" && !host.isWhole)
        #expect(host.children.map(\.path) == ["example.com/a", "example.com/ab"])
        #expect(host.children.allSatisfy { !$0.isWhole })
    }

    @Test func subtreeMatchesWholeComponents() throws {
        let part = try #require(try tree(Self.urls, at: "example.com/a", wholeUpTo: 3))
        #expect(text(part) == "a=3[example.com/a?p=1 example.com/a b=1[example.com/a/b]]" && part.isWhole)
        #expect(try #require(try tree(Self.urls, at: "example.org/a/b")).count == 1)
        for path in ["example.co", "example.com/b", "example.com/a/z", "example.com/a?p=1"] {
            #expect(try tree(Self.urls, at: path) == nil, "\(path)")
        }
        #expect(try #require(try tree([])).count == 0)
    }
}
