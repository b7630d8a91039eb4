import APNsPayload
import Formats
import Testing

@Suite struct NotificationHeadersTests {
    private static let clip = "com.example.MyApp.Clip"

    @Test(
        arguments: [
            (
                [:],
                ["apns-push-type: alert", "apns-topic: com.example.MyApp.Clip", "apns-priority: 10"]
            ),
            (
                ["collapseID": "order-1234"],
                [
                    "apns-push-type: alert", "apns-topic: com.example.MyApp.Clip", "apns-priority: 10",
                    "apns-collapse-id: order-1234",
                ]
            ),
            (
                [
                    "id": "EABEAE54-14A8-11E5-B60B-1697F925EC7B", "collapseID": "a b", "expiration": 0,
                    "priority": 5,
                    "pushType": "liveactivity",
                ],
                [
                    "apns-push-type: liveactivity",
                    "apns-topic: com.example.MyApp.Clip.push-type.liveactivity", "apns-priority: 5",
                    "apns-expiration: 0", "apns-collapse-id: a b",
                    "apns-id: eabeae54-14a8-11e5-b60b-1697f925ec7b",
                ]
            ),
            (
                ["expiration": 1_760_000_000, "priority": 1],
                [
                    "apns-push-type: alert", "apns-topic: com.example.MyApp.Clip", "apns-priority: 1",
                    "apns-expiration: 1760000000",
                ]
            ),
        ] as [(JSONObject, [String])])
    func fieldsAreWrittenInOrder(json: JSONObject, fields: [String]) throws {
        let headers = try NotificationHeaders(json: json, appClip: Self.clip)
        #expect(headers.fields.map { "\($0.name): \($0.value)" } == fields)
    }

    @Test func refusalNamesFieldAndReason() throws {
        for vector in try vectors("header-refusals") {
            let json = try #require(vector["headers"]?.objectValue)
            let error = PayloadError.invalid(
                field: try #require(vector["field"]?.stringValue),
                reason: try #require(vector["reason"]?.stringValue))
            #expect(throws: error, "\(JSONValue.object(json).prettyPrinted())") {
                try NotificationHeaders(json: json, appClip: Self.clip)
            }
        }
    }

    @Test func backgroundNotificationsHavePriorityFiveOrOne() throws {
        let headers = try NotificationHeaders(pushType: .background, bundleID: Self.clip)
        #expect(headers.priority == .powerAware)
        #expect(
            try NotificationHeaders(pushType: .background, bundleID: Self.clip, priority: .low).priority
                == .low)
        let error = PayloadError.invalid(
            field: "headers.priority", reason: "must not be 10 for the push type background")
        #expect(throws: error) {
            try NotificationHeaders(pushType: .background, bundleID: Self.clip, priority: .immediate)
        }
        #expect(error.description == "The field headers.priority must not be 10 for the push type background")
    }

    /// Source: Apple, "Sending notification requests to APNs", "Know when to use push types".
    @Test(
        arguments: [
            (.alert, "a.b"), (.background, "a.b"), (.complication, "a.b.complication"),
            (.controls, "a.b.push-type.controls"), (.fileProvider, "a.b.pushkit.fileprovider"),
            (.liveActivity, "a.b.push-type.liveactivity"), (.location, "a.b.location-query"), (.mdm, nil),
            (.pushToTalk, "a.b.voip-ptt"), (.voip, "a.b.voip"), (.widgets, "a.b.push-type.widgets"),
        ] as [(PushType, String?)])
    func topicDependsOnPushType(pushType: PushType, topic: String?) {
        #expect(pushType.topic(bundleID: "a.b") == topic)
        #expect((try? NotificationHeaders(pushType: pushType, bundleID: "a.b"))?.topic == topic)
    }

    @Test func appClipsReceiveOnlyAlertsAndLiveActivities() {
        #expect(
            PushType.allCases.filter { $0.reasonAppClipsCannotReceiveIt == nil } == [.alert, .liveActivity])
    }

    @Test func collapseIDOf64BytesIsAccepted() throws {
        let longest = String(repeating: "a", count: 64)
        #expect(
            try NotificationHeaders(json: ["collapseID": .string(longest)], appClip: "a.b").collapseID
                == longest)
        for text in ["", longest + "a"] {
            #expect(
                throws: PayloadError.invalid(field: "headers.collapseID", reason: "must have 1 to 64 bytes")
            ) {
                try NotificationHeaders(json: ["collapseID": .string(text)], appClip: "a.b")
            }
        }
    }

    @Test func expirationBefore1970IsRejected() {
        #expect(NotificationHeaders.Expiration(epochSeconds: -1) == nil)
        #expect(NotificationHeaders.Expiration(epochSeconds: 0) == .immediate)
        #expect(NotificationHeaders.Expiration(epochSeconds: 1)?.epochSeconds == 1)
    }
}
