import Confirmations
import Invocation
import Lookups
import Tenancy
import Testing
import ValueFixtures

@Suite struct DefaultLinkTests {
    private static let link = "https://appclip.apple.com/id?p=com.example."
    private var table = LookupIndex()

    init() throws {
        let a = LocationBinding.location(try LocationIdentifier("a"))
        let tenant = LookupIndex.tenant
        try table.register(
            [
                Self.experience("https://bound.example.com", "Bound", a),
                Self.experience("https://unbound.example.com", "Unbound", .unbound),
                Self.experience("https://path.example.com", "Path", .rule(IdentifierRule("path:1"))),
                Self.experience("https://query.example.com/b", "Query", .rule(IdentifierRule("query:id"))),
                Self.experience("https://hash.example.com", "Hash", .rule(IdentifierRule("hash:h"))),
                Self.experience(
                    "https://place.example.com", "Place", .rule(IdentifierRule("coordinates:lat,lon"))),
                Self.experience(Self.link + "Own", "Own", .rule(IdentifierRule("query:id"))),
                Self.experience(Self.link + "Deep", "Deep", .rule(IdentifierRule("path:1"))),
                Self.experience("https://advanced.example.com", "Advanced", a, kind: .advanced),
                Self.experience("https://demo.example.com", "Demo", a, kind: .demo),
            ], of: tenant)
        // `id` is the path of every default link.
        for identifier in ["a", "id"] { try table.set(.locations, .location(tenant, identifier)) }
        for (code, url) in [
            ("bound", Self.link + "Bound"), ("path", Self.link + "Path"), ("none", Self.link + "None"),
        ] {
            try table.set(.shortCodes, .shortCode(tenant, code, url))
        }
    }

    private static func experience(
        _ url: String, _ clip: String, _ binding: LocationBinding, kind: ExperienceKind = .default
    ) throws -> Experience {
        try Experience(
            url: URLPrefix(url), kind: kind, clip: BundleID("com.example." + clip), binding: binding)
    }

    private func lookUp(_ url: String) throws -> String {
        let tenant = LookupIndex.tenant
        let signed = Self.link + "Place&lat=1&lon=2"
        let signatures = MemorySignatures(signed: [tenant: [signed]])
        return try table.of(tenant, trusting: .signed(signatures)).lookUp(InvocationURL(url)).summary
    }

    @Test(arguments: [
        // The default experience of the clip, with any registered URL.
        ("Bound", "a by https://bound.example.com"), ("Bound&id=b", "a by https://bound.example.com"),
        ("Unbound", "noIdentifier in https://unbound.example.com"),
        // A rule reads the link's own parameters.
        ("Query&id=a", "a by https://query.example.com/b"),
        ("Query&id=b", "unknownIdentifier in https://query.example.com/b"),
        ("Query", "noIdentifier in https://query.example.com/b"),
        ("Place&lat=1&lon=2&sig=Z29vZA", "1,2 by https://place.example.com"),
        ("Place&lat=1&lon=3&sig=Z29vZA", "unknownIdentifier in https://place.example.com"),
        // A short code leads to a default link, and a default link to a short code.
        ("Hash&h=bound", "a by https://bound.example.com"),
        ("Hash&h=path", "noIdentifier in https://path.example.com"), ("Hash&h=none", "doesNotMatch"),
        // The default experience is registered with the default link itself.
        ("Own&id=a", "a by https://appclip.apple.com/id?p=com.example.Own"),
        ("Own", "noIdentifier in https://appclip.apple.com/id?p=com.example.Own"),
        ("Deep", "noIdentifier in https://appclip.apple.com/id?p=com.example.Deep"),
        // A clip without a default experience, and an unknown clip.
        ("Advanced", "doesNotMatch"), ("Demo", "doesNotMatch"), ("None", "doesNotMatch"),
    ])
    func defaultLinkLeadsToClipsDefaultExperience(
        clip: String, expected: String
    ) throws {
        #expect(try lookUp(Self.link + clip) == expected)
    }

    /// Apple chose the path of a default link, so a rule does not read it, even if a location has this name.
    @Test func pathRuleReachedByDefaultLinkReadsNothing() throws {
        #expect(try lookUp(Self.link + "Path") == "noIdentifier in https://path.example.com")
        #expect(try lookUp(Self.link + "Path&id=a") == "noIdentifier in https://path.example.com")
        #expect(try lookUp("https://path.example.com/id") == "id by https://path.example.com")
        #expect(try lookUp("https://path.example.com/a") == "a by https://path.example.com")
    }

    @Test(arguments: [
        "https://appclip.apple.com/id?id=a&p=com.example.Query", "https://appclip.apple.com/id",
        "https://appclip.apple.com/id/a?p=com.example.Bound", "https://appclip.apple.com?p=com.example.Bound",
        "http://appclip.apple.com/id?p=com.example.Bound",
        "https://appclip.example.com/id?p=com.example.Bound",
    ])
    func malformedDefaultLinkDoesNotMatch(url: String) throws {
        #expect(try lookUp(url) == "doesNotMatch")
    }
}
