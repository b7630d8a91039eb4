import Invocation
import PropertyTesting
import Tenancy
import Testing

@Suite struct ExperienceIndexTests {
    struct Specificity: Decodable {
        let source: String
        let registered: [String]
        let invocation: String
        let chosen: String?
    }

    @Test func mostSpecificPrefix() throws {
        for vector in try vectors("specificity", of: Specificity.self) {
            let experiences = try vector.registered.map { try Experience.advanced($0) }
            let invocation = try InvocationURL(vector.invocation)
            for order in [experiences, experiences.reversed()] {
                let found = ExperienceIndex(order).mostSpecific(for: invocation)
                #expect(found?.url.canonical == vector.chosen, "\(vector.source): \(vector.invocation)")
            }
        }
    }

    @Test func kindDecidesBetweenEquallySpecificOnes() throws {
        let url = "https://example.com/menu"
        let all = try [Experience.demo(url), .default(url), .advanced(url)]
        let invocation = try InvocationURL(url)
        let index = ExperienceIndex(all)
        #expect(index.mostSpecific(for: invocation)?.kind == .advanced)
        #expect(index.mostSpecific(for: invocation, among: [.default, .demo])?.kind == .default)
        #expect(index.mostSpecific(for: invocation, among: [.demo])?.kind == .demo)
        #expect(index.mostSpecific(for: invocation, among: []) == nil)
    }

    @Test func demoMatchesItsOwnURLAlone() throws {
        let index = try ExperienceIndex([Experience.demo("https://appclip.apple.com/demo?d=1")])
        #expect(try index.mostSpecific(for: InvocationURL("https://appclip.apple.com/demo?d=1#x")) != nil)
        #expect(try index.mostSpecific(for: InvocationURL("https://appclip.apple.com/demo/?d=1")) != nil)
        #expect(try index.mostSpecific(for: InvocationURL("https://appclip.apple.com/demo?d=1&e=2")) == nil)
        #expect(try index.mostSpecific(for: InvocationURL("https://appclip.apple.com/demo/a?d=1")) == nil)
    }

    @Test func defaultLinkFindsTheDefaultExperienceOfItsClip() throws {
        let index = try ExperienceIndex([
            Experience.default("https://example.com", clip: "com.example.MyApp.Clip"),
            .default("https://example.org", clip: "com.example.Other.Clip"),
        ])
        let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
        #expect(try index.mostSpecific(for: InvocationURL(link))?.url.host == "example.com")
        #expect(try index.mostSpecific(for: InvocationURL(link + "&key=1"))?.url.host == "example.com")
        #expect(try index.mostSpecific(for: InvocationURL(link), among: [.advanced]) == nil)
        for other in [
            "https://appclip.apple.com/id?key=1&p=com.example.MyApp.Clip",
            "https://appclip.apple.com/id?p=com.example.Unknown.Clip",
            "https://appclip.apple.com/id/x?p=com.example.MyApp.Clip",
            "https://appclip.apple.com/ID?p=com.example.MyApp.Clip",
            "https://appclip.apple.com/id?P=com.example.MyApp.Clip",
            "https://appclip.apple.com/id?p=",
            "http://appclip.apple.com/id?p=com.example.MyApp.Clip",
            "https://appclip.apple.com./id/../?p=com.example.MyApp.Clip",
        ] {
            #expect(try index.mostSpecific(for: InvocationURL(other)) == nil, "\(other)")
        }
    }

