import Testing

@testable import Console

@Suite struct FormFieldsTests {
    @Test func readsWhatBrowsersSend() {
        let fields = FormFields("a=1&b=two+words&c=%C3%A9%26%3D&d&e=&a=2&f=%zz&g=%20x%20")
        #expect(fields["a"] == "1" && fields["b"] == "two words" && fields["c"] == "é&=")
        #expect(fields["d"] == nil && fields.has("d") && fields["e"] == nil && fields.has("e"))
        #expect(fields["f"] == nil && !fields.has("f") && fields["g"] == "x" && !fields.has("h"))
        #expect(!FormFields("").has(""))
    }

    @Test(arguments: [
        ("a", "a"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("$(x)", "'$(x)'"),
        ("https://example.com/a?b=1", "'https://example.com/a?b=1'"),
    ])
    func aShellTakesItForOneArgument(_ text: String, quoted: String) {
        #expect(text.shellQuoted == quoted)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")])
    func thousandsAreApart(_ number: Int, text: String) {
        #expect(number.grouped == text)
    }
}
