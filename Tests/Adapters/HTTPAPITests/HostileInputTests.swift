import Formats
import HTTPTypes
import Testing

/// Any invalid input gets a 4xx status with a code.
@Suite struct HostileInputTests {
    struct Body: CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        var contentType: String? = "application/json"
        let status: Int
        let code: String
        var reason: String?

        init(
            _ name: String, _ text: String, contentType: String? = "application/json", _ status: Int,
            _ code: String,
            _ reason: String? = nil
        ) {
            self.init(name, bytes: Array(text.utf8), contentType: contentType, status, code, reason)
        }

        init(
            _ name: String, bytes: [UInt8], contentType: String? = "application/json", _ status: Int,
            _ code: String,
            _ reason: String? = nil
        ) {
            testDescription = name
            self.bytes = bytes
            self.contentType = contentType
            self.status = status
            self.code = code
            self.reason = reason
        }
    }

    static let bodies: [Body] = [
        Body("nothing", "", 400, "invalid_json", "unexpected_end"),
        Body(
            "broken UTF-8", bytes: Array("{\"url\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8), 400,
            "invalid_json", "invalid_utf8"),
        Body("a zero byte", bytes: [0x7B, 0x00, 0x7D], 400, "invalid_json", "unexpected_byte"),
        Body(
            "an escaped half of a surrogate pair", #"{"url":"\ud800"}"#, 400, "invalid_json", "lone_surrogate"
        ),
        Body("depth", String(repeating: "[", count: 30_000), 400, "invalid_json", "too_deep"),
        Body("deep objects", String(repeating: #"{"a":"#, count: 10_000), 400, "invalid_json", "too_deep"),
        Body("a number beyond every double", #"{"url":1e999}"#, 400, "invalid_json", "number_out_of_range"),
        Body("NaN", #"{"url":NaN}"#, 400, "invalid_json", "unexpected_byte"),
        Body(
            "a repeated key", #"{"url":"https://a.example","url":"https://b.example"}"#, 400, "invalid_json",
            "duplicate_key"),
        Body("two values", "{} {}", 400, "invalid_json", "trailing_bytes"),
        Body("a byte order mark", "\u{FEFF}{}", 400, "invalid_json", "byte_order_mark"),
        Body("an array", "[]", 400, "invalid_json"),
        Body("no fields", "{}", 400, "missing_field"),
        Body("a null URL", #"{"url":null}"#, 400, "invalid_field"),
        Body(
            "another field",
            #"{"url":"https://example.com","source":"nfc","locationAccess":"allowed","urls":1}"#, 400,
            "unknown_field"),
        Body(
            "a form", "url=https%3A%2F%2Fexample.com", contentType: "application/x-www-form-urlencoded", 415,
            "unsupported_media_type"),
        Body("no content type", "{}", contentType: nil, 415, "unsupported_media_type"),
        Body("UTF-16", "{}", contentType: "application/json; charset=utf-16", 415, "unsupported_media_type"),
        Body("64 KiB and one byte", String(repeating: " ", count: 65_537), 413, "body_too_large"),
        Body(
            "a megabyte of URL", #"{"url":"https://"# + String(repeating: "a", count: 1_000_000) + #""}"#,
            413, "body_too_large"),
        Body(
            "a URL of 3,000 bytes",
            #"{"url":"https://example.com/"# + String(repeating: "a", count: 3_000)
                + #"","source":"nfc","locationAccess":"allowed"}"#, 400, "invalid_url", "too_long"),
    ]

    @Test(arguments: bodies)
    func hostileConfirmationBodiesAreRejected(body: Body) async throws {
        try await TestAPI().test { client in
            let response = try await client.post(
                "/v1/confirmations", contentType: body.contentType, body.bytes)
            #expect(response.status == body.status)
            #expect(response.code == body.code)
            #expect(response.reason == body.reason)
            #expect(response.headers[.contentType] == "application/problem+json")
        }
    }

    /// Both endpoints read the members with the same code, so this test repeats only the bodies that fail earlier.
    @Test(arguments: bodies.filter { $0.code == "invalid_json" || $0.status > 400 })
    func hostilePayloadBodiesAreRejected(body: Body) async throws {
        try await TestAPI().test { client in
            let response = try await client.post("/v1/payloads", contentType: body.contentType, body.bytes)
            #expect(response.status == body.status)
            #expect(response.code == body.code)
            #expect(response.reason == body.reason)
        }
    }

    struct Target: CustomTestStringConvertible {
        let query: String
        let code: String
        let detail: String?
        var testDescription: String { query }

        init(_ query: String, _ code: String, _ detail: String? = nil) {
            self.query = query
            self.code = code
            self.detail = detail
        }
    }

    @Test(arguments: [
        Target("", "missing_parameter", "url"),
        Target("?", "missing_parameter", "url"),
        Target("?URL=https://example.com", "unknown_parameter", "URL"),
        // The response names the first refused parameter.
        Target("?y=1&x=1&url=%zz", "unknown_parameter", "y"),
        Target("?url=a&url=b&x=1", "invalid_parameter", "url"),
        Target("?url=https://example.com&url=https://example.com", "invalid_parameter", "url"),
        Target("?url=https://example.com&x=1", "unknown_parameter", "x"),
        Target("?url=%", "invalid_parameter", "url"),
        Target("?url=%zz", "invalid_parameter", "url"),
        Target("?url=%FF%FE", "invalid_parameter", "url"),
        Target("?%FF=1", "invalid_parameter"),
        Target("?url=", "invalid_url", "url"),
        Target("?url=%00", "invalid_url", "url"),
        Target("?url=https%3A%2F%2Fexample.com%2F%2500%00", "invalid_url", "url"),
        Target("?url=nonsense", "invalid_url", "url"),
        Target("?url=https://user@example.com", "invalid_url", "url"),
        Target("?url=https://example.com/a+b%20c", "invalid_url", "url"),
    ])
    func hostileLookupParametersAreRejected(target: Target) async throws {
        try await TestAPI().test { client in
            let response = try await client.send(
                .get, "/v1/lookup" + target.query, key: client.api.publishable)
            #expect(response.status == 400)
            #expect(response.code == target.code)
            #expect(response.field == target.detail)
        }
    }

    @Test(arguments: [
        ("latitude", "90.0001"), ("latitude", "-1e308"), ("longitude", "180.5"), ("latitude", "\"37\""),
        ("longitude", "null"),
    ])
    func invalidCoordinatesAreRejected(field: String, value: String) async throws {
        var coordinate: JSONObject = ["latitude": 37, "longitude": -122]
        coordinate[field] = try JSONValue(parsing: value.utf8)
        let body: JSONValue = [
            "url": "https://example.com", "source": "nfc", "locationAccess": "allowed",
            "coordinate": .object(coordinate),
        ]
        try await TestAPI().test { client in
            let response = try await client.post("/v1/confirmations", body)
            #expect(response.status == 400)
            #expect(response.code == "invalid_field")
            #expect(response.field == "coordinate.\(field)")
        }
    }
}