    @Test func aDemoLinkThatIsMatchedWholeComesBeforeTheDefaultLink() throws {
        let text = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
        let index = try ExperienceIndex([Experience.default("https://example.com"), .demo(text)])
        #expect(try index.mostSpecific(for: InvocationURL(text))?.kind == .demo)
        #expect(try index.mostSpecific(for: InvocationURL(text + "&k=v"))?.kind == .default)
        #expect(
            try index.mostSpecific(for: InvocationURL(text), among: [.default])?.url.host == "example.com")
    }

    @Test func aRegisteredDefaultLinkNeedsPFirst() throws {
        let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
        let experience = try Experience.default(link + "&a=1")
        let index = ExperienceIndex([experience])
        #expect(try index.mostSpecific(for: InvocationURL(link + "&b=2&a=1")) == experience)
        #expect(try index.mostSpecific(for: InvocationURL(link)) == experience)
        let last = "https://appclip.apple.com/id?a=1&p=com.example.MyApp.Clip"
        #expect(try index.mostSpecific(for: InvocationURL(last)) == nil)
        let another = "https://appclip.apple.com/id?p=com.example.Other.Clip&a=1&p=com.example.MyApp.Clip"
        #expect(try index.mostSpecific(for: InvocationURL(another)) == nil)
    }

    @Test func duplicatesAreResolvedTheSameWayInAnyOrder() throws {
        let url = try URLPrefix("https://example.com")
        let alike = try [
            Experience.advanced("https://example.com", clip: "com.example.B.Clip"),
            .advanced("https://example.com", clip: "com.example.A.Clip"),
            Experience(
                url: url, kind: .advanced, clip: BundleID("com.example.A.Clip"),
                binding: .location(LocationIdentifier("x"))),
        ]
        let invocation = try InvocationURL("https://example.com/menu")
        for order in [alike, alike.reversed()] {
            let found = ExperienceIndex(order).mostSpecific(for: invocation)
            #expect(found?.clip.text == "com.example.A.Clip")
            #expect(found?.binding == .unbound)
        }
        let defaults = try [
            Experience.default("https://example.org/b"), .default("https://example.org/a"),
        ]
        let link = try InvocationURL("https://appclip.apple.com/id?p=com.example.MyApp.Clip")
        for order in [defaults, defaults.reversed()] {
            #expect(ExperienceIndex(order).mostSpecific(for: link)?.url.canonical == "https://example.org/a")
        }
    }

    /// Every set is searched both by the index and by looking at each experience in turn.
    @Test func findsWhatASearchOfAllFinds() throws {
        var random = SplitMix64(seed: 2)
        let hosts = ["a.example", "a.example", "b.example"]
        let segments = ["x", "y", ""]
        let items = ["p=1", "p=2", "q", "r=1"]
        func text(_ random: inout SplitMix64, longest: Int) -> String {
            var text = "https://" + random.pick(hosts)
            for _ in 0...random.below(longest) { text += "/" + random.pick(segments) }
            let query = (0..<random.below(longest)).map { _ in random.pick(items) }
            return text + "?" + query.joined(separator: "&")
        }
        let links = ["com.example.A.Clip", "com.example.B.Clip"].map {
            "https://appclip.apple.com/id?p=\($0)"
        }
        var pool: [Experience] = []
        for number in 0..<400 {
            let clip = try BundleID(random.pick(["com.example.A.Clip", "com.example.B.Clip"]))
            let kind = random.pick(ExperienceKind.allCases)
            let url = number % 20 == 0 ? random.pick(links) : text(&random, longest: 3)
            if let experience = try? Experience(url: URLPrefix(url), kind: kind, clip: clip) {
                pool.append(experience)
            }
        }
        let invocations = try (0..<500).map { number in
            try InvocationURL(number % 20 == 0 ? random.pick(links) + "&q" : text(&random, longest: 6))
        }
        let kindSets: [Set<ExperienceKind>] = [
            [.advanced, .default, .demo], [.advanced], [.default, .demo],
        ]

        var cases = 0
        var matched = 0
        for _ in 0..<5_000 {
            let experiences = (0..<random.below(12)).map { _ in random.pick(pool) }
            let index = ExperienceIndex(experiences)
            for _ in 0..<20 {
                let invocation = random.pick(invocations)
                let kinds = random.pick(kindSets)
                let expected = Self.mostSpecific(of: experiences, for: invocation, among: kinds)
                cases += 1
                matched += expected == nil ? 0 : 1
                guard index.mostSpecific(for: invocation, among: kinds) == expected else {
                    Issue.record("\(invocation.canonical) among \(experiences.map(\.url.canonical))")
                    return
                }
            }
        }
        #expect(cases == 100_000)
        #expect((20_000...90_000).contains(matched))
    }

    private static func mostSpecific(
        of experiences: [Experience], for invocation: InvocationURL, among kinds: Set<ExperienceKind>
    ) -> Experience? {
        let candidates = experiences.filter { kinds.contains($0.kind) }
        if let matched = candidates.filter({ $0.matches(invocation) }).min(by: { $0.precedes($1) }) {
            return matched
        }
        guard let link = DefaultLink(invocation) else { return nil }
        return candidates.filter { $0.kind == .default && $0.clip == link.clip }.min { $0.precedes($1) }
    }

    /// Spellings that mean the same URL find the same experience.
    @Test func spellingDoesNotChangeTheMatch() throws {
        let index = try ExperienceIndex(
            ["", "/menu", "/menu/a", "/menu?p=1", "/menu?p=1&q", "/~b"].map { path in
                try Experience.advanced("https://example.com\(path)")
            })
        var random = SplitMix64(seed: 3)
        for _ in 0..<5_000 {
            let path = (0..<random.below(4)).map { _ in "/" + random.pick(["menu", "a", "~b", "c-d"]) }
                .joined()
            let items = (0..<random.below(4)).map { _ in random.pick(["p=1", "q", "r=x.y"]) }
            let query = items.isEmpty ? "" : "?" + items.joined(separator: "&")
            let plain = try InvocationURL("https://example.com\(path)\(query)")
            let spelt = Self.encoded(path, &random) + "/" + Self.encoded(query, &random)
            let encoded = try InvocationURL("HTTPS://EXAMPLE.COM.:443\(spelt)#\(path)")
            let expected = try #require(index.mostSpecific(for: plain))
            guard index.mostSpecific(for: encoded) == expected else {
                Issue.record("\(plain.canonical) and \(encoded.canonical)")
                return
            }
            #expect(encoded.canonicalWithoutFragment == plain.canonical)
        }
    }

    /// The text with some of its letters percent-encoded.
    private static func encoded(_ text: String, _ random: inout SplitMix64) -> String {
        var encoded = ""
        for character in text {
            guard let byte = character.asciiValue, character.isLetter || "~-.".contains(character),
                random.below(3) == 0
            else {
                encoded.append(character)
                continue
            }
            encoded += "%" + String(byte, radix: 16, uppercase: random.below(2) == 0)
        }
        return encoded
    }

    /// 20,000 experiences on one path, and one URL that names one of them among other items.
    @Test func manyExperiencesOnOnePath() throws {
        let index = try ExperienceIndex(
            (0..<20_000).map { try Experience.advanced("https://example.com/t?n=\($0)") })
        let invocation = try InvocationURL("https://example.com/t/x?a=1&n=12345&z=9")
        #expect(index.mostSpecific(for: invocation)?.url.canonical == "https://example.com/t?n=12345")
    }
}
