import Confirmations
import Geodesy
import Invocation
import Lookups
import Tenancy
import ValueFixtures

/// A tenant with an experience for each way to identify a location, and one location with a radius of 100 m.
struct Bakery {
    let tenant = LookupIndex.tenant
    let center: Coordinate
    let recorder = MemoryRecorder()
    var table = LookupIndex()
    var signatures = MemorySignatures()

    init(
        center: (latitude: Double, longitude: Double) = (37.334722, -122.008889), radius: Double = 100
    ) throws {
        self.center = try Coordinate(latitude: center.latitude, longitude: center.longitude)
        try open(of: tenant, radius: radius)
        signatures.signed[tenant] = [
            "https://example.com/place?lat=1&lon=2", "https://example.com/place?lat=-90&lon=180",
            "https://example.com/place?lat=90.1&lon=2", "https://example.com/place?lat=1&lon=-180.5",
            "https://example.com/place?lat=1&lon=2&r=9", "https://example.com/wide?lat=1&lon=2&r=500",
            "https://example.com/wide?lat=1&lon=2&r=500.1", "https://example.com/wide?lat=1&lon=2&r=0",
            "https://example.com/wide?lat=1&lon=2&r=-5", "https://example.com/wide?lat=1&lon=2",
        ]
    }

    var confirmer: Confirmer { Confirmer(recordingTo: recorder) }

    /// The table of this tenant or of another one.
    func table(of other: TenantID? = nil) -> TenantTable {
        table.of(other ?? tenant, trusting: .signed(signatures))
    }

    func lookUp(_ url: String, of other: TenantID? = nil) throws -> Lookup {
        try table(of: other).lookUp(InvocationURL(url))
    }

    /// Adds a tenant with the same data, but without signatures.
    mutating func open(of tenant: TenantID, name: String = "Bakery A", radius: Double = 100) throws {
        let a = try LocationIdentifier("a")
        try table.register(
            [
                Self.experience("https://example.com/unbound", .unbound),
                Self.experience("https://example.com/bound", .location(a)),
                Self.experience("https://example.com/gone", .location(LocationIdentifier("gone"))),
                Self.experience("https://example.com/path", .rule(IdentifierRule("path:2"))),
                Self.experience("https://example.com/query", .rule(IdentifierRule("query:id"))),
                Self.experience("https://example.com/hash", .rule(IdentifierRule("hash:h"))),
                Self.experience("https://example.com/place", .rule(IdentifierRule("coordinates:lat,lon"))),
                Self.experience("https://example.com/wide", .rule(IdentifierRule("coordinates:lat,lon,r"))),
                Self.experience("https://example.com/path/demo/a", .unbound, kind: .demo),
            ], of: tenant)
        try table.set(
            .locations,
            .location(
                tenant, "a", name: name, latitude: center.latitude, longitude: center.longitude,
                radius: radius))
        for (code, url) in [
            ("bound", "https://example.com/bound/cake"), ("query", "https://example.com/query?id=a"),
            ("absent", "https://example.com/query"), ("unknown", "https://example.com/query?id=b"),
            ("nowhere", "https://example.org/bound"), ("plain", "http://example.com/bound"),
            ("chain", "https://example.com/hash?h=bound"),
            ("place", "https://example.com/place?lat=1&lon=2&sig=Z29vZA"),
        ] {
            try table.set(.shortCodes, .shortCode(tenant, code, url))
        }
    }

    static let clip = "com.example.Bakery.Clip"

    private static func experience(
        _ url: String, _ binding: LocationBinding, kind: ExperienceKind = .advanced
    ) throws -> Experience {
        try Experience(url: URLPrefix(url), kind: kind, clip: BundleID(clip), binding: binding)
    }
}
