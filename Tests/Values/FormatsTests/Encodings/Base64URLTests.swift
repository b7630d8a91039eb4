import Formats
import Testing

@Suite struct Base64URLTests {
    /// RFC 4648 §10, without padding.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("\u{3FF}\u{3FE}\u{3F}", "z7_Pvj8"),
    ])
    func rfc4648VectorsRoundTrip(text: String, encoded: String) {
        #expect(Base64URL.text(text.utf8) == encoded)
        #expect(Base64URL.bytes(encoded) == Array(text.utf8))
    }

    @Test(arguments: ["Zg==", "Zh", "Z", "Zm9+", "Zm9/", "Zm 9", "Zm8=", "Zm9vé"])
    func invalidTextIsRejected(text: String) {
        #expect(Base64URL.bytes(text) == nil)
    }
}
