import Testing

@testable import Console

/// The form of texts in pages.
@Suite struct TextTests {
    @Test(arguments: [
        ("a", "a"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("$(x)", "'$(x)'"),
        ("https://example.com/a?b=1", "'https://example.com/a?b=1'"),
    ])
    func textIsQuotedAsOneShellArgument(_ text: String, quoted: String) {
        #expect(text.shellQuoted == quoted)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")])
    func thousandsAreSeparated(_ number: Int, text: String) {
        #expect(number.grouped == text)
    }
}
