import APNsPayload
import Formats
import Testing

@Suite struct NotificationPayloadTests {
    @Test func applePayloadsRoundTripUnchanged() throws {
        for vector in try vectors("payloads") {
            let name = try #require(vector["name"]?.stringValue)
            let pushType = try #require(vector["pushType"]?.stringValue.flatMap(PushType.init))
            let json = try #require(vector["payload"]?.objectValue)
            let encoded = try NotificationPayload(json: json).encoded(for: pushType)
            #expect(encoded.json == .object(json), "\(name)")
            #expect(encoded.bytes == JSONValue.object(json).serialized(), "\(name)")
        }
    }

    @Test func appClipExampleIsEncodedFromValues() throws {
        let aps = APS(
            alert: .parts(
                Alert.Parts(
                    title: .plain("Order Status"), subtitle: .plain("Restaurant A"),
                    body: .plain("Your order is ready."))),
            category: "order_status",
            targetContentID: "https://example.com/restaurants/restaurant_a/order/1234")
        let encoded = try NotificationPayload(aps: aps).encoded(for: .alert)
        #expect(
            String(decoding: encoded.bytes, as: UTF8.self)
                == #"{"aps":{"alert":{"body":"Your order is ready.","subtitle":"Restaurant A","#
                + #""title":"Order Status"},"category":"order_status","target-content-id":"#
                + #""https://example.com/restaurants/restaurant_a/order/1234"}}"#)
    }

    @Test func refusalNamesFieldAndReason() throws {
        for vector in try vectors("refusals") {
            let pushType = try #require(vector["pushType"]?.stringValue.flatMap(PushType.init))
            let aps = try #require(vector["aps"]?.objectValue)
            let error = PayloadError.invalid(
                field: try #require(vector["field"]?.stringValue),
                reason: try #require(vector["reason"]?.stringValue))
            let text = JSONValue.object(aps).prettyPrinted()
            #expect(throws: error, "\(text)") {
                try NotificationPayload(aps: try APS(json: aps)).encoded(for: pushType)
            }
        }
    }

    /// These values can be made in Swift, but JSON cannot contain them.
    @Test(arguments: [
        (APS(sound: .dictionary(isCritical: true, name: "default", volume: .nan)), "aps.sound.volume"),
        (APS(alert: .body("a"), relevanceScore: .infinity), "aps.relevance-score"),
        (APS(alert: .body("a"), relevanceScore: .nan), "aps.relevance-score"),
        (APS(alert: .parts(Alert.Parts(body: .plain("a"), sound: "default"))), "aps.alert.sound"),
    ])
    func valuesThatJSONCannotRepresentAreRejected(aps: APS, field: String) throws {
        let error = #expect(throws: PayloadError.self) {
            try NotificationPayload(aps: aps).encoded(for: .alert)
        }
        #expect(error?.field == field)
        #expect(error?.code == "invalid_notification")
        #expect(aps == aps)
    }

    @Test func customDataPassesThroughUnchanged() throws {
        let custom: JSONObject = [
            "order": 1234, "total": .number(try #require(JSONNumber(literal: "1.10"))),
            "aps2": [.null, true],
        ]
        let payload = try NotificationPayload(aps: APS(alert: .body("a")), custom: custom)
        #expect(
            try payload.encoded(for: .alert).json
                == [
                    "aps": ["alert": "a"], "order": 1234, "total": try #require(custom["total"]),
                    "aps2": [.null, true],
                ])
    }

    @Test func customDataCannotReplaceAps() {
        #expect(throws: PayloadError.invalid(field: "custom.aps", reason: "is not a name for custom data")) {
            try NotificationPayload(aps: APS(alert: .body("a")), custom: ["aps": [:]])
        }
    }

    @Test func payloadWithoutApsDictionaryIsRejected() {
        #expect(throws: PayloadError.invalid(field: "aps", reason: "is missing")) {
            try NotificationPayload(json: ["order": 1])
        }
        #expect(throws: PayloadError.invalid(field: "aps", reason: "must be an object")) {
            try NotificationPayload(json: ["aps": "Hello"])
        }
    }

    // MARK: Size

    /// The exact size passes, one byte more does not.
    @Test(arguments: [
        (PushType.alert, false, 4_096), (.alert, true, 5_120), (.voip, false, 5_120), (.voip, true, 5_120),
    ])
    func payloadOverSizeLimitIsRejected(pushType: PushType, isBroadcast: Bool, limit: Int) throws {
        func encode(_ size: Int) throws -> EncodedPayload {
            let frame = #"{"aps":{"alert":""}}"#.utf8.count
            let text = String(repeating: "a", count: size - frame)
            return try NotificationPayload(aps: APS(alert: .body(text)))
                .encoded(for: pushType, isBroadcast: isBroadcast)
        }
        #expect(try encode(limit).bytes.count == limit)
        let error = PayloadError.payloadTooLarge(size: limit + 1, limit: limit)
        #expect(throws: error) { try encode(limit + 1) }
        #expect(error.code == "payload_too_large")
        #expect(error.field == nil)
        #expect(
            error.description
                == "The payload has \(limit + 1) bytes, more than the \(limit) that APNs accepts")
    }

    @Test func sizeIsCountedInBytes() throws {
        let payload = try NotificationPayload(aps: APS(alert: .body(String(repeating: "é", count: 2_039))))
        #expect(throws: PayloadError.payloadTooLarge(size: 4_098, limit: 4_096)) {
            try payload.encoded(for: .alert)
        }
    }

    // MARK: Warnings

    private static let start: JSONObject = [
        "alert": ["title": "a", "body": "b"], "timestamp": 1, "event": "start", "content-state": [:],
        "attributes-type": "Order", "attributes": [:],
    ]

    private static func starting(_ key: String, _ value: JSONValue) -> JSONObject {
        var aps = start
        aps[key] = value
        return aps
    }

    @Test(
        arguments: [
            (["alert": "a"], []),
            (["alert": "a", "content-available": 0, "mutable-content": 0], []),
            (["alert": "a", "content-available": 1], [.contentAvailableHasNoEffect]),
            (["alert": "a", "mutable-content": 1], [.mutableContentHasNoEffect]),
            (["alert": "a", "interruption-level": "critical"], [.criticalAlertNeedsEntitlement]),
            (["alert": "a", "interruption-level": "time-sensitive"], []),
            (["sound": ["name": "default", "critical": 1]], [.criticalAlertNeedsEntitlement]),
            (["sound": ["name": "default", "critical": 0]], []),
            (
                ["timestamp": 1, "event": "update", "content-state": [:], "dismissal-date": 1],
                [.dismissalDateWithoutEnd]
            ),
            (["timestamp": 1, "event": "end", "dismissal-date": 1], []),
            (start, [.startWithoutUpdates]),
            (starting("input-push-token", 1), []),
            (starting("input-push-channel", "YQ=="), []),
        ] as [(JSONObject, [PayloadWarning])])
    func payloadYieldsExpectedWarnings(aps: JSONObject, warnings: [PayloadWarning]) throws {
        let payload = try NotificationPayload(aps: try APS(json: aps))
        #expect(payload.warnings == warnings)
    }

    @Test func warningsHaveStableCodes() {
        #expect(
            PayloadWarning.allCases.map(\.code) == [
                "content_available_has_no_effect", "mutable_content_has_no_effect",
                "critical_alert_needs_entitlement", "dismissal_date_without_end",
                "start_without_updates",
            ])
    }
}
