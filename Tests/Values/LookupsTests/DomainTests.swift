import Foundation
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

@Suite struct DomainTests {
    private static let one = TenantID(number: 1)
    private static let two = TenantID(number: 2)

    private static func table() throws -> LookupIndex {
        var table = LookupIndex()
        for tenant in [one, two] {
            try table.set(.tenants, .tenant(tenant))
            try table.set(.clips, .clip(tenant, "com.example.MyApp.Clip", isMultiBusiness: false))
        }
        return table
    }

    private static func urls(_ table: LookupIndex, _ host: String = "example.com") -> [String]? {
        table.site(ofHost: host)?.urls?.sorted()
    }

    @Test func siteListsExperiencesOfItsTenantAndHost() throws {
        var table = try Self.table()
        #expect(table.site(ofHost: "example.com") == nil)
        for (tenant, kind, url) in [
            (Self.one, "advanced", "https://example.com/a"), (Self.one, "default", "https://example.com/a"),
            (Self.one, "advanced", "https://example.com?b"),
            (Self.one, "advanced", "https://www.example.com/a"),
            (Self.one, "advanced", "https://example.comet/a"),
            (Self.two, "advanced", "https://example.com/z"),
        ] { try table.set(.experiences, .experience(tenant, kind, url)) }
        try table.set(.domains, .domain(Self.one, "example.com"))
        #expect(
            Self.urls(table) == ["https://example.com/a", "https://example.com/a", "https://example.com?b"])
        #expect(Self.urls(table, "www.example.com") == nil)

