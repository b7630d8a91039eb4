import Invocation
import PropertyTesting
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

@Suite struct MatchingTests {
    struct Specificity: Decodable {
        let source: String
        let registered: [String]
        let invocation: String
        let chosen: String?
    }

    @Test func mostSpecificPrefixWins() throws {
        for vector in try vectors("specificity", of: Specificity.self) {
            let experiences = try vector.registered.map { try Experience.advanced($0) }
            for order in [experiences, experiences.reversed()] {
                let found = try LookupIndex(order).mostSpecific(for: vector.invocation)
                #expect(found?.url == vector.chosen, "\(vector.source): \(vector.invocation)")
            }
        }
    }

    @Test func kindBreaksTieBetweenEqualURLs() throws {
        let url = "https://example.com/menu"
        let all = try [Experience.demo(url), .default(url), .advanced(url)]
        for order in [all, all.reversed()] {
            #expect(try LookupIndex(order).mostSpecific(for: url)?.kind == .advanced)
        }
        #expect(try LookupIndex(all.prefix(2)).mostSpecific(for: url)?.kind == .default)
        #expect(try LookupIndex(all.prefix(1)).mostSpecific(for: url)?.kind == .demo)
        #expect(try LookupIndex(all.prefix(0)).mostSpecific(for: url) == nil)
    }

    @Test func advancedExperienceWinsWhenPreferred() throws {
        let url = try InvocationURL("https://example.com/menu/lunch")
        let table = try LookupIndex([
            Experience.advanced("https://example.com"), .default("https://example.com/menu"),
            .demo("https://example.com/menu/lunch"),
        ])
        #expect(table.mostSpecific(for: url)?.kind == .demo)
        #expect(table.mostSpecific(for: url, preferringAdvanced: true)?.url == "https://example.com")
    }

    @Test func demoMatchesOnlyItsExactURL() throws {
        let table = try LookupIndex([Experience.demo("https://appclip.apple.com/demo?d=1")])
        #expect(try table.mostSpecific(for: "https://appclip.apple.com/demo?d=1#x") != nil)
        #expect(try table.mostSpecific(for: "https://appclip.apple.com/demo/?d=1") != nil)
        #expect(try table.mostSpecific(for: "https://appclip.apple.com/demo?d=1&e=2") == nil)
        #expect(try table.mostSpecific(for: "https://appclip.apple.com/demo/a?d=1") == nil)
    }

