import Confirmations
import Geodesy
import Invocation
import Lookups
import Testing
import ValueFixtures

@Suite struct LookupTests {
    @Test(arguments: [
        // No experience
        ("https://example.com", "doesNotMatch"),
        ("https://example.com/boundary", "doesNotMatch"),
        ("https://www.example.com/bound", "doesNotMatch"),
        // No match, although an experience has the same host and path
        ("http://example.com/bound", "doesNotMatch"),
        ("https://example.com:8443/bound", "doesNotMatch"),
        ("https://192.0.2.1/bound", "doesNotMatch"),
        // No location and no rule
        ("https://example.com/unbound", "noIdentifier in unbound"),
        // One location, with any further path and query
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
        // hash:h: one lookup of a code, no chains
        ("https://example.com/hash?h=bound", "a by bound"),
        ("https://example.com/hash?h=query", "a by query"),
        ("https://example.com/hash?h=absent", "noIdentifier in query"),
        ("https://example.com/hash?h=unknown", "unknownIdentifier in query"),
        ("https://example.com/hash?h=place", "1,2 by place"),
        ("https://example.com/hash?h=nowhere", "doesNotMatch"),
        ("https://example.com/hash?h=plain", "doesNotMatch"),
        ("https://example.com/hash?h=chain", "shortCodeAgain in hash"),
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
    func identifierRulesGiveExpectedOutcomes(url: String, expected: String) throws {
        #expect(try Bakery().lookUp(url).summary == expected)
    }

    @Test func lookupPrefersMostSpecificExperienceEvenWithoutIdentifier() throws {
        #expect(
            try Bakery().lookUp("https://example.com/path/demo/a").summary == "noIdentifier in path/demo/a")
    }

    @Test func signedPositionHasNoNameAndDefaultRadius100() throws {
        let bakery = try Bakery()
        for (url, radius) in [
            ("https://example.com/place?lat=1&lon=2&sig=Z29vZA", 100.0),
            ("https://example.com/place?lat=1&lon=2&r=9&sig=Z29vZA", 100),
            ("https://example.com/wide?lat=1&lon=2&r=500&sig=Z29vZA", 500),
        ] {
            let location = try #require(try bakery.lookUp(url).location)
            #expect(location.name == nil)
            #expect(location.region.center == (try Coordinate(latitude: 1, longitude: 2)))
            #expect(location.region.radius == Distance(meters: radius))
        }
    }

    @Test func lookupReturnsLocationOfRow() throws {
        let bakery = try Bakery(radius: 0.5)
        let location = try #require(try bakery.lookUp("https://example.com/bound").location)
        #expect(location.identifier.text == "a")
        #expect(location.name == "Bakery A")
        #expect(location.region.center == bakery.center)
        #expect(location.region.radius == Distance(meters: 0.5))
    }

    @Test(arguments: [
        "https://example.com", "https://example.com/unbound", "https://example.com/gone",
    ])
    func lookupHasLocationOnlyIfFound(url: String) throws {
        #expect(try Bakery().lookUp(url).location == nil)
    }

    @Test func multiBusinessFlagComesFromClipRow() throws {
        var bakery = try Bakery()
        func isMultiBusiness() throws -> Bool {
            guard case .found(let experience, _) = try bakery.lookUp("https://example.com/bound") else {
                throw Unexpected()
            }
            return experience.clipIsMultiBusiness
        }
        #expect(try !isMultiBusiness())
        try bakery.table.set(.clips, .clip(bakery.tenant, Bakery.clip, isMultiBusiness: true))
        #expect(try isMultiBusiness())
        try bakery.table.set(.clips, .clip(bakery.tenant, Bakery.clip, isMultiBusiness: false))
        #expect(try !isMultiBusiness())
        try bakery.table.set(.clips, .clip(bakery.tenant, "com.example.Other.Clip", isMultiBusiness: true))
        #expect(try !isMultiBusiness())
    }

    private struct Unexpected: Error {}
}
