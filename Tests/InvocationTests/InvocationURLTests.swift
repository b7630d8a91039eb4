import Invocation
import PropertyTesting
import Testing

@Suite struct InvocationURLTests {
    struct Canonical: Decodable {
        let source: String
        let input: String
        let canonical: String
    }

    struct Refused: Decodable {
        let source: String
        let input: String
        let code: String
    }

    struct Unmatchable: Decodable {
        let source: String
        let input: String
    }

    @Test func canonicalForms() throws {
        for vector in try vectors("canonical", of: Canonical.self) {
            let url = try InvocationURL(vector.input)
            #expect(url.canonical == vector.canonical, "\(vector.source)")
            #expect(
                try InvocationURL(vector.canonical).canonical == vector.canonical, "\(vector.source), again")
        }
    }

    @Test func refusals() throws {
        for vector in try vectors("refused", of: Refused.self) {
            let error = #expect(throws: InvocationURLError.self, "\(vector.source): \(vector.input)") {
                try InvocationURL(vector.input)
            }
            #expect(error?.code == vector.code, "\(vector.source): \(vector.input)")
            #expect(error?.description.isEmpty == false)
        }
    }

    @Test func wellFormedURLsThatNothingMatches() throws {
        let root = try [Experience.advanced("https://example.com")]
        for vector in try vectors("unmatchable", of: Unmatchable.self) {
            let url = try InvocationURL(vector.input)
            #expect(!url.isMatchable, "\(vector.source): \(vector.input)")
            #expect(url.matchKeys.isEmpty, "\(vector.source): \(vector.input)")
            #expect(ExperienceIndex(root).mostSpecific(for: url) == nil, "\(vector.source): \(vector.input)")
        }
    }

    @Test func length() throws {
        let stem = "https://example.com/"
        let longest = stem + String(repeating: "a", count: InvocationURL.maximumLength - stem.utf8.count)
        #expect(try InvocationURL(longest).canonical == longest)
        #expect(throws: InvocationURLError.tooLong) { try InvocationURL(longest + "a") }
        #expect(throws: InvocationURLError.tooLong) {
            try InvocationURL(stem + String(repeating: "ü", count: 400))
        }
        let label = String(repeating: "a", count: 63)
        let name = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(try InvocationURL("https://\(name)").host == name)
        #expect(throws: InvocationURLError.invalidHost) { try InvocationURL("https://b\(name)") }
        #expect(throws: InvocationURLError.invalidHost) { try InvocationURL("https://a\(label).com") }
    }

    @Test func parts() throws {
        let url = try InvocationURL("HTTPS://Example.COM:8443/a/b%2fc//?x=1&y&x=%c3%bc&z=%FF#top")
        #expect(url.scheme == "https")
        #expect(url.host == "example.com")
        #expect(url.port == 8_443)
        #expect(url.pathComponents == ["a", "b%2Fc"])
        #expect(url.queryItems.map(\.name) == ["x", "y", "x", "z"])
        #expect(url.queryItems.map(\.decodedValue) == ["1", "", "ü", nil])
        #expect(url.fragment == "top")
        #expect(url.canonicalWithoutFragment == "https://example.com:8443/a/b%2Fc?x=1&y&x=%C3%BC&z=%FF")
    }

    @Test func descriptionNamesNoValue() throws {
        let url = try InvocationURL("https://example.com/menu?lat=37.3&sig=abc#37.3")
        #expect("\(url)" == "https://example.com/menu")
        #expect("\(url.queryItems)" == "[lat, sig]")
    }

    @Test func equalityIsThatOfTheCanonicalText() throws {
        let one = try InvocationURL("https://EXAMPLE.com/%61/")
        #expect(try one == InvocationURL("https://example.com/a"))
        #expect(try one.hashValue == InvocationURL("https://example.com/a").hashValue)
        #expect(try one != InvocationURL("https://example.com/a#x"))
    }

    @Test func matchKeys() throws {
        let url = try InvocationURL("https://example.com/a//b%2F?y=2&x=1&y=2")
        #expect(
            url.matchKeys == ["example.com", "example.com/a", "example.com/a/", "example.com/a//b%2F"])
        #expect(url.queryItemTexts == ["x=1", "y=2"])
        let deep = try InvocationURL("https://example.com" + String(repeating: "/a", count: 900))
        #expect(deep.matchKeys.count == URLPrefix.maximumPathComponents + 1)
    }

    /// Texts made of the pieces that parsers stumble over.
    @Test func canonicalisingTwiceGivesTheSameText() throws {
        let pieces = [
            "a", "B", "1", "/", "/", "//", "?", "#", "&", "=", "%2e", "%2E", ".", "..", "/../", "/./", "%2f",
            "%5C",
            "%41", "%7e", "%C3%BC", "%FF", "%00", "ü", "日", "e\u{301}", "💩", "+", ";", "[", "]", "|", "\"",
            "%25", "~", "'", "*", "-", "_", "%5b", "(", "$", "{", "^",
        ]
        let refusedPieces = ["%", " ", "\\", "\u{0}", "@", ":", "\u{200D}", "xn--", "%g1"]
        let starts = [
            "https://example.com", "https://example.com/", "https://example.com?", "https://example.com#",
            "HTTPS://EXAMPLE.com.:443/", "https://example.com:/", "http://example.com:80/", "https://[::1]/",
            "https://127.1/", "https://bücher.example/", "https://", "x:",
        ]
        var random = SplitMix64(seed: 1)
        var accepted = 0
        for _ in 0..<100_000 {
            var text = random.pick(starts)
            for _ in 0..<random.below(12) {
                text += random.pick(random.below(50) == 0 ? refusedPieces : pieces)
            }
            guard let url = try? InvocationURL(text) else { continue }
            accepted += 1
            let again = try InvocationURL(url.canonical)
            guard again.canonical == url.canonical, again.pathComponents == url.pathComponents,
                again.queryItems == url.queryItems, again.fragment == url.fragment, again.port == url.port,
                url.canonical.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
                Issue.record("not canonical: \(text.debugDescription) → \(url.canonical)")
                return
            }
        }
        #expect((50_000...95_000).contains(accepted))
    }
}
