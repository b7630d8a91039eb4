import Testing

@testable import Formats

@Suite struct FormFieldsTests {
    @Test func formFieldsAreDecodedAsBrowsersSendThem() {
        let fields = FormFields("a=1&b=two+words&c=%C3%A9%26%3D&d&e=&a=2&f=%zz&g=%20x%20&h=a%00b")
        #expect(fields["a"] == "1" && fields["b"] == "two words" && fields["c"] == "é&=")
        #expect(fields["d"] == nil && fields.has("d") && fields["e"] == nil && fields.has("e"))
        #expect(fields["f"] == nil && !fields.has("f") && fields["g"] == "x" && !fields.has("h"))
        #expect(!fields.has("i") && !FormFields("").has(""))
    }
}
