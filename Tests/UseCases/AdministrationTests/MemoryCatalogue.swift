import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Tenancy

/// The data of an invented tenant, and the names of its metadata.
struct MemoryCatalogue: CatalogueReader {
    var tenant: Tenant
    var clipList: [Clip] = []
    var images: [CardImage] = []
    var domainList: [DomainRecord] = []
    var locations: [LocationRecord] = []
    var experiences: [ExperienceRecord] = []
    var codes: [ShortCode] = []

    init() throws {
        tenant = try Tenant(
            id: TenantID(UUID()), slug: TenantSlug("acme"), name: DisplayName("Acmé, \"Inc.\""),
            createdAt: Date(timeIntervalSince1970: 0), suspendedAt: nil,
            limits: RequestLimits(
                key: RateLimit("1:2"), newInstances: RateLimit("3:4"), clientNewInstances: RateLimit("5:6")),
            collapsePolicy: .none)
    }

    func clips() -> [Clip] { clipList }
    func eachImage(_ body: (CardImage) throws -> Void) throws { try images.forEach(body) }
    func domains() -> [DomainRecord] { domainList }

    func furtherColumns<Item: CollectionResource>(of _: Item.Type) -> [String] {
        let names = Set(items(Item.self).flatMap { $0.furtherFields.map { Array($0.key.utf8) } })
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    func each<Item: CollectionResource>(_: Item.Type, _ body: (Item) throws -> Void) throws {
        try items(Item.self).forEach(body)
    }

    private func items<Item: CollectionResource>(_: Item.Type) -> [Item] {
        let all: [any CollectionResource] = locations + experiences + codes
        return all.compactMap { $0 as? Item }
    }

    /// One item of each kind, with texts that are difficult for a format.
    static func sample() throws -> MemoryCatalogue {
        var catalogue = try MemoryCatalogue()
        let clip = try BundleID("com.example.MyApp.Clip")
        catalogue.clipList = [try Clip(bundleID: clip, teamID: TeamID("ABCDE12345"), isMultiBusiness: true)]
        catalogue.domainList = [
            DomainRecord(
                name: try DomainName("example.com"), challenge: "c", claimedAt: Date(),
                proof: DomainRecord.Proof(method: .dns, provedAt: Date()), checkedAt: nil, lapsedAt: nil)
        ]
        for (index, text) in awkward.enumerated() {
            catalogue.locations.append(
                try location(
                    text, name: text, latitude: -1.5e-7 * Double(index), longitude: 180 / 7,
                    metadata: [
                        "note": .string(text + "\r\n\"\t"), "é": "e\u{301}", "e\u{301}": .string(text),
                    ],
                    details: index == 0 ? [:] : ["phone": .string(text), "é": "\n", "e\u{301}.x": "é"]))
        }
        func experience(
            _ url: String, _ kind: ExperienceKind, _ binding: LocationBinding, _ title: String? = nil
        ) throws -> ExperienceRecord {
            try ExperienceRecord(
                Experience(url: URLPrefix(url), kind: kind, clip: clip, binding: binding), title: title,
                subtitle: title.map { $0 + ", \"now\"" })
        }
        catalogue.experiences = [
            try experience(
                "https://example.com/a", .advanced, .location(LocationIdentifier(awkward[0])), "A, b"),
            try experience("https://example.com/b?p=1,2", .advanced, .rule(IdentifierRule("query:l"))),
            try experience("https://example.com/c", .default, .rule(IdentifierRule("coordinates:a,b,c"))),
            try experience("https://example.com/d", .demo, .unbound),
        ]
        catalogue.codes = [
            try ShortCode(code: "x,\"", url: InvocationURL("https://example.com/b?p=1,2&l=%22"))
        ]
        return catalogue
    }

    static let awkward = [
        "a", "a,b", "\"", "\"\"", "=1+1", "in side", "é", "e\u{301}", "日本", "🍩", "\\N", "{}", "''", "null",
        "#",
    ]

    static func location(
        _ identifier: String, name: String = "A place", latitude: Double = 1, longitude: Double = 2,
        radius: Double = 100, metadata: JSONObject = [:],
        details: JSONObject = [:]
    ) throws -> LocationRecord {
        try LocationRecord(
            identifier: LocationIdentifier(identifier), name: DisplayName(name),
            region: CircularRegion(
                center: Coordinate(latitude: latitude, longitude: longitude), radius: Distance(meters: radius)
            ), metadata: metadata, details: LocationDetails(details))
    }
}

/// Collects the output of an export.
final class Written {
    private(set) var bytes: [UInt8] = []
    func append(_ more: [UInt8]) { bytes += more }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
