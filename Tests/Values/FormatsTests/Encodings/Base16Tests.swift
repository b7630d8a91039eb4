import Formats
import Testing

@Suite struct Base16Tests {
    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "66"), ("fo", "666F"), ("foo", "666F6F"), ("foob", "666F6F62"),
        ("foobar", "666F6F626172"),
    ])
    func rfc4648VectorsRoundTrip(text: String, encoded: String) {
        #expect(Base16.text(text.utf8) == encoded.lowercased())
        #expect(Base16.bytes(encoded) == Array(text.utf8))
        #expect(Base16.bytes(encoded.lowercased()) == Array(text.utf8))
    }

    @Test(arguments: ["6", "6g", "0x66", " 66", "６６", "é"]) func invalidTextIsRejected(text: String) {
        #expect(Base16.bytes(text) == nil)
    }
}
