import Foundation
import RoutingSupport
import Tenancy
import Testing

@testable import Routing

@Suite struct DomainTests {
    private static let one = TenantID(number: 1)
    private static let two = TenantID(number: 2)

    private static func table() throws -> RoutingTable {
        var table = RoutingTable()
        for tenant in [one, two] {
            try table.set(.tenants, .tenant(tenant))
            try table.set(.clips, .clip(tenant, "com.example.MyApp.Clip", isMultiBusiness: false))
        }
        return table
    }

    private static func urls(_ table: RoutingTable, _ host: String = "example.com") -> [String]? {
        table.site(ofHost: host)?.urls?.map(\.url).sorted()
    }

    @Test func aSiteHasTheExperiencesOfItsTenantAndHost() throws {
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

    @Test func aDomainIsItsLatestOwners() throws {
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

    @Test func aTenantThatIsGoneHasNoSiteAndASuspendedOneHas() throws {
        var table = try Self.table()
        try table.set(.domains, .domain(Self.one, "example.com"))
        try table.set(.tenants, .tenant(Self.one, isSuspended: true))
        #expect(table.site(ofHost: "example.com") != nil)
        table.remove(.tenants, of: Self.one, key: [])
        #expect(table.site(ofHost: "example.com") == nil)
    }

    @Test func aClipThatIsGoneIsNotListed() throws {
        var table = try Self.table()
        try table.set(.domains, .domain(Self.one, "example.com"))
        #expect(table.site(ofHost: "example.com")?.clips.count == 1)
        table.remove(.clips, of: Self.one, key: ["com.example.MyApp.Clip"])
        #expect(table.site(ofHost: "example.com")?.clips.isEmpty == true)
    }

    /// Beyond the limit the experiences are only counted; when they are few again they are looked for again.
    @Test func manyExperiencesAreNotListed() throws {
        let limit = RoutingTable.DomainExperiences.limit
        for isProvedFirst in [true, false] {
            var table = try Self.table()
            if isProvedFirst { try table.set(.domains, .domain(Self.one, "example.com")) }
            let urls = (0...limit).map { "https://example.com/\($0)" }
            for url in urls.dropLast() {
                try table.set(.experiences, .experience(Self.one, "advanced", url))
            }
            if !isProvedFirst { try table.set(.domains, .domain(Self.one, "example.com")) }
            #expect(Self.urls(table)?.count == limit)
            try table.set(.experiences, .experience(Self.one, "advanced", urls[limit]))
            #expect(table.site(ofHost: "example.com")?.urls == nil)
            for url in urls.dropFirst(limit / 2 + 1) {
                table.remove(.experiences, of: Self.one, key: ["advanced", url])
            }
            #expect(table.site(ofHost: "example.com")?.urls == nil)
            table.remove(.experiences, of: Self.one, key: ["advanced", urls[0]])
            #expect(Self.urls(table) == urls[1...(limit / 2)].sorted())
        }
    }
}
