import Codes
import Invocation
import Testing

@Suite struct AppClipCodeURLTests {
    struct CodeURL: Decodable {
        let source: String
        let url: String
        let refusals: [String]
        let fit: String
        let advice: [String: String]
    }

    @Test func codeURLGivesExpectedRefusalsAndAdvice() throws {
        for vector in try vectors("code-urls", of: CodeURL.self) {
            let url = try AppClipCodeURL(vector.url)
            #expect(url.refusals.map(\.rawValue) == vector.refusals, "\(vector.source): \(vector.url)")
            #expect(url.fit.rawValue == vector.fit, "\(vector.url)")
            let advice = Dictionary(uniqueKeysWithValues: url.advice.map { ($0.code.rawValue, $0.better) })
            #expect(advice == vector.advice, "\(vector.source): \(vector.url)")
        }
    }

    /// An advice for a made-up URL, with the bits that it saves in a re-implementation of the generator.
    struct MeasuredAdvice: Decodable {
        let url: String
        let code: String
        let better: String
        let saved: Int
    }

    @Test func adviceSavesAboutTheBitsOfGenerator() throws {
        for measured in try vectors("code-advice", of: MeasuredAdvice.self) {
            let advice = try #require(
                try AppClipCodeURL(measured.url).advice.first { $0.code.rawValue == measured.code },
                "\(measured.url)")
            #expect(advice.better == measured.better)
            #expect(advice.savedBits > 3 && measured.saved > 0, "\(measured.url)")
            #expect(abs(advice.savedBits - measured.saved) <= 20, "\(measured.url)")
        }
    }

    @Test func adviceBeginsWithMostEffectiveOne() throws {
        let advice = try AppClipCodeURL("https://example.com/menu?utm_source=qr&p=4").advice
        #expect(advice.map(\.code) == [.trackingParameters, .queryNames, .decimalValues])
        #expect(advice.map(\.savedBits) == advice.map(\.savedBits).sorted(by: >))
    }

    @Test func measuredHostDecidesFit() throws {
        let text = "https://shop.exampleonline.com/menu?p=42&p1=7"
        let estimated = try AppClipCodeURL(text)
        #expect(try AppClipCodeURL(text, hostBits: 90).fit == .fits)
        #expect(try AppClipCodeURL(text, hostBits: 120).fit == .tooLong)
        #expect(estimated.size?.isHostMeasured == false)
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
