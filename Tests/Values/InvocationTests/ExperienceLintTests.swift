import Invocation
import PropertyTesting
import Testing

@Suite struct ExperienceLintTests {
    private func findings(
        _ code: LintFinding.Code, _ experiences: [Experience]
    ) -> [[String]] {
        let findings = ExperienceLint(experiences).findings
        #expect(ExperienceLint(experiences.reversed()).findings == findings)
        return findings.filter { $0.code == code }.map { finding in
            [finding.experience, finding.other].compactMap { $0?.url.canonical }
        }
    }

    private func advanced(_ urls: String...) throws -> [Experience] {
        try urls.map { try Experience.advanced($0) }
    }

    @Test func rawPrefixDivergenceIsFound() throws {
        #expect(
            try findings(
                .rawPrefixDivergence,
                advanced("https://example.com/store", "https://example.com/store2/menu"))
                == [["https://example.com/store2/menu", "https://example.com/store"]])
        #expect(
            try findings(
                .rawPrefixDivergence, advanced("https://example.com?p=1", "https://example.com?p=12&q=/"))
                == [["https://example.com?p=12&q=/", "https://example.com?p=1"]])
        #expect(
            try findings(.rawPrefixDivergence, advanced("https://example.co", "https://example.com/a"))
                == [["https://example.com/a", "https://example.co"]])
        #expect(
            try findings(
                .rawPrefixDivergence,
                advanced(
                    "https://example.com", "https://example.com/store", "https://example.com/store/1",
                    "https://example.com/store?p=1", "https://example.com/other")
            ).isEmpty)
    }

    @Test func longestRawPrefixDecides() throws {
        #expect(
            try findings(
                .rawPrefixDivergence,
                advanced("https://example.com/s", "https://example.com/st", "https://example.com/store/1")
            )
                == [["https://example.com/store/1", "https://example.com/st"]])
    }

    /// Both readings agree on every URL below one that is registered itself.
    @Test(arguments: [
        ["https://example.com/store", "https://example.com/store2"],
        ["https://example.com/store", "https://example.com/store2", "https://example.com/store2/menu"],
        ["https://example.com?p=1", "https://example.com?p=12", "https://example.com?p=12&q=1"],
        ["https://example.co", "https://example.com", "https://example.com/a?b=c"],
    ])
    func rawPrefixDivergenceIgnoresRegisteredURLs(urls: [String]) throws {
        #expect(try findings(.rawPrefixDivergence, urls.map { try Experience.advanced($0) }).isEmpty)
    }

    @Test func numericURLsHaveNoRawPrefixDivergence() throws {
        let experiences = try (1...5_000).map { try Experience.advanced("https://example.com/r/\($0)") }
        #expect(!ExperienceLint(experiences).findings.contains { $0.code == .rawPrefixDivergence })
    }

    @Test func queryTieIsFound() throws {
        #expect(
            try findings(.queryTie, advanced("https://example.com?b=1", "https://example.com?a=1"))
                == [["https://example.com?b=1", "https://example.com?a=1"]])
        #expect(
            try findings(.queryTie, advanced("https://example.com?a=1&b=1", "https://example.com?a=1&c=1"))
                == [["https://example.com?a=1&c=1", "https://example.com?a=1&b=1"]])
        for pair in try [
            advanced("https://example.com?a=1", "https://example.com?a=2"),
            advanced("https://example.com?a=1&b=1", "https://example.com?a=2&c=1"),
            advanced("https://example.com?a=1", "https://example.com?a=1&b=1"),
            advanced("https://example.com/x?a=1", "https://example.com/y?b=1"),
            [Experience.advanced("https://example.com?a=1"), .default("https://example.com?b=1")],
        ] {
            #expect(findings(.queryTie, pair).isEmpty)
        }
    }

    @Test func queryTiesAreFoundAmongManyURLs() throws {
        let urls = ["a=1&b=1", "a=1&c=9", "a=2&b=1", "a=2&c=5", "a=3&c=7", "b=1&c=5"].map {
            "https://example.com?\($0)"
        }
        let ties = findings(.queryTie, try urls.map { try Experience.advanced($0) })
        #expect(ties == [[urls[1], urls[0]], [urls[3], urls[2]], [urls[5], urls[0]]])
    }

    @Test func shadowedExperienceIsFound() throws {
        let pair = try [Experience.advanced("https://example.com"), .default("https://example.com")]
        let finding = try #require(ExperienceLint(pair).findings.first)
        #expect(finding.code == .shadowed)
        #expect(finding.experience.kind == .default)
        #expect(finding.other?.kind == .advanced)
        #expect(
            try findings(.shadowed, advanced("https://example.com?b=1&a=1", "https://example.com?a=1&b=1"))
                == [["https://example.com?b=1&a=1", "https://example.com?a=1&b=1"]])
        #expect(
            try findings(
                .shadowed, advanced("https://example.com", "https://example.com/a", "https://example.com?a=1")
            ).isEmpty)
        let demoAndDefaultLink = try [
            Experience.default("https://appclip.apple.com/id?p=com.example.MyApp.Clip&a=1"),
            .demo("https://appclip.apple.com/id?a=1&p=com.example.MyApp.Clip"),
        ]
        #expect(findings(.shadowed, demoAndDefaultLink).isEmpty)
    }

    @Test func invalidDemoLinkIsFound() throws {
        let no = ["https://appclip.apple.com/demo?d=1", "https://example.com/demo"]
        let yes = ["https://appclip.apple.com/demo", "https://appclip.apple.com/a/b"]
        #expect(try findings(.demoLink, (no + yes).map { try Experience.demo($0) }) == no.map { [$0] })
        #expect(try findings(.demoLink, no.suffix(1).map { try Experience.advanced($0) }).isEmpty)
    }

    @Test func urlUnfitForAppClipCodeIsFound() throws {
        let unfit = "https://shop24.example.com"
        #expect(try findings(.codeUnfit, advanced("https://example.com", unfit)) == [[unfit]])
        #expect(try findings(.codeUnfit, [Experience.default(unfit)]).isEmpty)
    }

    @Test func urlTooLongForAppClipCodeIsFound() throws {
        let long = "https://donuts.example.com/order?location=pike-place"
        #expect(try findings(.codeTooLong, advanced("https://example.com", long)) == [[long]])
        #expect(try findings(.codeTooLong, [Experience.default(long)]).isEmpty)
        #expect(
            try findings(.codeTooLong, advanced("https://coffee.example.com/shops/alexanderplatz")).isEmpty)
    }

    @Test func findingDescriptionNamesItsURLs() throws {
        let all =
            try advanced(
                "https://example.com/a", "https://example.com/a3/x", "https://example.com/a?b",
                "https://example.com/a?c",
                "https://example.com/a2?y&x", "https://example.com/a2?x&y", "https://example.com/~",
                "https://donuts.example.com/order?location=pike-place")
            + [Experience.demo("https://example.com/demo")]
        let findings = ExperienceLint(all).findings
        #expect(Set(findings.map(\.code)) == Set(LintFinding.Code.allCases))
        for finding in findings {
            #expect(finding.description.contains(finding.experience.url.canonical))
            #expect(finding.description.contains(finding.other?.url.canonical ?? ""))
        }
    }

    @Test func experiencesDifferingByValueHaveNoFinding() throws {
        let all = try (0..<1_000).map { try Experience.advanced("https://example.com/t?n=\($0)&m=1") }
        #expect(ExperienceLint(all).findings.isEmpty)
    }
}
