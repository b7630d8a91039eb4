import Foundation
import Geodesy
import Invocation
import Locations
import Tenancy
import Testing

@Suite struct LookupTests {
    /// The outcome of looking a URL up, and the path of the experience that is named.
    private func outcome(_ url: String, in bakery: Bakery, of tenant: TenantID? = nil) async throws -> String
    {
        let lookup = try await bakery.directory.lookUp(InvocationURL(url), of: tenant ?? bakery.tenant)
        func path(_ experience: Experience) -> String { experience.url.pathComponents.joined(separator: "/") }
        return switch lookup {
        case .found(let experience, let location): "\(location.identifier) by \(path(experience))"
        case .doesNotMatch: "doesNotMatch"
        case .noIdentifier(let experience): "noIdentifier in \(path(experience))"
        case .unknownIdentifier(let experience): "unknownIdentifier in \(path(experience))"
        }
    }

    @Test(arguments: [
        // No experience
        ("https://example.com", "doesNotMatch"),
        ("https://example.com/boundary", "doesNotMatch"),
        ("https://www.example.com/bound", "doesNotMatch"),
        // URLs that match nothing, though an experience has the same host and path
        ("http://example.com/bound", "doesNotMatch"),
        ("https://example.com:8443/bound", "doesNotMatch"),
        ("https://192.0.2.1/bound", "doesNotMatch"),
        // No location and no rule
        ("https://example.com/unbound", "noIdentifier in unbound"),
        // One location, whatever follows
        ("https://example.com/bound", "a by bound"),
        ("HTTPS://EXAMPLE.com:443/bound/cake?id=b#top", "a by bound"),
        ("https://example.com/gone", "unknownIdentifier in gone"),
        // path:2
        ("https://example.com/path/x/a", "a by path"),
        ("https://example.com/path/x/%61/cake", "a by path"),
        ("https://example.com/path/x/A", "unknownIdentifier in path"),
        ("https://example.com/path/x", "noIdentifier in path"),
        ("https://example.com/path/x//a", "noIdentifier in path"),
        ("https://example.com/path/x/%00", "noIdentifier in path"),
        // query:id
        ("https://example.com/query?x=1&id=a", "a by query"),
        ("https://example.com/query?id=b", "unknownIdentifier in query"),
        ("https://example.com/query?id=b&id=a", "unknownIdentifier in query"),
        ("https://example.com/query?ID=a", "noIdentifier in query"),
        ("https://example.com/query?id=", "noIdentifier in query"),
        // hash:h: one resolution, no chains
        ("https://example.com/hash?h=bound", "a by bound"),
        ("https://example.com/hash?h=query", "a by query"),
        ("https://example.com/hash?h=absent", "noIdentifier in query"),
        ("https://example.com/hash?h=unknown", "unknownIdentifier in query"),
        ("https://example.com/hash?h=place", "1,2 by place"),
        ("https://example.com/hash?h=nowhere", "doesNotMatch"),
        ("https://example.com/hash?h=plain", "doesNotMatch"),
        ("https://example.com/hash?h=chain", "unknownIdentifier in hash"),
        ("https://example.com/hash?h=BOUND", "unknownIdentifier in hash"),
        ("https://example.com/hash", "noIdentifier in hash"),
        // coordinates:lat,lon
        ("https://example.com/place?lat=1&lon=2&sig=Z29vZA", "1,2 by place"),
        ("https://example.com/place?sig=Z29vZA&lat=1&lon=2#top", "1,2 by place"),
        ("https://example.com/place?lat=-90&lon=180&sig=Z29vZA", "-90,180 by place"),
        ("https://example.com/place?lat=1&lon=2&sig=YmFk", "unknownIdentifier in place"),
        ("https://example.com/place?lat=1&lon=3&sig=Z29vZA", "unknownIdentifier in place"),
        ("https://example.com/place?lat=1&lon=2&r=8&sig=Z29vZA", "unknownIdentifier in place"),
        ("https://example.com/place?lat=1&lon=2", "noIdentifier in place"),
        ("https://example.com/place?lat=1&lon=2&sig=", "noIdentifier in place"),
        ("https://example.com/place?lat=1&sig=Z29vZA", "noIdentifier in place"),
        ("https://example.com/place?lat=nan&lon=2&sig=Z29vZA", "noIdentifier in place"),
        ("https://example.com/place?lat=90.1&lon=2&sig=Z29vZA", "noIdentifier in place"),
        ("https://example.com/place?lat=1&lon=-180.5&sig=Z29vZA", "noIdentifier in place"),
        // coordinates:lat,lon,r
        ("https://example.com/wide?lat=1&lon=2&r=500&sig=Z29vZA", "1,2 by wide"),
        ("https://example.com/wide?lat=1&lon=2&r=500.1&sig=Z29vZA", "noIdentifier in wide"),
        ("https://example.com/wide?lat=1&lon=2&r=0&sig=Z29vZA", "noIdentifier in wide"),
        ("https://example.com/wide?lat=1&lon=2&r=-5&sig=Z29vZA", "noIdentifier in wide"),
        ("https://example.com/wide?lat=1&lon=2&sig=Z29vZA", "noIdentifier in wide"),
    ])
    func `Each identifier rule has its outcomes`(url: String, expected: String) async throws {
        #expect(try await outcome(url, in: Bakery()) == expected)
    }

