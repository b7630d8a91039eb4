import Testing

@testable import Codes

@Suite struct HostMeasurementTests {
    /// The result and the number of questions for a generator that holds 128 bits.
    private func measure(_ fits: (_ payloadBits: Int) -> Bool) throws -> (HostMeasurement.Result, Int) {
        var measurement = HostMeasurement(host: "example.com")
        let sizes = Dictionary(
            uniqueKeysWithValues: HostMeasurement.payloadSizes.map {
                (HostMeasurement.url("example.com", payloadBits: $0), $0)
            })
        var count = 0
        while let url = measurement.nextURL {
            #expect(measurement.result == nil)
            measurement.record(fits: fits(try #require(sizes[url])))
            count += 1
        }
        return (try #require(measurement.result), count)
    }

    @Test func hostOfAnySizeIsFoundBySevenQuestions() throws {
        for hostBits in HostMeasurement.hostSizes {
            let (result, count) = try measure { hostBits + $0 <= 128 }
            #expect(result == .hostBits(hostBits))
            #expect(count <= 7)
        }
    }

    @Test func hostOutsideRangeHasNoSize() throws {
        #expect(try measure { 102 + $0 <= 128 }.0 == .nothingFits)
        #expect(try measure { _ in false }.0 == .nothingFits)
        #expect(try measure { _ in true }.0 == .everythingFits)
    }

    @Test func urlsHaveExactPayloads() throws {
        for bits in HostMeasurement.payloadSizes {
            let url = HostMeasurement.url("example.com", payloadBits: bits)
            let estimate = try #require(CodeSizeEstimator.estimate(url, hostBits: 30))
            #expect(estimate.upperBound == 30 + bits, "\(url)")
        }
        #expect(HostMeasurement.url("a.com", payloadBits: 27) == "https://a.com?p=XQZJ")
        #expect(HostMeasurement.url("a.com", payloadBits: 28) == "https://a.com/shop?p=127&p1=X")
        #expect(HostMeasurement.url("a.com", payloadBits: 29) == "https://a.com?p=X&p1=XQ")
    }
}
