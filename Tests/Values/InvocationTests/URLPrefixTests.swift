import Invocation
import PropertyTesting
import Testing

@Suite struct URLPrefixTests {
    @Test(arguments: [
        ("", URLPrefixError.invalidURL(.empty), "empty"),
        ("https://a b", .invalidURL(.space), "space"),
        ("http://example.com", .notHTTPS, "not_https"),
        ("https://bücher.example", .nonASCIIHost(aLabel: "xn--bcher-kva.example"), "non_ascii_host"),
        ("https://example.com:8443", .port, "port"),
        ("https://192.0.2.1", .ipAddress, "ip_address"),
        ("https://[::1]", .ipAddress, "ip_address"),
        ("https://0x7f000001", .ipAddress, "ip_address"),
        ("https://example.com/#menu", .fragment, "fragment"),
        (
            "https://example.com" + String(repeating: "/a", count: 33), .tooManyPathComponents,
            "too_many_path_components"
        ),
        (
            "https://example.com?" + (0...16).map { "a=\($0)" }.joined(separator: "&"), .tooManyQueryItems,
            "too_many_query_items"
        ),
    ])
    func invalidPrefixIsRejected(text: String, error: URLPrefixError, code: String) {
        #expect(throws: error) { try URLPrefix(text) }
        #expect(error.code == code)
        #expect(!error.description.isEmpty)
    }

    @Test func nonASCIIHostErrorNamesALabel() {
        let error = URLPrefixError.nonASCIIHost(aLabel: "xn--bcher-kva.example")
        #expect(error.description.contains("xn--bcher-kva.example"))
    }

    @Test func prefixIsCanonicalized() throws {
        let prefix = try URLPrefix("https://Example.com:443/a/../menu/?b=2&a=1&b=2")
        #expect(prefix.canonical == "https://example.com/menu?b=2&a=1&b=2")
        #expect(prefix.queryItems.map(\.text) == ["a=1", "b=2"])
    }

    @Test func limitsAreInclusive() throws {
        let items = (1...16).map { "a=\($0)" }.joined(separator: "&")
        let url = "https://example.com" + String(repeating: "/a", count: 32) + "?" + items + "&a=1"
        #expect(try URLPrefix(url).queryItems.count == 16)
    }

    /// Hosts are equal, the components are the first ones, and each item is among the invocation's.
    @Test func prefixMatchesByHostComponentsAndItems() throws {
        var random = SplitMix64(seed: 6)
        var matches = 0
        for _ in 0..<10_000 {
            let host = random.pick(["https://a.example", "https://a.example", "https://a.example.com"])
            guard let prefix = try? URLPrefix(host + Self.randomTail(&random, longest: 4)) else { continue }
            let invocation = try InvocationURL("https://a.example" + Self.randomTail(&random, longest: 9))
            let isPrefix =
                invocation.isMatchable && prefix.host == invocation.host
                && invocation.pathComponents.starts(with: prefix.pathComponents)
                && prefix.queryItems.allSatisfy(invocation.queryItems.contains)
            matches += isPrefix ? 1 : 0
            #expect(prefix.matches(invocation) == isPrefix, "\(prefix) \(invocation.canonical)")
        }
        #expect((500...9_000).contains(matches))
    }

    private static func randomTail(_ random: inout SplitMix64, longest: Int) -> String {
        let pieces = ["/", "/a", "/a", "/ab", "/b", "?", "&x", "&x=1", "x=12", "&", ":8443"]
        let path = (0..<random.below(longest)).map { _ in random.pick(Array(pieces.prefix(5))) }.joined()
        guard random.oneIn(2) else { return path }
        return path + "?" + (0..<random.below(longest)).map { _ in random.pick(pieces) }.joined()
    }
}
