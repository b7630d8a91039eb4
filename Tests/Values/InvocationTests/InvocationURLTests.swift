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

    @Test func canonicalFormMatchesVectors() throws {
        for vector in try vectors("canonical", of: Canonical.self) {
            let url = try InvocationURL(vector.input)
            #expect(url.canonical == vector.canonical, "\(vector.source)")
            #expect(
                try InvocationURL(vector.canonical).canonical == vector.canonical, "\(vector.source), again")
        }
    }

    @Test func invalidURLIsRejectedWithItsCode() throws {
        for vector in try vectors("refused", of: Refused.self) {
            let error = #expect(throws: InvocationURLError.self, "\(vector.source): \(vector.input)") {
                try InvocationURL(vector.input)
            }
            #expect(error?.code == vector.code, "\(vector.source): \(vector.input)")
            #expect(error?.description.isEmpty == false)
        }
    }

    @Test func unmatchableURLMatchesNoExperience() throws {
        for vector in try vectors("unmatchable", of: Unmatchable.self) {
            let url = try InvocationURL(vector.input)
            #expect(!url.isMatchable, "\(vector.source): \(vector.input)")
            #expect(try !Experience.advanced("https://example.com").matches(url))
        }
    }

    @Test func overlongURLOrHostIsRejected() throws {
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

    @Test func urlIsSplitIntoParts() throws {
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

    @Test func descriptionContainsNoValues() throws {
        let url = try InvocationURL("https://example.com/menu?lat=37.3&sig=abc#37.3")
        #expect("\(url)" == "https://example.com/menu")
        #expect("\(url.queryItems)" == "[lat, sig]")
    }

    @Test func equalityComparesCanonicalText() throws {
        let one = try InvocationURL("https://EXAMPLE.com/%61/")
        #expect(try one == InvocationURL("https://example.com/a"))
        #expect(try one.hashValue == InvocationURL("https://example.com/a").hashValue)
        #expect(try one != InvocationURL("https://example.com/a#x"))
    }

    @Test func missingPartsHaveEmptyRanges() throws {
        let bare = try InvocationURL("https://example.com")
        #expect(bare.hostRange == 8..<19)
        #expect(bare.pathRange == 19..<19)
        #expect(bare.queryRange == 19..<19)
        let port = try InvocationURL("http://example.com:80#top")
        #expect(port.hostRange == 7..<18)
        #expect(port.pathRange == 21..<21)
        #expect(port.queryRange == 21..<21)
        let query = try InvocationURL("https://example.com?a&b=1#top")
        #expect(query.pathRange == 19..<19)
        #expect(query.queryRange == 20..<25)
        let path = try InvocationURL("https://[::1]/a//b#top")
        #expect(path.hostRange == 8..<13)
        #expect(path.pathRange == 13..<18)
        #expect(path.queryRange == 18..<18)
    }

    /// RFC 3986 §3.3 to §3.5: bytes that are allowed in a part are kept. All other ASCII bytes are encoded.
    @Test(arguments: [
        ("/x", "!$&'()*+,;=:@/", "?#"), ("?x", "!$&'()*+,;=:@/?", "#"), ("#x", "!$&'()*+,;=:@/?", ""),
    ])
    func bytesAllowedInPartAreKeptAndOthersEncoded(start: String, delimiters: String, ends: String) throws {
        let refused = " \\%".unicodeScalars.map(\.value)
        for value in UInt32(0x21)...0x7E where !refused.contains(value) {
            let byte = String(try #require(Unicode.Scalar(value)))
            if ends.contains(byte) { continue }
            let isKept =
                byte.allSatisfy { $0.isLetter || $0.isNumber } || "-._~".contains(byte)
                || delimiters.contains(byte)
            let text = isKept ? byte : "%" + String(value, radix: 16, uppercase: true)
            // Something on either side, so that no delimiter is one too many.
            for stem in ["https://example.com", "HTTPS://example.com"] {
                let url = try InvocationURL(stem + start + byte + "y")
                #expect(url.canonical == "https://example.com" + start + text + "y")
            }
        }
    }

    @Test func canonicalizationIsIdempotent() throws {
        var random = SplitMix64(seed: 1)
        var accepted = 0
        for _ in 0..<100_000 {
            let text = Self.randomText(&random)
            guard let url = try? InvocationURL(text) else { continue }
            accepted += 1
            let again = try InvocationURL(url.canonical)
            guard again.canonical == url.canonical, again.pathComponents == url.pathComponents,
                again.queryItems == url.queryItems, again.fragment == url.fragment, again.port == url.port,
                again.isMatchable == url.isMatchable, url.bytes.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
                Issue.record("not canonical: \(text.debugDescription) → \(url.canonical)")
                return
            }
        }
        #expect((50_000...95_000).contains(accepted))
    }

    /// A canonical text is copied. The same text with its scheme in upper case is parsed and written anew.
    @Test func canonicalTextIsParsedLikeAnyOther() throws {
        var random = SplitMix64(seed: 2)
        for _ in 0..<20_000 {
            guard let url = try? InvocationURL(Self.randomText(&random)) else { continue }
            let copied = try InvocationURL(url.canonical)
            let written = try InvocationURL(
                url.scheme.uppercased() + url.canonical.dropFirst(url.scheme.count))
            guard copied == url, written == url, copied.hashValue == written.hashValue,
                copied.hostRange == written.hostRange, copied.pathRange == written.pathRange,
                copied.queryRange == written.queryRange, copied.isMatchable == written.isMatchable
            else {
                Issue.record("read in two ways: \(url.canonical)")
                return
            }
        }
    }

    @Test func rangesAgreeWithPartStrings() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<20_000 {
            guard let url = try? InvocationURL(Self.randomText(&random)) else { continue }
            let path = url.pathComponents.map { "/" + $0 }.joined()
            let query = url.queryItems.map(\.text).joined(separator: "&")
            let whole =
                url.scheme + "://" + url.host + (url.port.map { ":\($0)" } ?? "") + path
                + (query.isEmpty ? "" : "?" + query) + (url.fragment.map { "#" + $0 } ?? "")
            guard url.bytes.elementsEqual(whole.utf8), url.canonical == whole,
                url.bytes[url.hostRange].elementsEqual(url.host.utf8),
                url.bytes[url.pathRange].elementsEqual(path.utf8),
                url.bytes[url.queryRange].elementsEqual(query.utf8)
            else {
                Issue.record("parts and ranges differ: \(url.canonical)")
                return
            }
        }
    }

    @Test func utf8IsParsedLikeString() {
        var random = SplitMix64(seed: 4)
        for _ in 0..<20_000 {
            let text = Self.randomText(&random)
            let bytes = Array(text.utf8)
            let fromString = Result { () throws(InvocationURLError) in try InvocationURL(text) }
            let fromBytes = Result { () throws(InvocationURLError) in try InvocationURL(utf8: bytes.span) }
            guard fromString == fromBytes else {
                Issue.record("read in two ways: \(text.debugDescription)")
                return
            }
        }
    }

    /// A text made of the pieces that parsers stumble over.
    private static func randomText(_ random: inout SplitMix64) -> String {
        var text = random.pick(starts)
        for _ in 0..<random.below(12) {
            text += random.pick(random.below(50) == 0 ? refusedPieces : pieces)
        }
        return text
    }

    private static let pieces = [
        "a", "B", "1", "/", "/", "//", "?", "#", "&", "=", "%2e", "%2E", ".", "..", "/../", "/./", "%2f",
        "%5C",
        "%41", "%7e", "%C3%BC", "%FF", "%00", "ü", "日", "e\u{301}", "💩", "+", ";", "[", "]", "|", "\"",
        "%25", "~", "'", "*", "-", "_", "%5b", "(", "$", "{", "^",
    ]

    private static let refusedPieces = [
        "%", " ", "\\", "\u{0}", "\u{85}", "@", ":", "\u{200D}", "xn--", "%g1",
    ]

    private static let starts = [
        "https://example.com", "https://example.com/", "https://example.com?", "https://example.com#",
        "HTTPS://EXAMPLE.COM.:443/", "https://example.com:/", "http://example.com:80/", "https://[::1]/",
        "https://127.1/", "https://bücher.example/", "https://", "x:",
    ]
}