    @Test func `The most specific experience answers, also when it leads nowhere`() async throws {
        #expect(
            try await outcome("https://example.com/path/demo/a", in: Bakery())
                == "noIdentifier in path/demo/a")
    }

    @Test func `A signed place has no name, and the radius of its URL or 100 m`() async throws {
        let bakery = try Bakery()
        for (url, radius) in [
            ("https://example.com/place?lat=1&lon=2&sig=Z29vZA", 100.0),
            ("https://example.com/place?lat=1&lon=2&r=9&sig=Z29vZA", 100),
            ("https://example.com/wide?lat=1&lon=2&r=500&sig=Z29vZA", 500),
        ] {
            let lookup = try await bakery.directory.lookUp(InvocationURL(url), of: bakery.tenant)
            let location = try #require(lookup.location)
            #expect(location.name == nil)
            #expect(location.region.center == (try Coordinate(latitude: 1, longitude: 2)))
            #expect(location.region.radius == Distance(meters: radius))
        }
    }

    @Test func `Only a found location is there to be read`() throws {
        let url = try URLPrefix("https://example.com")
        let experience = try Experience(url: url, kind: .advanced, clip: BundleID("com.example.Bakery.Clip"))
        for lookup in [Lookup.doesNotMatch, .noIdentifier(experience), .unknownIdentifier(experience)] {
            #expect(lookup.location == nil)
        }
    }

    @Test func `One tenant finds nothing of another`() async throws {
        let bakery = try Bakery()
        let other = TenantID(UUID())
        #expect(
            try await outcome("https://example.com/bound", in: bakery, of: other) == "doesNotMatch")
    }

    @Test func `A signature of one tenant says nothing to another`() async throws {
        var bakery = try Bakery()
        let other = TenantID(UUID())
        bakery.store.catalogues[other] = bakery.store.catalogues[bakery.tenant]
        #expect(
            try await outcome(
                "https://example.com/place?lat=1&lon=2&sig=Z29vZA", in: bakery, of: other)
                == "unknownIdentifier in place")
    }

    @Test(arguments: [
        (MemoryLocationStore.Call.catalogue, "https://example.com/bound"),
        (.experiences, "https://example.com/bound"),
        (.location, "https://example.com/bound"),
        (.shortCode, "https://example.com/hash?h=bound"),
    ])
    func `What the store throws is thrown`(call: MemoryLocationStore.Call, url: String) async throws {
        var bakery = try Bakery()
        bakery.store.failing = call
        await #expect(throws: MemoryLocationStore.Failure(call: call)) {
            try await bakery.directory.lookUp(InvocationURL(url), of: bakery.tenant)
        }
    }

    @Test func `The store is not asked about a URL that nothing can match`() async throws {
        var bakery = try Bakery()
        bakery.store.failing = .catalogue
        #expect(try await outcome("http://example.com/bound", in: bakery) == "doesNotMatch")
    }
}
