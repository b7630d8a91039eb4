import Confirmations
import Foundation
import Geodesy
import Invocation
import Lookups
import Receipts
import Tenancy
import Testing
import ValueFixtures

@Suite struct TenantIsolationTests {
    private let other = TenantID(number: 2)

    private func experience(
        _ url: String, clip: String = Bakery.clip, kind: ExperienceKind = .advanced,
        _ binding: LocationBinding
    ) throws -> Experience {
        try Experience(url: URLPrefix(url), kind: kind, clip: BundleID(clip), binding: binding)
    }

    @Test(arguments: [
        "https://example.com/bound", "https://example.com/unbound", "https://example.com/path/x/a",
        "https://example.com/hash?h=bound", "https://example.com/place?lat=1&lon=2&sig=Z29vZA",
    ])
    func emptyTenantFindsNothing(url: String) throws {
        var bakery = try Bakery()
        #expect(try bakery.lookUp(url, of: other) == .doesNotMatch)
        try bakery.table.set(.tenants, .tenant(other))
        #expect(try bakery.lookUp(url, of: other) == .doesNotMatch)
    }

    @Test func lookupFindsTenantsOwnLocation() throws {
        var bakery = try Bakery()
        try bakery.open(of: other, name: "Another A", radius: 20)
        for url in [
            "https://example.com/bound", "https://example.com/path/x/a", "https://example.com/query?id=a",
            "https://example.com/hash?h=query",
        ] {
            let mine = try #require(try bakery.lookUp(url).location)
            let others = try #require(try bakery.lookUp(url, of: other).location)
            #expect(mine.name == "Bakery A")
            #expect(mine.region.radius.meters == 100)
            #expect(others.name == "Another A")
            #expect(others.region.radius.meters == 20)
        }
    }

    @Test func experienceDoesNotLeadToOtherTenantsLocation() throws {
        var bakery = try Bakery()
        try bakery.table.register(
            [
                experience("https://example.com/bound", .location(LocationIdentifier("a"))),
                experience("https://example.com/query", .rule(IdentifierRule("query:id"))),
            ], of: other)
        for (url, expected) in [
            ("https://example.com/bound", "unknownIdentifier in bound"),
            ("https://example.com/query?id=a", "unknownIdentifier in query"),
        ] {
            #expect(try bakery.lookUp(url).location?.name == "Bakery A")
            #expect(try bakery.lookUp(url, of: other).summary == expected)
        }
    }

    @Test func locationIsNotFoundByOtherTenantsExperience() throws {
        var bakery = try Bakery()
        try bakery.table.set(.tenants, .tenant(other))
        try bakery.table.set(.locations, .location(other, "a"))
        try bakery.table.set(.locations, .location(other, "gone"))
        #expect(try bakery.lookUp("https://example.com/bound", of: other) == .doesNotMatch)
        #expect(try bakery.lookUp("https://example.com/gone").summary == "unknownIdentifier in gone")
    }

    @Test func shortCodeBelongsToItsTenant() throws {
        var bakery = try Bakery()
        try bakery.table.register(
            [experience("https://example.com/hash", .rule(IdentifierRule("hash:h")))], of: other)
        let url = "https://example.com/hash?h=bound"
        #expect(try bakery.lookUp(url, of: other).summary == "unknownIdentifier in hash")
        try bakery.table.set(.shortCodes, .shortCode(other, "bound", "https://example.com/unbound"))
        #expect(try bakery.lookUp(url, of: other) == .doesNotMatch)
        #expect(try bakery.lookUp(url).summary == "a by bound")
    }

    @Test func defaultLinkLeadsToTenantsOwnExperience() throws {
        var bakery = try Bakery()
        let link = "https://appclip.apple.com/id?p=\(Bakery.clip)"
        let a = LocationBinding.location(try LocationIdentifier("a"))
        try bakery.table.register(
            [experience("https://example.com/app", kind: .default, a)], of: bakery.tenant)
        #expect(try bakery.lookUp(link).summary == "a by app")
        #expect(try bakery.lookUp(link, of: other) == .doesNotMatch)
        try bakery.table.register(
            [experience("https://example.com/unbound", kind: .default, .unbound)], of: other)
        #expect(try bakery.lookUp(link, of: other).summary == "noIdentifier in unbound")
        #expect(try bakery.lookUp(link).summary == "a by app")
    }

    @Test func clipOfSameNameIsSeparatePerTenant() throws {
        var bakery = try Bakery()
        try bakery.open(of: other)
        try bakery.table.set(.clips, .clip(other, Bakery.clip, isMultiBusiness: true))
        for (tenant, isMultiBusiness) in [(bakery.tenant, false), (other, true)] {
            guard
                case .found(let experience, _) = try bakery.lookUp("https://example.com/bound", of: tenant)
            else {
                Issue.record("nothing found")
                continue
            }
            #expect(experience.clipIsMultiBusiness == isMultiBusiness)
        }
    }

    @Test func signatureIsValidOnlyForItsTenant() throws {
        var bakery = try Bakery()
        try bakery.open(of: other)
        let url = "https://example.com/place?lat=1&lon=2&sig=Z29vZA"
        #expect(try bakery.lookUp(url).summary == "1,2 by place")
        #expect(try bakery.lookUp(url, of: other).summary == "unknownIdentifier in place")
    }

    @Test func confirmationUsesTenantsOwnLocation() throws {
        var bakery = try Bakery()
        try bakery.open(of: other)
        try bakery.table.set(.locations, .location(other, "a", latitude: -10, longitude: 20))
        let request = ConfirmationRequest(
            url: try InvocationURL("https://example.com/bound"), source: .nfc, access: .allowed,
            evidence: .coordinate(bakery.center, horizontalAccuracy: nil))
        func outcome(of tenant: TenantID) -> Confirmations.Confirmation.Outcome {
            let table = bakery.table(of: tenant)
            return bakery.confirmer.confirm(request, table.lookUp(request.url), in: table, at: Date()).outcome
        }
        #expect(outcome(of: bakery.tenant) == .inRegion)
        #expect(outcome(of: other) == .notInRegion)
    }
}
