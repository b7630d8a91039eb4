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
        _ url: String, _ kind: ExperienceKind = .advanced, location: String? = nil, rule: String? = nil
    ) throws -> Experience {
        try Experience(
            url: URLPrefix(url), kind: kind, clip: BundleID(Self.clip),
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
        #expect(try findings(.notBusinessSpecific, experiences).isEmpty)
        #expect(
            try findings(.notBusinessSpecific, multiBusiness: true, experiences) == [
                ["https://example.com/e"]
            ])
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
