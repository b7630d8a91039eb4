import APNsPayload
import Formats
import PropertyTesting
import Testing

/// A written payload can be read again, and is then written with the same bytes.
@Suite struct RoundTripTests {
    private func roundTrip(_ aps: APS, as pushType: PushType) throws {
        let payload = try NotificationPayload(aps: aps, custom: ["order": 1234])
        let encoded = try payload.encoded(for: pushType)
        try #require(JSONValue.object(["aps": .object(aps.json), "order": 1234]) == encoded.json)
        let json = try #require(try JSONValue(parsing: encoded.bytes).objectValue)
        let read = try NotificationPayload(json: json)
        try #require(read == payload)
        // Equality is that of the JSON; this compares the values themselves.
        try #require("\(read.aps)" == "\(aps)")
        try #require(try read.encoded(for: pushType).bytes == encoded.bytes)
    }

    @Test func alertNotificationsRoundTrip() throws {
        var random = RandomAPS(seed: 4_096)
        for _ in 0..<2_000 {
            let aps = random.alertNotification()
            if aps.alert != nil || aps.badge != nil || aps.sound != nil {
                try roundTrip(aps, as: .alert)
            }
        }
    }

    @Test func liveActivityNotificationsRoundTrip() throws {
        var random = RandomAPS(seed: 5_120)
        for _ in 0..<2_000 {
            try roundTrip(random.liveActivityNotification(), as: .liveActivity)
        }
    }
}
