import Formats
import Foundation
import Testing

@Suite struct RFC3339Tests {
    /// The examples of RFC 3339 §5.8, and the epoch.
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0.0), ("1985-04-12T23:20:50.52Z", 482_196_050.52),
        ("1996-12-19T16:39:57-08:00", 851_042_397), ("1990-12-31T23:59:60Z", 662_688_000),
        ("1990-12-31T15:59:60-08:00", 662_688_000), ("1937-01-01T12:00:27.87+00:20", -1_041_337_172.13),
        ("2024-02-29t12:00:00z", 1_709_208_000), ("0001-01-01T00:00:00Z", -62_135_596_800),
    ])
    func rfc3339ExamplesAreParsed(text: String, seconds: Double) throws {
        let date = try #require(Date(rfc3339: text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 1e-5)
    }

    @Test(arguments: [
        "", "2026-03-01", "2026-03-01T12:30:00", "2026-03-01 12:30:00Z", "2026-03-01T12:30Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-03-00T00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T12:60:00Z", "2026-03-01T12:30:61Z",
        "2026-03-01T12:30:00Zjunk", "2026-03-01T12:30:00+24:00", "2026-03-01T12:30:00+01:60",
        "2026-03-01T12:30:00.Z",
        "٢026-03-01T12:30:00Z", " 2026-03-01T12:30:00Z",
    ])
    func invalidDateIsRejected(text: String) {
        #expect(Date(rfc3339: text) == nil)
    }

    @Test(arguments: [
        "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2024-02-29T12:00:00Z", "2026-11-21T16:05:09Z",
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    ])
    func dateIsWrittenTruncatedToSeconds(text: String) throws {
        let date = try #require(Date(rfc3339: text))
        #expect(date.rfc3339 == text)
        #expect((date + 0.999).rfc3339 == text)
    }

    @Test(arguments: [
        (0.25, "1970-01-01T00:00:00.250Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
        (1.9996, "1970-01-01T00:00:02.000Z"),
    ])
    func dateIsWrittenWithMilliseconds(seconds: Double, text: String) {
        #expect(Date(timeIntervalSince1970: seconds).rfc3339WithMilliseconds == text)
    }
}
