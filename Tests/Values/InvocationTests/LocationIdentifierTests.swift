import Invocation
import Testing

@Suite struct LocationIdentifierTests {
    @Test(arguments: [
        "", String(repeating: "a", count: 129), "a\u{0}", "a\nb", "\u{1F}", "\u{7F}", "\u{80}", "é\u{85}",
        "\u{9F}a",
    ])
    func invalidIdentifierIsRejected(text: String) {
        #expect(throws: ExperienceError.invalidLocationIdentifier) { try LocationIdentifier(text) }
    }

    @Test(arguments: [
        "a", "Kamil's Café", "店 1", "\u{A0}", "\u{C2}\u{A0}", String(repeating: "é", count: 128),
    ])
    func validIdentifierIsAccepted(text: String) throws {
        #expect(try LocationIdentifier(text).text == text)
    }

    @Test func lengthIsCountedInScalars() throws {
        let decomposed = String(repeating: "e\u{301}", count: 64)
        #expect(throws: Never.self) { try LocationIdentifier(decomposed) }
        #expect(throws: ExperienceError.invalidLocationIdentifier) {
            try LocationIdentifier(decomposed + "e")
        }
    }

    @Test func identifiersAreComparedByBytes() throws {
        let composed = try LocationIdentifier("caf\u{E9}")
        let decomposed = try LocationIdentifier("cafe\u{301}")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
    }

    /// A rule reads back the identifier from a path or a query, whatever characters it contains.
    @Test(arguments: ["a", "a b", "é", "e\u{301}", "%41", "a/b", "a?b#c&d=e", "+", "\\", "日本", "~-._"])
    func percentEncodedIdentifierIsReadBack(text: String) throws {
        let identifier = try LocationIdentifier(text)
        let url = try InvocationURL(
            "https://example.com/p/\(identifier.percentEncoded)/more?x&l=\(identifier.percentEncoded)&m")
        for rule in ["path:2", "query:l"] {
            let reading = try IdentifierRule(rule).read(url, after: URLPrefix("https://example.com"))
            #expect(reading == .identifier(identifier))
        }
    }
}