    @Test func defaultLinkMatchesDefaultExperienceOfItsClip() throws {
        let table = try LookupIndex([
            Experience.default("https://example.com", clip: "com.example.MyApp.Clip"),
            .default("https://example.org", clip: "com.example.Other.Clip"),
        ])
        let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
        #expect(try table.mostSpecific(for: link)?.url == "https://example.com")
        #expect(try table.mostSpecific(for: link + "&key=1")?.url == "https://example.com")
        #expect(
            try table.mostSpecific(for: InvocationURL(link), preferringAdvanced: true)?.kind == .default)
        // The form in Apple's text.
        let nameless = "https://appclip.apple.com/id?=com.example.MyApp.Clip"
        for text in [nameless, nameless + "&key=1", nameless + "&p=com.example.Other.Clip"] {
            #expect(try table.mostSpecific(for: text)?.url == "https://example.com", "\(text)")
        }
        for other in [
            "https://appclip.apple.com/id?key=1&p=com.example.MyApp.Clip",
            "https://appclip.apple.com/id?p=com.example.Unknown.Clip",
            "https://appclip.apple.com/id/x?p=com.example.MyApp.Clip",
            "https://appclip.apple.com/ID?p=com.example.MyApp.Clip",
            "https://appclip.apple.com/id?P=com.example.MyApp.Clip",
            "https://appclip.apple.com/id?p=", "https://appclip.apple.com/id?=",
            "https://appclip.apple.com/id?key=1&=com.example.MyApp.Clip",
            "https://appclip.apple.com/id?com.example.MyApp.Clip",
            "https://appclip.apple.com/id?pp=com.example.MyApp.Clip",
            "http://appclip.apple.com/id?p=com.example.MyApp.Clip",
            "https://appclip.apple.com./id/../?p=com.example.MyApp.Clip",
        ] {
            #expect(try table.mostSpecific(for: other) == nil, "\(other)")
        }
    }

    /// Each clip has a default link at Apple, even without registered experiences.
    @Test func defaultLinkLaunchesClipWithoutDefaultExperience() throws {
        var table = try LookupIndex([Experience.advanced("https://example.com")])
        let clip = "com.example.MyApp.Clip"
        let link = "https://appclip.apple.com/id?p=\(clip)"
        #expect(try table.mostSpecific(for: link) == nil)
        try table.set(.clips, .clip(LookupIndex.tenant, clip, isMultiBusiness: true))
        let tenant = table.of(LookupIndex.tenant)
        for text in [link, link + "&key=1", "https://appclip.apple.com/id?=\(clip)"] {
            let url = try InvocationURL(text)
            let match = try #require(tenant.match(url))
            let experience = match.experience
            #expect(match.isByDefaultLink)
            #expect(experience.url == link && experience.kind == .default && experience.binding == .unbound)
            #expect(experience.clip.text == clip && experience.clipIsMultiBusiness)
            #expect(tenant.lookUp(url) == .noIdentifier(experience))
            // The clip's attestation policy applies to this launch, too.
            #expect(tenant.launch(by: url)?.clip.text == clip)
            #expect(tenant.match(url, otherThan: match) == nil)
            #expect(tenant.restricted(to: []).match(url) == nil)
        }
        let unknown = try InvocationURL("https://appclip.apple.com/id?p=com.example.Other.Clip")
        #expect(tenant.match(unknown) == nil && tenant.launch(by: unknown) == nil)
        #expect(table.of(TenantID(number: 2)).match(try InvocationURL(link)) == nil)
    }

    @Test func matchByDefaultLinkIsMarked() throws {
        let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
        let rule = try IdentifierRule("path:1")
        let experience = try Experience(
            url: URLPrefix("https://example.com"), kind: .default, clip: BundleID("com.example.MyApp.Clip"),
            binding: .rule(rule))
        let table = try LookupIndex([experience])
        let byLink = try #require(table.of(LookupIndex.tenant).match(InvocationURL(link)))
        #expect(byLink.isByDefaultLink)
        #expect(try byLink.experience.readIdentifier(in: InvocationURL(link), by: byLink) == .absent)
        let url = try InvocationURL("https://example.com/a")
        let byURL = try #require(table.of(LookupIndex.tenant).match(url))
        #expect(!byURL.isByDefaultLink)
        let identifier = try LocationIdentifier("a")
        #expect(byURL.experience.readIdentifier(in: url, by: byURL) == .identifier(identifier))

        let registered = try LookupIndex([Experience.default(link)])
        #expect(try registered.of(LookupIndex.tenant).match(InvocationURL(link))?.isByDefaultLink == false)
        let nameless = try InvocationURL("https://appclip.apple.com/id?=com.example.MyApp.Clip&k=v")
        #expect(registered.of(LookupIndex.tenant).match(nameless)?.isByDefaultLink == true)
    }

    @Test func exactDemoLinkPrecedesDefaultLink() throws {
        let text = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
        let all = try [Experience.default("https://example.com"), .demo(text)]
        let table = try LookupIndex(all)
        #expect(try table.mostSpecific(for: text)?.kind == .demo)
        #expect(try table.mostSpecific(for: text + "&k=v")?.kind == .default)
        #expect(try LookupIndex(all.prefix(1)).mostSpecific(for: text)?.url == "https://example.com")
    }

    @Test func registeredDefaultLinkRequiresPFirst() throws {
        let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
        let experience = try Experience.default(link + "&a=1")
        let table = try LookupIndex([experience])
        #expect(try table.mostSpecific(for: link + "&b=2&a=1") == IndexedExperience(experience))
        #expect(try table.mostSpecific(for: link) == IndexedExperience(experience))
        let last = "https://appclip.apple.com/id?a=1&p=com.example.MyApp.Clip"
        #expect(try table.mostSpecific(for: last) == nil)
        let another = "https://appclip.apple.com/id?p=com.example.Other.Clip&a=1&p=com.example.MyApp.Clip"
        #expect(try table.mostSpecific(for: another) == nil)
    }

    @Test func laterOfTwoEqualExperiencesWins() throws {
        let url = try URLPrefix("https://example.com")
        let alike = try [
            Experience.advanced("https://example.com", clip: "com.example.B.Clip"),
            .advanced("https://example.com", clip: "com.example.A.Clip"),
            Experience(
                url: url, kind: .advanced, clip: BundleID("com.example.A.Clip"),
                binding: .location(LocationIdentifier("x"))),
        ]
        for order in [alike, alike.reversed()] {
            let table = try LookupIndex(order)
            let last = try #require(order.last)
            #expect(try table.mostSpecific(for: "https://example.com/menu") == IndexedExperience(last))
            #expect(table.experienceCount == 1)
        }
    }

    @Test func smallerURLWinsIfOnlyItemOrderDiffers() throws {
        let both = try [Experience.advanced("https://example.com?b&a"), .advanced("https://example.com?a&b")]
        for order in [both, both.reversed()] {
            let found = try LookupIndex(order).mostSpecific(for: "https://example.com?a&b&c")
            #expect(found?.url == "https://example.com?a&b")
        }
    }

    @Test func unmatchableURLHasNoMatch() throws {
        let table = try LookupIndex([Experience.advanced("https://example.com")])
        for url in [
            "http://example.com", "https://example.com:8443/menu", "https://192.0.2.1",
            "https://[2001:db8::1]",
            "example-app://example.com",
        ] {
            #expect(try !InvocationURL(url).isMatchable)
            #expect(try table.mostSpecific(for: url) == nil, "\(url)")
        }
    }

    /// Each set is searched by the index, and by examining each experience in turn.
    @Test func matchAgreesWithExhaustiveSearch() throws {
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
        let clips = try [BundleID("com.example.A.Clip"), BundleID("com.example.B.Clip")]
        let links = clips.map { "https://appclip.apple.com/id?p=\($0)" }
        var pool: [Experience] = []
        for number in 0..<400 {
            let clip = random.pick(clips)
            let kind = random.pick(ExperienceKind.allCases)
            let url = number % 20 == 0 ? random.pick(links) : text(&random, longest: 3)
            if let experience = try? Experience(url: URLPrefix(url), kind: kind, clip: clip) {
                pool.append(experience)
            }
        }
        let invocations = try (0..<500).map { number in
            try InvocationURL(number % 20 == 0 ? random.pick(links) + "&q" : text(&random, longest: 6))
        }

        var cases = 0
        var matched = 0
        var seconds = 0
        for _ in 0..<5_000 {
            let experiences = Self.oneDefaultPerClip((0..<random.below(12)).map { _ in random.pick(pool) })
            let table = try LookupIndex(experiences)
            for _ in 0..<20 {
                let invocation = random.pick(invocations)
                let prefersAdvanced = random.oneIn(3)
                let expected = Self.mostSpecific(
                    of: experiences, for: invocation, preferringAdvanced: prefersAdvanced)
                cases += 1
                matched += expected == nil ? 0 : 1
                let tenant = table.of(LookupIndex.tenant)
                let found = tenant.match(invocation, preferringAdvanced: prefersAdvanced)
                guard found?.experience == expected.map({ IndexedExperience($0) }) else {
                    Issue.record("\(invocation.canonical) among \(experiences.map(\.url.canonical))")
                    return
                }
                guard let found, let expected else { continue }
                let next = tenant.match(invocation, preferringAdvanced: prefersAdvanced, otherThan: found)
                let expectedNext = Self.mostSpecific(
                    of: experiences.filter { $0 != expected }, for: invocation,
                    preferringAdvanced: prefersAdvanced)
                seconds += expectedNext == nil ? 0 : 1
                guard next?.experience == expectedNext.map({ IndexedExperience($0) }) else {
                    Issue.record("\(invocation.canonical) second among \(experiences.map(\.url.canonical))")
                    return
                }
            }
        }
        #expect(cases == 100_000)
        #expect((20_000...90_000).contains(matched))
        #expect(seconds > 1_000)
    }

    /// The last experience of each kind and URL, and the last default of each clip, like in the database.
    private static func oneDefaultPerClip(_ experiences: [Experience]) -> [Experience] {
        var kept: [Experience] = []
        for experience in experiences {
            kept.removeAll {
                $0.kind == experience.kind
                    && ($0.url == experience.url || $0.kind == .default && $0.clip == experience.clip)
            }
            kept.append(experience)
        }
        return kept
    }

    private static func mostSpecific(
        of experiences: [Experience], for invocation: InvocationURL, preferringAdvanced prefersAdvanced: Bool
    ) -> Experience? {
        let candidates = experiences.filter { $0.matches(invocation) }.sorted { $0.precedes($1) }
        if prefersAdvanced, let advanced = candidates.first(where: { $0.kind == .advanced }) {
            return advanced
        }
        if let matched = candidates.first { return matched }
        guard let link = DefaultLink(invocation) else { return nil }
        return experiences.first { $0.kind == .default && $0.clip == link.clip }
    }

    /// Different spellings of one URL find the same experience.
    @Test func urlSpellingDoesNotChangeMatch() throws {
        let table = try LookupIndex(
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
            let expected = try #require(table.mostSpecific(for: plain))
            guard table.mostSpecific(for: encoded) == expected else {
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

    /// A shadowed experience is never launched by its own URL. The finding names the experience that is.
    @Test func shadowedExperienceIsNeverMatched() throws {
        var random = SplitMix64(seed: 4)
        for _ in 0..<500 {
            let experiences = try (0..<6).map { _ in
                let url =
                    "https://example.com/" + random.pick(["", "a"]) + "?"
                    + random.pick(["", "x&y", "y&x", "x"])
                return random.below(2) == 0 ? try Experience.advanced(url) : try .default(url)
            }
            let distinct = Array(Set(experiences))
            let shadowed = ExperienceLint(distinct).findings.filter { $0.code == .shadowed }
            let table = try LookupIndex(distinct)
            for experience in distinct {
                let found = try table.mostSpecific(for: experience.url.canonical)
                let finding = shadowed.first { $0.experience == experience }
                #expect(found == IndexedExperience(finding?.other ?? experience))
            }
        }
    }

    /// 20,000 experiences on one path, and a URL that contains the item of one of them among other items.
    @Test func lookupFindsOneOfManyExperiencesOnOnePath() throws {
        let table = try LookupIndex(
            (0..<20_000).map { try Experience.advanced("https://example.com/t?n=\($0)") })
        let found = try table.mostSpecific(for: "https://example.com/t/x?a=1&n=12345&z=9")
        #expect(found?.url == "https://example.com/t?n=12345")
    }

    @Test func deepestPathAndMostQueryItemsAreMatched() throws {
        let path = String(repeating: "/a", count: URLPrefix.maximumPathComponents)
        let query = (0..<URLPrefix.maximumQueryItems).map { "n\($0)" }.joined(separator: "&")
        let table = try LookupIndex([
            Experience.advanced("https://example.com"), .advanced("https://example.com\(path)"),
            .advanced("https://example.com\(path)?\(query)"),
        ])
        #expect(
            try table.mostSpecific(for: "https://example.com\(path.dropLast(2))")?.pathComponentCount == 0)
        let deepest = try #require(try table.mostSpecific(for: "https://example.com\(path)/b/c/d"))
        #expect(deepest.url == "https://example.com\(path)")
        #expect(deepest.pathComponentCount == URLPrefix.maximumPathComponents)
        let most = try table.mostSpecific(for: "https://example.com\(path)/b?x&\(query)&y")
        #expect(most?.url == "https://example.com\(path)?\(query)")
    }
}
