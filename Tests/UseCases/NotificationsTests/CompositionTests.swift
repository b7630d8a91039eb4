import APNsPayload
import Formats
import Foundation
import Notifications
import Testing

@Suite struct CompositionTests {
    private let court: FoodCourt

    init() throws {
        court = try FoodCourt()
    }

    // MARK: Expiration

    /// Seconds from now. Nil means no expiration. `.min` means 0, a single attempt.
    @Test(arguments: [
        // The launch is unknown.
        (nil, nil, nil, false), (nil, .min, 0, false), (nil, 60, 60, false), (nil, 99_999, 99_999, false),
        // Launched an hour ago: seven hours are left.
        (-3_600, nil, 25_200, false), (-3_600, .min, 0, false), (-3_600, 25_199, 25_199, false),
        (-3_600, 25_200, 25_200, false), (-3_600, 25_201, 25_200, true), (-3_600, 99_999, 25_200, true),
        // Just launched; and launched in the future by the clock of the device.
        (0, 99_999, 28_800, true), (600, nil, 28_800, false), (1_000_000, 28_801, 28_800, true),
        // The last second.
        (-28_799, nil, 1, false),
    ])
    func expirationIsAtMostEightHoursAfterLaunch(
        launch: Int?, asked: Int?, expected: Int?, isShortened: Bool
    ) throws {
        let now = Int(court.now.timeIntervalSince1970)
        var headers = JSONObject()
        headers["expiration"] = asked.map { JSONValue($0 == .min ? 0 : now + $0) }
        let composition = try court.compose(
            headers: headers, launchedAt: launch.map { court.now.addingTimeInterval(Double($0)) })
        let notification = try #require(composition.composed)
        let isSingleAttempt = asked == .min
        #expect(
            notification.headers.expiration?.epochSeconds
                == expected.map { isSingleAttempt ? $0 : now + $0 })
        #expect(notification.warnings == (isShortened ? [.expirationShortened] : []))
    }

    @Test(arguments: [-28_800, -28_801, -Double.greatestFiniteMagnitude, -.infinity, .nan])
    func launchEightHoursAgoIsRejected(launch: Double) throws {
        let refusal = try court.compose(launchedAt: court.now.addingTimeInterval(launch)).refusal
        #expect(refusal == .launchTooLongAgo)
        #expect(refusal?.code == "launch_too_long_ago")
    }

    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude])
    func futureLaunchCountsAsNow(launch: Double) throws {
        let composition = try court.compose(launchedAt: court.now.addingTimeInterval(launch))
        #expect(
            composition.composed?.headers.expiration?.epochSeconds
                == Int(court.now.timeIntervalSince1970) + 28_800)
    }

    /// The 8 hours apply to notifications. A Live Activity has its own token. [Apple]
    @Test(arguments: [-9, -7]) func liveActivityHasNoWindow(hours: Double) throws {
        let composition = try court.compose(
            aps: ["timestamp": 1, "event": "update", "content-state": [:]],
            headers: ["pushType": "liveactivity", "expiration": 1_800_000_000],
            launchedAt: court.now.addingTimeInterval(hours * 3_600))
        let notification = try #require(composition.composed)
        #expect(notification.headers.expiration?.epochSeconds == 1_800_000_000)
        #expect(notification.warnings.isEmpty)
    }

    /// Apple documents no effect of `target-content-id` on a Live Activity. [ours]
    @Test func liveActivityHasNoTarget() throws {
        let composition = try court.compose(
            aps: ["timestamp": 1, "event": "update", "content-state": [:]],
            headers: ["pushType": "liveactivity"])
        let notification = try #require(composition.composed)
        #expect(notification.target == nil)
        #expect(notification.payload.json.objectValue?["aps"]?.objectValue?["target-content-id"] == nil)
    }

    // MARK: Payload and headers

    @Test func payloadOver4096BytesIsRejected() throws {
        let empty = try #require(try court.compose(custom: ["x": ""]).composed).payload.bytes.count
        func filled(to size: Int) throws -> Result<ComposedNotification, CompositionRefusal> {
            try court.compose(custom: ["x": .string(String(repeating: "x", count: size - empty))])
        }
        #expect(try filled(to: 4_096).composed?.payload.bytes.count == 4_096)
        let refusal = try filled(to: 4_097).refusal
        #expect(refusal == .invalid(.payloadTooLarge(size: 4_097, limit: 4_096)))
        #expect(refusal?.code == "payload_too_large")
        #expect(
            refusal?.description.contains("4097") == true && refusal?.description.contains("4096") == true)
    }

    @Test(
        arguments: [
            (["alert": "x", "target-content-id": "https://example.com"], [:], [:], "aps.target-content-id"),
            (
                ["alert": "x", "target-content-id": .string(FoodCourt.order)], [:], [:],
                "aps.target-content-id"
            ),
            (["alert": "x", "targetContentID": "x"], [:], [:], "aps.targetContentID"),
            ([:], [:], [:], "aps"),
            (["alert": "x"], ["aps": [:]], [:], "custom.aps"),
            (["alert": "x"], [:], ["pushType": "background"], "headers.pushType"),
            (["alert": "x"], [:], ["priority": 7], "headers.priority"),
            (["alert": "x"], [:], ["collapseId": "x"], "headers.collapseId"),
            (["alert": "x", "relevance-score": 2], [:], [:], "aps.relevance-score"),
        ] as [(JSONObject, JSONObject, JSONObject, String)])
    func invalidNotificationIsRejectedByField(
        aps: JSONObject, custom: JSONObject, headers: JSONObject, field: String
    ) throws {
        let refusal = try court.compose(aps: aps, custom: custom, headers: headers).refusal
        guard case .invalid(let error) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(error.field == field)
        #expect(refusal?.code == "invalid_notification")
        #expect(refusal?.description == error.description)
    }

    @Test func customMembersAndHeadersPassThrough() throws {
        let id = "8B3A2F60-0D3F-4C0E-9E49-6B6A8C6F2E11"
        let composition = try court.compose(
            custom: ["order": 1234, "items": [1, .null]],
            headers: ["collapseID": "order-1234", "priority": 5, "id": .string(id)])
        let notification = try #require(composition.composed)
        let payload = try #require(notification.payload.json.objectValue)
        #expect(payload.map(\.key) == ["aps", "items", "order"])
        #expect(payload["order"] == 1234)
        #expect(notification.headers.collapseID == "order-1234")
        #expect(notification.headers.priority == .powerAware)
        #expect(notification.headers.id == id.lowercased())
    }

    @Test func payloadAndExpirationWarningsAreCombined() throws {
        let composition = try court.compose(
            aps: ["alert": "x", "content-available": 1, "mutable-content": 1],
            headers: ["expiration": 1_800_000_000], launchedAt: court.now)
        let warnings = try #require(composition.composed).warnings
        #expect(
            warnings == [
                .payload(.contentAvailableHasNoEffect), .payload(.mutableContentHasNoEffect),
                .expirationShortened,
            ])
        #expect(
            warnings.map(\.code) == [
                "content_available_has_no_effect", "mutable_content_has_no_effect", "expiration_shortened",
            ])
        #expect(Set(warnings.map(\.description)).count == 3)
    }

    @Test func firstRefusalReasonIsReported() throws {
        let old = court.now.addingTimeInterval(-90_000)
        #expect(
            try court.compose("https://example.com", aps: [:], launchedAt: old).refusal == .doesNotMatch
        )
        #expect(try court.compose(aps: [:], launchedAt: old).refusal == .launchTooLongAgo)
    }
}
