import Tenancy
import Testing

@Suite struct WebOriginTests {
    @Test(arguments: [
        "https://order.example.com", "https://example.com:8443", "https://xn--bcher-kva.example",
        "https://localhost", "https://192.0.2.1", "http://localhost:3000", "http://127.0.0.1:8080",
        "http://localhost", "https://a", "https://example.com:80",
    ])
    func originIsAccepted(text: String) throws {
        #expect(try WebOrigin(text).text == text)
    }

    @Test(arguments: [
        "", "*", "null", "https://", "https://*", "https://*.example.com", "example.com", "//example.com",
        "https:/example.com", "https://example.com/", "https://example.com/path", "https://example.com?a",
        "https://example.com#a", "https://user@example.com", "https://Example.com", "HTTPS://example.com",
        "https://example.com:", "https://example.com:0", "https://example.com:443",
        "https://example.com:65536",
        "https://example.com:08443", "https://example.com:+1", "https://example.com:8443:1",
        "http://example.com", "http://localhost:80", "http://localhost.example.com", "ftp://example.com",
        "https://.example.com", "https://example..com", "https://example.com.", "https://-a.example",
        "https://a-.example", "https://b\u{FC}cher.example", "https://a b.example", "https://a_b.example",
        "https://example.com\n", " https://example.com", "https://[::1]", "https://e\u{301}.example",
    ])
    func otherTextIsRefused(text: String) {
        #expect(throws: WebOrigin.Refusal.self) { try WebOrigin(text) }
    }

    @Test func lengthAndNumberOfOriginsAreLimited() throws {
        let label = String(repeating: "a", count: 60)
        let longest = "https://" + [label, label, label, label].joined(separator: ".") + ".aa"
        #expect(longest.utf8.count == 254)
        #expect(throws: Never.self) { try WebOrigin(longest + "a") }
        #expect(throws: WebOrigin.Refusal.self) { try WebOrigin(longest + "aa") }
        let many = (0..<WebOrigin.maximumCount).map { "https://a\($0).example" }
        #expect(try WebOrigin.list(many).count == WebOrigin.maximumCount)
        #expect(throws: WebOrigin.Refusal.self) { try WebOrigin.list(many + ["https://b.example"]) }
        #expect(
            try WebOrigin.list(["https://b.example", "https://a.example", "https://b.example"]).map(\.text)
                == ["https://a.example", "https://b.example"])
    }
}
