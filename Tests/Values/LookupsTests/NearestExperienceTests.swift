import Cards
import Invocation
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

@Suite struct NearestExperienceTests {
    private static let one = TenantID(number: 1)
    private static let two = TenantID(number: 2)

    private static func table() throws -> LookupIndex {
        var table = LookupIndex()
        for tenant in [one, two] { try table.set(.tenants, .tenant(tenant)) }
        return table
    }

    private static func nearest(
        _ url: String, in table: LookupIndex, otherThan other: String? = nil, comparing maximum: Int = 1_000
    ) throws -> String? {
        try table.of(one).nearestExperience(to: InvocationURL(url), otherThan: other, comparing: maximum)?.url
    }

    /// Whether or not the experience leads to a location, and whatever its rule is.
    @Test(arguments: [
        ("advanced", nil, nil), ("default", nil, nil), ("advanced", "a", nil), ("advanced", nil, "path:1"),
        ("advanced", nil, "path:2"), ("advanced", nil, "query:id"), ("advanced", nil, "hash:h"),
        ("advanced", nil, "coordinates:x,y"),
    ])
    func nearestExperienceMayHaveAnyBinding(kind: String, location: String?, rule: String?) throws {
        var table = try Self.table()
        let url = "https://example.com/restaurants"
        let row = { (tenant: TenantID, url: String) in
            IndexRow.experience(tenant, kind, url, location: location, rule: rule)
        }
        for isNew in [true, false] {
            try table.set(.experiences, row(Self.one, url), isNew: isNew)
            #expect(try Self.nearest("https://example.com/restaurant", in: table) == url)
            table.settle()
            #expect(try Self.nearest("https://exmaple.com/restaurants", in: table) == url)
            #expect(try Self.nearest("https://exmaple.com/restaurants", in: table, otherThan: url) == nil)
            #expect(try Self.nearest("https://example.org/other", in: table) == nil)
            if isNew {
                table.remove(.experiences, of: Self.one, key: [kind, url])
            } else {
                table.removeAll(.experiences, of: Self.one)
            }
            #expect(try Self.nearest("https://example.com/restaurant", in: table) == nil)
            #expect(table.nearby.allSatisfy { $0.others.count == 0 })
        }
    }

    @Test func demoExperienceIsNeverNearest() throws {
        var table = try Self.table()
        for (number, rule) in [nil, "path:1", "hash:h"].enumerated() {
            try table.set(
                .experiences,
                .experience(Self.one, "demo", "https://example.com/restaurants/\(number)", rule: rule))
        }
        #expect(try Self.nearest("https://example.com/restaurants/9", in: table) == nil)
        #expect(table.nearby.allSatisfy { $0.others.count == 0 })
    }

    /// However many experiences other tenants have.
    @Test func experiencesOfOtherTenantsAreNotCompared() throws {
        var table = try Self.table()
        for number in 0..<500 {
            for rule in [nil, "path:1"] {
                let url = "https://example.com/\(rule == nil ? "a" : "b")/\(number)"
                try table.set(.experiences, .experience(Self.two, "advanced", url, rule: rule))
            }
        }
        let url = "https://example.com/a/restaurants"
        try table.set(.experiences, .experience(Self.one, "advanced", url))
        #expect(try Self.nearest("https://example.com/a/restaurant", in: table, comparing: 1) == url)
        #expect(try Self.nearest("https://example.com/a/restaurant", in: table, comparing: 0) == nil)
    }
}
