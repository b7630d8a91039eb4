import Foundation
import Testing

@testable import Codes

@Suite struct CodeSizeEstimatorTests {
    /// A made-up URL with the size of its code and of its host, as a re-implementation of the generator computes them,
    /// and with the reference estimator's results.
    struct Vector {
        let url: String
        let bits: Int
        let estimate: Double
        let spread: Double
        let hostBits: Int

        var fits: Bool { bits <= 128 }

        static func all() throws -> [Self] {
            let file = try #require(
                Bundle.module.url(forResource: "sizes", withExtension: "csv", subdirectory: "Vectors"))
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst().map {
                line in
                let fields = line.split(separator: ",").map(String.init)
                return Self(
                    url: fields[0], bits: try #require(Int(fields[1])),
                    estimate: try #require(Double(fields[2])),
                    spread: try #require(Double(fields[3])), hostBits: try #require(Int(fields[4])))
            }
        }
    }

    @Test func estimateEqualsReferenceEstimator() throws {
        let vectors = try Vector.all()
        #expect(vectors.count == 400)
        for vector in vectors {
            let estimate = try #require(CodeSizeEstimator.estimate(vector.url), "\(vector.url)")
            #expect(abs(estimate.bits - vector.estimate) <= 0.01, "\(vector.url)")
            #expect(abs(estimate.spread - vector.spread) <= 0.01, "\(vector.url)")
        }
    }

    /// - Parameter maximumUnknown: of the 400 URLs.
    @Test(arguments: [(false, 104), (true, 60)])
    func verdictOfModelIsRightAndSeldomUnknown(isHostMeasured: Bool, maximumUnknown: Int) throws {
        var unknown = 0
        for vector in try Vector.all() {
            let estimate = try #require(
                CodeSizeEstimator.estimate(vector.url, hostBits: isHostMeasured ? vector.hostBits : nil))
            switch estimate.verdict {
            case .unknown: unknown += 1
            case .fits: #expect(vector.fits, "\(vector.url)")
            case .tooLong: #expect(!vector.fits, "\(vector.url)")
            }
        }
        #expect(unknown <= maximumUnknown)
    }

    @Test func upperBoundOverMeasuredHostHolds() throws {
        var count = 0
        for vector in try Vector.all() {
            let estimate = try #require(
                CodeSizeEstimator.estimate(vector.url, hostBits: vector.hostBits))
            guard let upperBound = estimate.upperBound else { continue }
            count += 1
            #expect(vector.bits <= upperBound, "\(vector.url)")
            if upperBound <= 128 { #expect(estimate.verdict == .fits, "\(vector.url)") }
        }
        #expect(count > 200)
    }

    /// The ranges contain the sizes that the re-implementation computes.
    @Test(arguments: [
        ("https://h.com//a///b/", 36.0...44, CodeSizeEstimate.Encoding.segmented),
        ("https://example.com", 29...33, .none),
        ("https://example.com/menu", 34...45, .template),
        ("https://appclip.example.com/shop?p=123&p1=ab", 63...71, .template),
        ("HTTPS://APPCLIP.EXAMPLE.COM/shop?p=123&p1=ab", 63...71, .template),
        ("https://example.com/a[1]", 79...85, .combined),
    ])
    func estimateIsNearSizeOfGenerator(
        url: String, bits: ClosedRange<Double>, encoding: CodeSizeEstimate.Encoding
    ) throws {
        let estimate = try #require(CodeSizeEstimator.estimate(url))
        #expect(bits.contains(estimate.bits), "\(estimate.bits)")
        #expect(estimate.encoding == encoding)
    }

    @Test(arguments: [
        "http://example.com", "https://", "https://localhost/a", "https://xn--caf-dma.com", "https://a..com",
        "https://example.com/~me", "https://example.com/café", "https://example.com?p=(1)",
    ])
    func unwritableURLHasNoEstimate(url: String) {
        #expect(CodeSizeEstimator.estimate(url) == nil)
    }

    @Test func hostOfFiveLabelsIsUnknownUntilMeasured() throws {
        let url = "https://a.b.c.example.com/?p=1"
        #expect(try #require(CodeSizeEstimator.estimate(url)).verdict == .unknown)
        #expect(try #require(CodeSizeEstimator.estimate(url, hostBits: 60)).verdict == .fits)
        #expect(try #require(CodeSizeEstimator.estimate("https://appclip.c.example.co.uk")).verdict == .fits)
    }

    @Test func measuredHostIsIgnoredForHostAlone() throws {
        let estimate = try #require(CodeSizeEstimator.estimate("https://example.com", hostBits: 100))
        #expect(!estimate.isHostMeasured)
        #expect(estimate.bits < 40)
    }

    @Test func numberOfAnyLengthIsEstimated() throws {
        let sizes = try [1, 3, 5, 20, 37, 38, 2_000].map { digits in
            try #require(
                CodeSizeEstimator.estimate(
                    "https://a.com?p=" + String(repeating: "9", count: digits), hostBits: 20)
            ).bits
        }
        #expect(sizes == sizes.sorted())
        #expect(sizes.suffix(2).allSatisfy { $0 > 128 })
    }

    @Test(arguments: [
        ("https://example.com/r/00001", true), ("https://example.com?p=01&p1=2", true),
        ("https://example.com/menu?table=007", true), ("https://example.com/0", false),
        ("https://example.com/r/100", false), ("https://example.com/r/0a", false),
        ("https://example.com?p=0&01", false),
    ])
    func leadingZerosAreFoundInNumbers(url: String, expected: Bool) {
        #expect(CodeSizeEstimator.hasLeadingZeros(url) == expected)
    }
}
