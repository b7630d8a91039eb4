import Cards
import Foundation
import Invocation
import Lookups
import Tenancy
import Testing
import ValueFixtures

@testable import Administration

@Suite struct CatalogueLintTests {
    /// A table with experiences for these URLs and locations.
    private func table(_ places: [String: String] = [:]) throws -> TenantTable {
        var table = try LookupIndex(
            places.map { url, identifier in
                let isLink = url.hasPrefix("https://\(DefaultLink.host)/")
                return try experience(url, isLink ? .default : .advanced, location: identifier)
            })
        for identifier in places.values {
            try table.set(.locations, .location(LookupIndex.tenant, identifier))
        }
        return table.of(LookupIndex.tenant)
    }

    private static let clip = "com.example.MyApp.Clip"

    private func experience(
        _ url: String, _ kind: ExperienceKind = .advanced, clip: String = CatalogueLintTests.clip,
        location: String? = nil, rule: String? = nil
    ) throws -> Experience {
        try Experience(
            url: URLPrefix(url), kind: kind, clip: BundleID(clip),
            binding: LocationBinding(location: location, rule: rule))
    }

    private func place(
        _ identifier: String, _ latitude: Double = 1, _ longitude: Double = 2, radius: Double = 100
    ) throws -> CatalogueLint.Place {
        CatalogueLint.Place(
            try MemoryCatalogue.location(identifier, latitude: latitude, longitude: longitude, radius: radius)
        )
    }

    /// The findings of one code: the URL, short code or location, and the conflicting item.
    private func findings(
        _ code: CatalogueFinding.Code, multiBusiness: Bool = false, _ experiences: [Experience] = [],
        _ places: [CatalogueLint.Place] = [], _ codes: [ShortCode] = [], leading: [String: String] = [:]
    ) throws -> [[String]] {
        let clip = try Clip(
            bundleID: BundleID(Self.clip), teamID: TeamID("ABCDE12345"), isMultiBusiness: multiBusiness)
        return try CatalogueLint(
            clips: [clip], experiences: experiences, places: places, codes: codes, table: table(leading)
        ).findings.filter { $0.code == code.rawValue }.map { finding in
            #expect(!finding.description.isEmpty)
            return [finding.shortCode ?? finding.url ?? finding.location?.text, finding.other].compactMap(
                \.self)
        }
    }

    /// Apple: every clip has a default experience.
    @Test func clipWithoutDefaultExperienceIsFound() throws {
        let link = "https://appclip.apple.com/id?p=\(Self.clip)"
        #expect(try findings(.missingDefaultExperience, [experience("https://example.com")]) == [[link]])
        #expect(try findings(.missingDefaultExperience, [experience(link, .default)]).isEmpty)
    }

