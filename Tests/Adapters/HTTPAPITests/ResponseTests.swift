import Confirmations
import Formats
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import HTTPAPI

/// Responses of lookup, confirmations and payloads, as clients see them.
@Suite struct ResponseTests {
    static let order = "https://example.com/restaurants/restaurant_a/order/1234"

    static let location: JSONValue = [
        "identifier": "restaurant_a", "name": "Restaurant A",
        "region": [
            "center": ["latitude": 37.334722, "longitude": -122.008889], "radius": 100,
            "identifier": "restaurant_a",
        ],
    ]
    static let experience: JSONValue = [
        "url": "https://example.com/restaurants/restaurant_a", "kind": "advanced",
        "clip": "com.example.MyApp.Clip",
    ]

    @Test func lookupReturnsMostSpecificExperienceAndLocation() async throws {
        try await TestAPI().test { client in
            let response = try await client.lookUp(
                "HTTPS://Example.com:443/restaurants/./restaurant_a/order/1234/")
            #expect(response.status == 200)
            #expect(
                response.json == [
                    "url": .string(Self.order), "experience": Self.experience, "location": Self.location,
                ])
            #expect(response.headers[.cacheControl] == "private, max-age=60")
        }
    }

    /// The location has details: lookup and confirmation return them. (`ReceiptEndpointTests` tests the claims of receipts.)
    @Test func responseIncludesLocationDetails() async throws {
        try await TestAPI().test { client in
            let url = "https://example.com/restaurants/restaurant_b"
            let response = try await client.lookUp(url)
            let details: JSONValue = ["hours": "9–17\n", "phone": "+1 408 555 0100"]
            #expect(response["location"]?.objectValue?["details"] == details)
            #expect(response.text.contains(#""location":{"details":{"hours":"9–17\n","phone":"+1"#))
            let confirmation = try await client.post(
                "/v1/confirmations", key: client.api.publishable, ["url": .string(url)])
            #expect(confirmation["location"] == response["location"])
        }
    }

    @Test(arguments: [
        ("https://other.example/", "does_not_match"), ("http://example.com/restaurants", "does_not_match"),
        ("https://example.com/restaurants", "no_identifier"),
        ("https://example.com/restaurants/nowhere", "unknown_identifier"),
    ])
    func lookupWithoutMatchNamesTheReason(url: String, code: String) async throws {
        try await TestAPI().test { client in
            let response = try await client.lookUp(url)
            #expect(response.status == 404)
            #expect(response.code == code)
            #expect((response["experience"] != nil) == (code != "does_not_match"))
        }
    }

    @Test func matchingETagReturnsNotModified() async throws {
        try await TestAPI().test { client in
            let first = try await client.lookUp(Self.order)
            let tag = try #require(first.headers[.eTag])
            for known in [tag, "W/" + tag, "\"other\", \(tag)", "*"] {
                let response = try await client.lookUp(Self.order, headers: [.ifNoneMatch: known])
                #expect(response.status == 304, "\(known)")
                #expect(response.headers[.eTag] == tag)
                #expect(response.json == nil)
            }
            let other = try await client.lookUp(Self.order, headers: [.ifNoneMatch: "\"other\""])
            #expect(other.status == 200)
        }
    }

    @Test(arguments: [
        (
            #"{"coordinate":{"latitude":37.33475,"longitude":-122.0089,"horizontalAccuracy":12}}"#,
            "inRegion", true
        ),
        (
            #"{"coordinate":{"latitude":37.33475,"longitude":-122.0089,"horizontalAccuracy":150}}"#,
            "inRegion", false
        ),
        (#"{"coordinate":{"latitude":37.34,"longitude":-122.0089}}"#, "notInRegion", true),
        (#"{"deviceResult":{"inRegion":true}}"#, "inRegion", true),
        (#"{"deviceResult":{"inRegion":false}}"#, "notInRegion", true),
        (#"{"deviceResult":{"errorCode":1}}"#, "disallowed", true),
        (#"{"deviceResult":{"errorCode":2}}"#, "doesNotMatch", true),
        (#"{}"#, "undetermined", false),
        (#"{"source":"maps","coordinate":{"latitude":37.33475,"longitude":-122.0089}}"#, "disallowed", true),
        (#"{"source":"mail"}"#, "disallowed", true), (#"{"locationAccess":"denied"}"#, "disallowed", true),
        (#"{"source":"unknown","deviceResult":{"inRegion":true}}"#, "inRegion", true),
        (
            #"{"source":"maps","locationAccess":"denied","deviceResult":{"inRegion":true}}"#, "inRegion",
            true
        ),
        (#"{"url":"https://other.example/","source":"maps"}"#, "doesNotMatch", true),
    ])
    func confirmationOutcomeFollowsFromEvidence(
        changes: String, outcome: String, isCertain: Bool
    ) async throws {
        var body: JSONObject = ["url": .string(Self.order), "source": "nfc", "locationAccess": "allowed"]
        for member in try #require(try JSONValue(parsing: changes.utf8).objectValue) {
            body[member.key] = member.value
        }
        let api = TestAPI()
        try await api.test { [body] client in
            let response = try await client.post(
                "/v1/confirmations", key: client.api.publishable, .object(body))
            #expect(response.status == 200)
            #expect(response["outcome"] == .string(outcome))
            #expect(response["certain"] == .bool(isCertain))
            let codes: [String: JSONValue] = ["disallowed": 1, "doesNotMatch": 2, "undetermined": -1]
            let error = codes[outcome].map { code in
                ["domain": "APActivationPayloadErrorDomain", "code": code, "name": .string(outcome)]
                    as JSONValue
            }
            #expect(response["error"] == error ?? .null)
            let hasLocation = outcome != "disallowed" && outcome != "doesNotMatch"
            #expect(response["location"] == (hasLocation ? Self.location : .null))
            #expect(response.headers[.cacheControl] == "no-store")
        }
        #expect(api.recorder.outcomes == TestAPI.Path.allCases.map { _ in outcome })
    }

    /// `APActivationPayload` gives a clip only its URL. [Apple]
    @Test(arguments: [
        (#""coordinate":{"latitude":37.33475,"longitude":-122.0089}"#, "inRegion"),
        (#""coordinate":{"latitude":37.34,"longitude":-122.0089}"#, "notInRegion"),
        (#""deviceResult":{"inRegion":true}"#, "inRegion"),
        (#""source":"unknown","locationAccess":"unknown""#, "undetermined"),
        (#""source":"maps""#, "disallowed"), (#""locationAccess":"denied""#, "disallowed"),
    ])
    func confirmationRequiresOnlyTheURL(members: String, outcome: String) async throws {
        let body = #"{"url":"\#(Self.order)",\#(members)}"#
        try await TestAPI().test { client in
            let response = try await client.post("/v1/confirmations", Array(body.utf8))
            #expect(response.status == 200 && response["outcome"] == .string(outcome), "\(response.text)")
            let bare = try await client.post("/v1/confirmations", ["url": .string(Self.order)])
            #expect(bare.status == 200 && bare["outcome"] == "undetermined", "\(bare.text)")
        }
    }

    /// The example payload of Apple's page "Enabling notifications in App Clips". [Apple]
    @Test func payloadMatchesApplesExample() async throws {
        let aps = """
            {"alert":{"title":"Order Status","subtitle":"Restaurant A","body":"Your order is ready."},\
            "category":"order_status"}
            """
        let body: JSONValue = [
            "url": .string(Self.order), "aps": try JSONValue(parsing: aps.utf8), "custom": ["order": 1234],
            "headers": ["collapseID": "order-1234"],
        ]
        try await TestAPI().test { client in
            let response = try await client.post("/v1/payloads", body)
            #expect(response.status == 200)
            var expected = try #require(try JSONValue(parsing: aps.utf8).objectValue)
            expected["target-content-id"] = .string(Self.order)
            #expect(response["payload"] == ["aps": .object(expected), "order": 1234])
            #expect(
                response["headers"] == [
                    "apns-push-type": "alert", "apns-topic": "com.example.MyApp.Clip", "apns-priority": "10",
                    "apns-collapse-id": "order-1234",
                ])
            #expect(response["experience"] == Self.experience)
            #expect(response["size"]?.numberValue?.int == response["payload"]?.serialized().count)
            #expect(response["warnings"] == [])
        }
    }

    @Test(arguments: [
        (#"{"url":"https://other.example/"}"#, "does_not_match", nil),
        (#"{"url":"https://example.com/restaurants/b/x"}"#, "not_business_specific", nil),
        (#"{"custom":{"aps":1}}"#, "invalid_notification", "custom.aps"),
        (#"{"aps":{"alert":"x","badge":-1}}"#, "invalid_notification", "aps.badge"),
        (#"{"aps":{"alert":"x","order":1}}"#, "invalid_notification", "aps.order"),
        (#"{"headers":{"priority":7}}"#, "invalid_notification", "headers.priority"),
        (#"{"headers":{"pushType":"voip"}}"#, "invalid_notification", "headers.pushType"),
        (#"{"launchedAt":"2020-01-01T00:00:00Z"}"#, "launch_too_long_ago", nil),
    ])
    func invalidPayloadIsRejectedWithCodeAndField(changes: String, code: String, field: String?) async throws
    {
        var body: JSONObject = ["url": .string(Self.order), "aps": ["alert": "Your order is ready."]]
        for member in try #require(try JSONValue(parsing: changes.utf8).objectValue) {
            body[member.key] = member.value
        }
        try await TestAPI().test { [body] client in
            let response = try await client.post("/v1/payloads", .object(body))
            #expect(response.status == (code == "does_not_match" ? 404 : 422))
            #expect(response.code == code)
            #expect(response.field == field)
            if code == "not_business_specific" {
                #expect(response["register"] == "https://example.com/restaurants/b")
            }
        }
    }

    @Test func oversizedPayloadIsRejectedWithSizeAndLimit() async throws {
        let body: JSONValue = [
            "url": .string(Self.order), "aps": ["alert": .string(String(repeating: "x", count: 5_000))],
        ]
        try await TestAPI().test { client in
            let response = try await client.post("/v1/payloads", body)
            #expect(response.status == 422)
            #expect(response.code == "payload_too_large")
            #expect(response["limit"] == 4096)
            #expect(try #require(response["size"]?.numberValue?.int) > 5_000)
        }
    }
}
