import Invocation
import Testing

@Suite struct AppClipCodeURLTests {
    struct CodeURL: Decodable {
        let source: String
        let url: String
        let refusals: [String]
        let advice: [String: String]
    }

    @Test func codeURLGivesExpectedRefusalsAndAdvice() throws {
        for vector in try vectors("code-urls", of: CodeURL.self) {
            let url = try AppClipCodeURL(vector.url)
            #expect(url.refusals.map(\.rawValue) == vector.refusals, "\(vector.source): \(vector.url)")
            #expect(url.fit == (vector.refusals.isEmpty ? .unknown : .refused), "\(vector.url)")
            let advice = Dictionary(uniqueKeysWithValues: url.advice.map { ($0.code.rawValue, $0.better) })
            #expect(advice == vector.advice, "\(vector.source): \(vector.url)")
        }
    }

    @Test func invalidURLIsRejected() {
        #expect(throws: InvocationURLError.space) { try AppClipCodeURL("https://a b") }
    }

    @Test func adviceEndsAfterAllIsFollowed() throws {
        var url = try AppClipCodeURL(
            "https://www.example.com/store/123e4567-e89b-12d3-a456-426614174000/?x=yes")
        for _ in 0..<20 {
            guard let better = url.advice.first?.better else { break }
            url = try AppClipCodeURL(better)
        }
        #expect(url.advice.isEmpty)
        #expect(url.text == "https://example.com/store?p=2&p1=1")
    }

    /// Each advice changes the URL, and no two advise the same one.
    @Test func adviceNamesEachBetterURLOnce() throws {
        for vector in try vectors("code-urls", of: CodeURL.self) {
            let better = try AppClipCodeURL(vector.url).advice.map(\.better)
            #expect(Set(better + [vector.url]).count == better.count + 1, "\(vector.url)")
        }
    }
}