    @Test func clipThatAppStoreConnectCallsUnpublishedIsFound() throws {
        let clips = try [Self.clip, "com.example.Other.Clip"].map {
            try Clip(bundleID: BundleID($0), teamID: TeamID("ABCDE12345"), isMultiBusiness: false)
        }
        let lint = try CatalogueLint(
            clips: clips, experiences: [], places: [], codes: [],
            unpublished: [BundleID("com.example.Other.Clip"), BundleID("com.example.gone.Clip")],
            table: table())
        #expect(
            lint.findings.filter { $0.code == "unpublished" }.map(\.url)
                == ["https://appclip.apple.com/id?p=com.example.Other.Clip"])
    }

    @Test func findingCodesAreUnique() {
        let codes = CatalogueFinding.Code.allCases.map(\.rawValue) + LintFinding.Code.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
    }

    @Test func findingsIncludeExperienceLint() throws {
        let experiences = try [
            experience("https://example.com/store"), experience("https://example.com/store2/menu"),
        ]
        let lint = try CatalogueLint(
            clips: [], experiences: experiences, places: [], codes: [], table: table())
        #expect(lint.findings.map(\.code) == ["raw_prefix_divergence"])
        #expect(lint.findings[0].url == "https://example.com/store2/menu")
        #expect(lint.findings[0].other == "https://example.com/store")
    }

    @Test func multiBusinessExperienceWithoutBusinessIsFound() throws {
        let experiences = try [
            experience("https://example.com/a"), experience("https://example.com/b", .default),
            experience("https://example.com/c", .demo), experience("https://example.com/d", location: "a"),
            experience("https://example.com/e", rule: "path:1"),
            experience("https://example.com/f", .demo, rule: "path:1"),
        ]
        #expect(try findings(.unbound, experiences).isEmpty)
        #expect(
            try findings(.unbound, multiBusiness: true, experiences) == [
                ["https://example.com/a"], ["https://example.com/b"],
            ])
    }

    /// A notification for everyone at a location needs an advanced experience that is bound to the location, or a clip of one business.
    @Test func locationThatCannotBeNotifiedIsFound() throws {
        let (many, one) = (Self.clip, "com.example.One.Clip")
        let clips = try [(many, true), (one, false)].map { bundleID, isMultiBusiness in
            try Clip(
                bundleID: BundleID(bundleID), teamID: TeamID("ABCDE12345"), isMultiBusiness: isMultiBusiness)
        }
        let experiences = try [
            experience("https://many.example/r", rule: "path:1"),
            experience("https://many.example/h", rule: "hash:c"),
            experience("https://many.example/r/bound", location: "bound"),
            experience("https://many.example/r/default", .default, location: "default"),
            experience("https://one.example/q", clip: one, rule: "query:l"),
            experience("https://one.example/h", clip: one, rule: "hash:c"),
        ]
        let identifiers = ["read", "bound", "default", "coded", "unregistered"]
        func notNotifiable(
            _ experiences: [Experience], places: [String] = identifiers, codes: [String: String] = [:]
        ) throws -> [String?] {
            var index = try LookupIndex(experiences)
            for clip in clips {
                try index.set(
                    .clips,
                    .clip(LookupIndex.tenant, clip.bundleID.text, isMultiBusiness: clip.isMultiBusiness))
            }
            for place in identifiers where place != "unregistered" {
                try index.set(.locations, .location(LookupIndex.tenant, place))
            }
            let codes = try codes.map { try ShortCode(code: $0.key, url: InvocationURL($0.value)) }
            return try CatalogueLint(
                clips: clips, experiences: experiences, places: places.map { try place($0) }, codes: codes,
                table: index.of(LookupIndex.tenant)
            ).findings.filter { $0.code == "not_business_specific" }.map { finding in
                #expect(finding.url == nil)
                return finding.location?.text
            }
        }
        // A query names each location to the clip of one business.
        #expect(try notNotifiable(experiences) == [])
        let ofMany = Array(experiences.prefix(4))
        #expect(try notNotifiable(ofMany) == ["read", "default", "coded"])
        // The clip of one business reaches the location by a short code alone.
        let byCode = ["c": "https://many.example/r/coded"]
        #expect(
            try notNotifiable(ofMany + experiences.suffix(1), codes: byCode) == ["read", "default", "coded"])
        #expect(try notNotifiable(Array(experiences.suffix(2))) == [])
        #expect(try notNotifiable([]) == [])
    }

    @Test func unknownIdentifierInRegisteredURLIsFound() throws {
        let experiences = try [
            experience("https://example.com/a?l=x", rule: "query:l"),
            experience("https://example.com/b?l=y", rule: "query:l"),
            experience("https://example.com/c?l=y", rule: "path:1"),
            experience("https://example.com/d?c=k", rule: "hash:c"),
            experience("https://example.com/e?c=m", rule: "hash:c"),
        ]
        let code = try ShortCode(code: "k", url: InvocationURL("https://example.com/a?l=x"))
        #expect(
            try findings(.unknownIdentifier, experiences, [place("x")], [code]) == [
                ["https://example.com/b?l=y"], ["https://example.com/e?c=m"],
            ])
    }

    @Test func deadShortCodeIsFound() throws {
        let codes = try ["a", "b"].map {
            try ShortCode(code: $0, url: InvocationURL("https://example.com/\($0)"))
        }
        #expect(
            try findings(.deadShortCode, [], [], codes, leading: ["https://example.com/a": "x"]) == [
                ["b"]
            ])
    }

    @Test func suspiciousCoordinatesAndRadiiAreFound() throws {
        let places = try [
            place("a", 0, 0), place("b", 0.0099, -0.0099), place("c", 0.01, 0), place("d", 0, 50),
            place("e", 3, 4, radius: 10), place("f", 3, 4, radius: 9.99), place("g", 3, 4),
            place("h", -0.0, 50),
        ]
        #expect(try findings(.nullIsland, [], places) == [["a"], ["b"]])
        #expect(try findings(.repeatedCoordinates, [], places) == [["f", "e"], ["g", "e"], ["h", "d"]])
        #expect(try findings(.smallRadius, [], places) == [["f"]])
    }

    /// All locations but one or two are in one place.
    @Test func misplacedAndRemoteLocationsAreFound() throws {
        let london = try (0..<100).map {
            try place("l\($0)", 51.3 + Double($0) / 500, -0.3 + Double($0) / 300)
        }
        func found(_ places: CatalogueLint.Place..., among others: [CatalogueLint.Place]) throws -> [String] {
            try [CatalogueFinding.Code.misplacedCoordinates, .remoteLocation].flatMap { code in
                try findings(code, [], others + places).map { "\(code.rawValue) \($0[0])" }
            }
        }
        // Exchanged; with the wrong sign; in another country; on null island, which is another finding.
        #expect(try found(place("x", -0.05, 51.49), among: london) == ["misplaced_coordinates x"])
        #expect(try found(place("x", -51.49, -0.05), among: london) == ["misplaced_coordinates x"])
        #expect(try found(place("x", 40.4, -3.7), among: london) == ["remote_location x"])
        #expect(try found(place("x", 0, 0), among: london) == [])
        let berlin = try (0..<100).map { try place("b\($0)", 52.5, 13 + Double($0) / 300) }
        #expect(try found(place("x", 52.5, -13.2), among: berlin) == ["misplaced_coordinates x"])
        // Leeds is 270 km from London.
        #expect(try found(place("x", 53.8, -1.55), among: london) == [])
        // Two of 102 are more than 1 %: the tenant has locations far apart.
        #expect(try found(place("x", 40.4, -3.7), place("y", 59.3, 18.1), among: london) == [])
        #expect(
            try found(place("x", 40.4, -3.7), place("y", -0.05, 51.49), among: london) == [
                "misplaced_coordinates y"
            ])
        #expect(try found(place("x", 40.4, -3.7), place("y", 40.5, -3.6), among: london) == [])
        // One location alone does not prove that another is wrong: Dubai and Vilnius, Lisbon and Cagliari.
        #expect(try found(place("x", 25.2, 55.27), place("y", 54.69, 25.28), among: []) == [])
        #expect(try found(place("x", 38.72, -9.14), place("y", 39.22, 9.12), among: []) == [])
        // A tenant's only location is far from no other.
        #expect(try found(place("x", 40.4, -3.7), among: []) == [])
        // Across the antimeridian, and around the pole.
        let suva = try (0..<100).map { try place("s\($0)", -18, 178 + Double($0) / 60) }
        #expect(try found(place("x", -18, -179.9), among: suva) == [])
        let pole = try (0..<100).map { try place("p\($0)", 89.9, Double($0)) }
        #expect(try found(place("x", 90, -120), among: pole) == [])
        #expect(try found(place("x", 88, -120), among: pole) == [])
    }

    /// A location is reachable by a bound URL, a code, or a URL that a rule reads. The table decides where each URL leads.
    @Test func unreachableLocationIsFound() throws {
        let places = try ["bound", "coded", "é/1", "item", "linked", "shadowed", "none"].map { try place($0) }
        let experiences = try [
            experience("https://example.com/bound", location: "bound"),
            experience("https://example.com/shadowed", .default, location: "shadowed"),
            experience("https://example.com/p?x=1", rule: "path:2"),
            experience("https://example.com/q?x=1", rule: "query:l"),
            experience("https://example.com/h", rule: "hash:c"),
            experience("https://example.com/d", .default, rule: "query:l"),
        ]
        let codes = [try ShortCode(code: "k", url: InvocationURL("https://example.com/long"))]
        let map = [
            "https://example.com/bound": "bound", "https://example.com/long": "coded",
            "https://example.com/shadowed": "bound",
            "https://example.com/p/-/%C3%A9%2F1?x=1": "é/1", "https://example.com/q?x=1&l=item": "item",
            "https://appclip.apple.com/id?p=com.example.MyApp.Clip&l=linked": "linked",
        ]
        #expect(
            try findings(.unreachableLocation, experiences, places, codes, leading: map) == [
                ["shadowed"], ["none"],
            ])
        // Without a rule that reads codes, codes lead nowhere.
        let without = experiences.filter { if case .rule(.hash) = $0.binding { false } else { true } }
        #expect(
            try findings(.unreachableLocation, without, places, codes, leading: map) == [
                ["coded"], ["shadowed"], ["none"],
            ])
        #expect(try findings(.unreachableLocation, [], places).count == places.count)
    }

    /// A large tenant has this number. The test asserts the result, not the time.
    @Test func lintHandlesTwentyThousandLocations() throws {
        let count = 20_000
        let places = try (0..<count).map { try place("p\($0)", Double($0 % 80) + 1, Double($0) / 1_000 + 1) }
        let experiences = try (0..<count).map {
            try experience("https://example.com/\($0)", location: $0 % 2 == 0 ? "p\($0)" : nil)
        }
        let map = Dictionary(
            uniqueKeysWithValues: (0..<count).map { ("https://example.com/\($0)", "p\($0)") })
        #expect(
            try findings(.unreachableLocation, experiences, places, [], leading: map).count == count / 2)
    }

    // MARK: Pages

    private static let image = String(repeating: "a1", count: 32)

    /// A tenant with pages at one of its two domains. The other domain is not proved.
    private func catalogue(
        pages: DomainPages = .on, clipHasImage: Bool = false, _ experiences: [(Experience, hasImage: Bool)],
        _ places: [(String, hasImage: Bool)] = [], _ codes: [String: String] = [:]
    ) throws -> MemoryCatalogue {
        func card(_ hasImage: Bool) throws -> Card {
            Card(image: hasImage ? try ImageDigest(Self.image) : nil)
        }
        var catalogue = try MemoryCatalogue()
        catalogue.clipList = [
            try Clip(
                bundleID: BundleID(Self.clip), teamID: TeamID("ABCDE12345"), isMultiBusiness: false,
                card: card(clipHasImage))
        ]
        let date = Date(timeIntervalSince1970: 0)
        catalogue.domainList = try [
            DomainRecord(
                name: DomainName("example.com"), challenge: "c", claimedAt: date,
                proof: DomainRecord.Proof(method: .dns, provedAt: date), pages: pages),
            DomainRecord(name: DomainName("claimed.example"), challenge: "c", claimedAt: date),
        ]
        catalogue.experiences = try experiences.map {
            try ExperienceRecord($0.0, card: card($0.hasImage))
        }
        catalogue.locations = try places.map { identifier, hasImage in
            var record = try MemoryCatalogue.location(identifier, latitude: 1, longitude: 2, radius: 100)
            record.card = try card(hasImage)
            return record
        }
        catalogue.codes = try codes.sorted { $0.key < $1.key }.map {
            try ShortCode(code: $0.key, url: InvocationURL($0.value))
        }
        return catalogue
    }

    private func found(
        _ code: CatalogueFinding.Code, _ catalogue: MemoryCatalogue, table: TenantTable? = nil
    ) async throws -> [String] {
        try await CatalogueLint(catalogue, table: try table ?? self.table()).findings
            .filter { $0.code == code.rawValue }.map { $0.shortCode ?? $0.url ?? "" }
    }

    /// Only proved hosts serve an association file.
    @Test func hostWhoseURLsCannotBeGroupedIsFound() async throws {
        let unlike = try (0..<1_500).flatMap { number in
            try ["example.com", "claimed.example"].map { host in
                (try experience("https://\(host)/w\(number)/x"), hasImage: false)
            }
        }
        #expect(try await found(.wholeSite, catalogue(unlike)) == ["https://example.com"])
        let grouped = try (0..<1_500).map { number in
            (try experience("https://example.com/r/\(number)"), hasImage: false)
        }
        #expect(try await found(.wholeSite, catalogue(grouped)) == [])
    }

    @Test func pageWithoutPreviewImageIsFound() async throws {
        let experiences = try [
            (experience("https://example.com/a", location: "a"), false),
            (experience("https://example.com/b", location: "b"), false),
            (experience("https://example.com/c"), true), (experience("https://example.com/d"), false),
            (experience("https://example.com/e", rule: "path:1"), false),
            (experience("https://example.com/f", rule: "hash:p"), false),
            (experience("https://example.com/g", .demo), false),
            (experience("https://claimed.example/a"), false),
        ]
        let some = [("a", true), ("b", false)]
        let found = try await found(.noPreviewImage, catalogue(experiences, some))
        #expect(found == ["b", "d", "e"].map { "https://example.com/\($0)" })
        let all = [("a", true), ("b", true)]
        #expect(
            try await self.found(.noPreviewImage, catalogue(experiences, all))
                == ["https://example.com/d"])
        #expect(try await self.found(.noPreviewImage, catalogue(clipHasImage: true, experiences)) == [])
        #expect(try await self.found(.noPreviewImage, catalogue(pages: .off, experiences)) == [])
    }

    @Test func pageShadowedByAPIIsFound() async throws {
        let urls = [
            "https://example.com/v1", "https://example.com/v1/a", "https://example.com/problems",
            "https://example.com/openapi.json", "https://example.com/v10", "https://example.com/a/v1",
            "https://example.com/livez", "https://claimed.example/v1",
        ]
        let experiences = try urls.map { (try experience($0), true) }
        #expect(
            try await Set(found(.shadowedByAPI, catalogue(experiences)))
                == Set(urls[..<4]))
        #expect(try await found(.shadowedByAPI, catalogue(pages: .off, experiences)) == [])
    }

    @Test func unredirectableShortCodeIsFound() async throws {
        let experiences = try [(experience("https://example.com/s", rule: "hash:p"), true)]
        let codes = [
            "good": "https://example.com/a", "unregistered": "https://example.com/other",
            "unproved": "https://claimed.example/a", "foreign": "https://foreign.example/a",
            "again": "https://example.com/s?p=good",
        ]
        var table = try LookupIndex(
            ["example.com/a", "claimed.example/a", "foreign.example/a"].map {
                try experience("https://\($0)", location: "a")
            } + experiences.map(\.0))
        try table.set(.locations, .location(LookupIndex.tenant, "a"))
        try table.set(.shortCodes, .shortCode(LookupIndex.tenant, "good", "https://example.com/a"))
        let routes = table.of(LookupIndex.tenant)
        #expect(
            try await found(
                .notRedirected, catalogue(pages: .redirectingShortCodes, experiences, [], codes),
                table: routes)
                == ["again", "foreign", "unproved", "unregistered"])
        #expect(
            try await found(.notRedirected, catalogue(experiences, [], codes), table: routes) == [])
        #expect(
            try await found(
                .notRedirected, catalogue(pages: .redirectingShortCodes, [], [], codes), table: routes) == [])
    }
}