        table.remove(.experiences, of: Self.one, key: ["default", "https://example.com/a"])
        table.remove(.experiences, of: Self.two, key: ["advanced", "https://example.com/z"])
        try table.set(.experiences, .experience(Self.one, "advanced", "https://example.com/c"))
        #expect(
            Self.urls(table) == ["https://example.com/a", "https://example.com/c", "https://example.com?b"])
        table.removeAll(.experiences, of: Self.one)
        #expect(Self.urls(table) == [])
    }

    @Test func domainBelongsToLatestOwner() throws {
        var table = try Self.table()
        try table.set(.domains, .domain(Self.one, "example.com"))
        try table.set(.domains, .domain(Self.two, "example.com"))
        table.remove(.domains, of: Self.one, key: ["example.com"])
        #expect(table.site(ofHost: "example.com")?.tenant == Self.two)
        table.removeAll(.domains, of: Self.one)
        #expect(table.site(ofHost: "example.com")?.tenant == Self.two)
        table.removeAll(.domains, of: Self.two)
        #expect(table.site(ofHost: "example.com") == nil)
    }

    @Test func deletedTenantHasNoSiteButSuspendedTenantHas() throws {
        var table = try Self.table()
        try table.set(.domains, .domain(Self.one, "example.com"))
        try table.set(.tenants, .tenant(Self.one, isSuspended: true))
        #expect(table.site(ofHost: "example.com") != nil)
        table.remove(.tenants, of: Self.one, key: [])
        #expect(table.site(ofHost: "example.com") == nil)
    }

    @Test func deletedClipIsNotListed() throws {
        var table = try Self.table()
        try table.set(.domains, .domain(Self.one, "example.com"))
        #expect(table.site(ofHost: "example.com")?.clips.count == 1)
        table.remove(.clips, of: Self.one, key: ["com.example.MyApp.Clip"])
        #expect(table.site(ofHost: "example.com")?.clips.isEmpty == true)
    }

    private static let limit = LookupIndex.DomainExperiences.limit

    private static func prefixes(_ table: LookupIndex) -> [String]? {
        table.site(ofHost: "example.com")?.prefixes
    }

    /// URLs beyond the limit are grouped, whether the host is proved before or after their registration. Up to the limit they stay
    /// single.
    @Test func experiencesOverLimitAreGrouped() throws {
        for isProvedFirst in [true, false] {
            var table = try Self.table()
            if isProvedFirst { try table.set(.domains, .domain(Self.one, "example.com")) }
            let urls = (0...Self.limit).map { "https://example.com/r/\($0)" }
            for url in urls.dropLast() {
                try table.set(.experiences, .experience(Self.one, "advanced", url))
            }
            if !isProvedFirst { try table.set(.domains, .domain(Self.one, "example.com")) }
            table.settleDomains()
            #expect(Self.urls(table)?.count == Self.limit)
            try table.set(.experiences, .experience(Self.one, "advanced", urls[Self.limit]))
            #expect(Self.prefixes(table) == ["/r/"])
            table.settleDomains()
            #expect(Self.prefixes(table) == ["/r/"])
            for url in ["https://example.com/about", "https://example.com/x/a"] {
                try table.set(.experiences, .experience(Self.one, "advanced", url))
            }
            #expect(Self.prefixes(table) == ["/r/"] && table.site(ofHost: "example.com")?.links?.count == 3)
            for url in ["https://example.com/about", "https://example.com/x/a"] {
                table.remove(.experiences, of: Self.one, key: ["advanced", url])
            }
            for url in urls.dropFirst(Self.limit / 2 + 1) {
                table.remove(.experiences, of: Self.one, key: ["advanced", url])
            }
            #expect(Self.prefixes(table) == ["/r/"])
            table.remove(.experiences, of: Self.one, key: ["advanced", urls[0]])
            #expect(Self.urls(table) == urls[1...(Self.limit / 2)].sorted())
            table.settleDomains()
            #expect(Self.urls(table) == urls[1...(Self.limit / 2)].sorted())
        }
    }

    /// Groups become broader while there are too many. If no group fits, none is listed.
    @Test func tooManyGroupsBecomeBroader() throws {
        for (path, expected) in [
            ({ "/shop/\($0)/menu" }, ["/shop/"]), ({ "/shop-\($0)" }, ["/shop-"]), ({ "/\($0)" }, nil),
        ] as [((Int) -> String, [String]?)] {
            var table = try Self.table()
            try table.set(.domains, .domain(Self.one, "example.com"))
            for number in 0...Self.limit {
                try table.set(
                    .experiences, .experience(Self.one, "advanced", "https://example.com" + path(number)))
            }
            for _ in 1...2 {
                let site = try #require(table.site(ofHost: "example.com"))
                #expect(site.links == nil ? expected == nil : site.prefixes == expected)
                table.settleDomains()
            }
            table.removeAll(.experiences, of: Self.one)
            #expect(Self.urls(table) == [])
        }
    }

    // MARK: Visits of all experiences

    /// A change removes a row before it sets the new one.
    @Test func changedPagesOfDomainVisitNoExperiences() throws {
        var table = try Self.table()
        let urls = ["https://example.com/a", "https://example.com/b", "https://example.com/c"]
        for url in urls.prefix(2) { try table.set(.experiences, .experience(Self.one, "advanced", url)) }
        try table.set(.domains, .domain(Self.one, "example.com"))
        #expect(Self.urls(table) == Array(urls.prefix(2)))
        table.settleDomains()
        #expect(table.domainScanCount == 1)
        for pages in DomainPages.allCases {
            table.remove(.domains, of: Self.one, key: ["example.com"])
            if pages == .off { try table.set(.experiences, .experience(Self.one, "advanced", urls[2])) }
            try table.set(.domains, .domain(Self.one, "example.com", content: "{}", pages: pages))
            table.settleDomains()
            #expect(table.provedHost("example.com")?.pages == pages)
        }
        table.removeAll(.domains, of: Self.one)
        try table.set(.domains, .domain(Self.one, "example.com"))
        table.settleDomains()
        #expect(Self.urls(table) == urls)
        #expect(table.domainScanCount == 1)
    }

    @Test func newDomainsOfOneChangeVisitExperiencesOnce() throws {
        var table = try Self.table()
        let hosts = (0..<50).map { "d\($0).example.com" }
        for host in hosts {
            try table.set(.experiences, .experience(Self.one, "advanced", "https://\(host)/a"))
        }
        for host in hosts { try table.set(.domains, .domain(Self.one, host)) }
        table.settleDomains()
        #expect(table.domainScanCount == 1)
        for host in hosts { #expect(Self.urls(table, host) == ["https://\(host)/a"]) }
    }

    @Test func domainsWithoutExperiencesVisitNone() throws {
        var table = try Self.table()
        try table.set(.experiences, .experience(Self.one, "advanced", "https://example.com/a"))
        try table.set(.experiences, .experience(Self.two, "advanced", "https://d1.example.com/a"))
        for number in 0..<50 { try table.set(.domains, .domain(Self.one, "d\(number).example.com")) }
        table.settleDomains()
        #expect(table.domainScanCount == 0)
        try table.set(.experiences, .experience(Self.one, "advanced", "https://d1.example.com/b"))
        #expect(Self.urls(table, "d1.example.com") == ["https://d1.example.com/b"])
    }

    @Test func removedDomainLeavesNothing() throws {
        var table = try Self.table()
        try table.set(.experiences, .experience(Self.one, "advanced", "https://example.com/a"))
        for tenant in [Self.one, Self.two] { try table.set(.domains, .domain(tenant, "example.com")) }
        table.settleDomains()
        #expect(Self.urls(table) == [] && table.domainExperiences.count == 1)
        table.remove(.domains, of: Self.two, key: ["example.com"])
        table.settleDomains()
        #expect(table.domainExperiences.isEmpty && table.unsettledDomains.isEmpty)
    }
}
