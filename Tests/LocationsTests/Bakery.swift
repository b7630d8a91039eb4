import Foundation
import Geodesy
import Invocation
import Locations
import Tenancy

/// A tenant with an experience for each way to know a location, and one location 100 m around its center.
struct Bakery {
    let tenant = TenantID(UUID())
    let center: Coordinate
    var store = MemoryLocationStore()
    var signatures = MemorySignatures()

    init(
        center: (latitude: Double, longitude: Double) = (37.334722, -122.008889), radius: Double = 100
    ) throws {
        self.center = try Coordinate(latitude: center.latitude, longitude: center.longitude)
        let a = try LocationIdentifier("a")
        var catalogue = MemoryCatalogue()
        catalogue.locations = [
            Location(
                identifier: a, name: "Bakery A",
                region: try CircularRegion(center: self.center, radius: Distance(meters: radius)))
        ]
        catalogue.experiences = try [
            Self.experience("https://example.com/unbound", .unbound),
            Self.experience("https://example.com/bound", .location(a)),
            Self.experience("https://example.com/gone", .location(LocationIdentifier("gone"))),
            Self.experience("https://example.com/path", .rule(IdentifierRule("path:2"))),
            Self.experience("https://example.com/query", .rule(IdentifierRule("query:id"))),
            Self.experience("https://example.com/hash", .rule(IdentifierRule("hash:h"))),
            Self.experience("https://example.com/place", .rule(IdentifierRule("coordinates:lat,lon"))),
            Self.experience("https://example.com/wide", .rule(IdentifierRule("coordinates:lat,lon,r"))),
            Self.experience("https://example.com/path/demo/a", .unbound, kind: .demo),
        ]
        catalogue.shortCodes = try [
            "bound": InvocationURL("https://example.com/bound/cake"),
            "query": InvocationURL("https://example.com/query?id=a"),
            "absent": InvocationURL("https://example.com/query"),
            "unknown": InvocationURL("https://example.com/query?id=b"),
            "nowhere": InvocationURL("https://example.org/bound"),
            "plain": InvocationURL("http://example.com/bound"),
            "chain": InvocationURL("https://example.com/hash?h=bound"),
            "place": InvocationURL("https://example.com/place?lat=1&lon=2&sig=Z29vZA"),
        ]
        store.catalogues[tenant] = catalogue
        signatures.signed[tenant] = [
            "https://example.com/place?lat=1&lon=2", "https://example.com/place?lat=-90&lon=180",
            "https://example.com/place?lat=90.1&lon=2", "https://example.com/place?lat=1&lon=-180.5",
            "https://example.com/place?lat=1&lon=2&r=9", "https://example.com/wide?lat=1&lon=2&r=500",
            "https://example.com/wide?lat=1&lon=2&r=500.1", "https://example.com/wide?lat=1&lon=2&r=0",
            "https://example.com/wide?lat=1&lon=2&r=-5", "https://example.com/wide?lat=1&lon=2",
        ]
    }

    var directory: LocationDirectory { LocationDirectory(store: store, signatures: signatures) }

    private static func experience(
        _ url: String, _ binding: LocationBinding, kind: ExperienceKind = .advanced
    ) throws -> Experience {
        try Experience(
            url: URLPrefix(url), kind: kind, clip: BundleID("com.example.Bakery.Clip"), binding: binding)
    }
}
