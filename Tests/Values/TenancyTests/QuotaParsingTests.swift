import Tenancy
import Testing

@Suite struct QuotaParsingTests {
    @Test(arguments: [
        ("5000", Quota(rows: 5_000)), ("0", Quota(rows: 0)), (":64MiB", Quota(bytes: 64 << 20)),
        ("20000:20GiB", Quota(rows: 20_000, bytes: 20 << 30)), ("5:1025", Quota(rows: 5, bytes: 1_025)),
        ("off", Quota(rows: Quota.off, bytes: Quota.off)),
        ("off:1TiB", Quota(rows: Quota.off, bytes: 1 << 40)),
        ("5:off", Quota(rows: 5, bytes: Quota.off)), (":0", Quota(bytes: 0)),
    ])
    func textIsReadAndWritten(_ text: String, _ quota: Quota) {
        #expect(Quota(text) == quota && quota.description == text)
    }

    @Test(arguments: [
        "", ":", "-1", "+1", "1.5", "1:2:3", "5GiB", "1:GiB", "1:5gib", "x", "1 ", "99999999999999999999",
        ":1000000TiB", "٣",
    ])
    func otherTextIsRefused(_ text: String) {
        #expect(Quota(text) == nil)
    }

    @Test func onlyGrowthBeyondTheLimitExceeds() {
        for (limit, current, wouldBe, isExceeded) in [
            (3, 2, 3, false), (3, 3, 4, true), (3, 5, 5, false), (3, 5, 4, false), (3, 5, 6, true),
        ] {
            let forecast = QuotaForecast(
                kind: .clips, unit: .rows, limit: limit, current: current, wouldBe: wouldBe)
            #expect(forecast.isExceeded == isExceeded, "\(forecast)")
        }
    }
}
