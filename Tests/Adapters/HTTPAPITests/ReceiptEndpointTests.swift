import Formats
import Foundation
import HTTPTypes
import Metrics
import Receipts
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Verifies receipts with the published keys only, as an independent verifier does.
@Suite struct ReceiptEndpointTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_059)

    private static func body(_ changes: JSONObject = [:]) -> JSONValue {
        var body: JSONObject = [
            "url": .string(ResponseTests.order), "source": "nfc", "locationAccess": "allowed",
            "coordinate": ["latitude": 37.33475, "longitude": -122.0089],
        ]
        for member in changes { body[member.key] = member.value }
        return .object(body)
    }

    @Test func receiptIsVerifiableWithPublishedKeys() async throws {
        let api = TestAPI(
            receipts: ReceiptIssuer("https://doorstep.example", keys: ReceiptKeySet(at: Self.now)))
        try await api.test { client in
            let start = Int(Date().timeIntervalSince1970)
            let response = try await client.post(
                "/v1/confirmations", key: client.api.publishable, Self.body())
            let end = Int(Date().timeIntervalSince1970)
            let token = try #require(response["receipt"]?.stringValue)
            let published = try await client.send(.get, "/.well-known/jwks.json", key: nil)
            #expect(published.status == 200)
            #expect(published.headers[.cacheControl] == "public, max-age=300")
            #expect(published.headers[.contentType] == "application/jwk-set+json")
            let (header, claims) = try VerifiedToken.read(token, keys: try #require(published.json))
            #expect(header["alg"] == "ES256" && header["typ"] == "doorstep-receipt+jwt")
            let issuedAt = try #require(claims["iat"]?.numberValue?.int)
            #expect((start...end).contains(issuedAt))
            #expect(claims["exp"] == JSONValue(issuedAt + 600))
            #expect(claims["iss"] == "https://doorstep.example")
            let tenant = JSONValue.string(TenantID(number: 1).description)
            #expect(claims["sub"] == tenant && claims["aud"] == tenant)
            #expect(claims["outcome"] == "inRegion" && claims["location"] == "restaurant_a")
            let minute = try #require(claims["minute"]?.stringValue.flatMap { Date(rfc3339: $0) })
            #expect(Int(minute.timeIntervalSince1970) == issuedAt / 60 * 60)
            #expect(claims["jti"]?.stringValue?.count == 22)
            #expect(
                claims.map(\.key).sorted() == [
                    "attestation", "attested", "aud", "certain", "environment", "evidence", "exp", "iat",
                    "iss", "jti", "location", "minute", "outcome", "sub",
                ])
            #expect(claims["evidence"] == "coordinate" && claims["certain"] == true)
            let again = try await client.post("/v1/confirmations", Self.body())
            let other = try VerifiedToken.read(
                try #require(again["receipt"]?.stringValue), keys: try #require(published.json))
            #expect(other.claims["jti"] != claims["jti"])
        }
    }

    private static let others: [(JSONObject, String, evidence: String, isCertain: Bool)] = [
        (["source": "maps"], "disallowed", "none", true),
        (["url": "https://other.example/"], "doesNotMatch", "none", true),
        (["coordinate": ["latitude": 1, "longitude": 2]], "notInRegion", "coordinate", true),
        (
            ["coordinate": ["latitude": 1, "longitude": 2, "horizontalAccuracy": -1]], "undetermined", "none",
            false
        ),
        (
            ["coordinate": ["latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 150]],
            "inRegion", "coordinate", false
        ),
        (["deviceResult": ["inRegion": true]], "inRegion", "device", true),
        (["deviceResult": ["inRegion": false], "source": "maps"], "notInRegion", "device", true),
        (["deviceResult": ["errorCode": 1]], "disallowed", "device", true),
        (["deviceResult": ["errorCode": 7]], "undetermined", "device", false),
    ]

    /// Anyone with the publishable key can invent the device's result. The receipt records this as the evidence.
    @Test(arguments: others)
    func receiptNamesTheEvidenceOfEachOutcome(
        changes: JSONObject, outcome: String, evidence: String, isCertain: Bool
    ) async throws {
        let keys = ReceiptKeySet(at: Self.now)
        try await TestAPI(receipts: ReceiptIssuer("doorstep", keys: keys)).test { client in
            var body = try #require(Self.body(changes).objectValue)
            if changes["deviceResult"] != nil { body["coordinate"] = nil }
            let response = try await client.post("/v1/confirmations", .object(body))
            let (_, claims) = try VerifiedToken.read(
                try #require(response["receipt"]?.stringValue), keys: try JSONValue(parsing: keys.published))
            #expect(claims["outcome"] == .string(outcome))
            #expect(claims["evidence"] == .string(evidence) && claims["certain"] == .bool(isCertain))
            let hasLocation = ["inRegion", "notInRegion", "undetermined"].contains(outcome)
            #expect(claims["location"] == (hasLocation ? "restaurant_a" : .null))
        }
    }

    @Test func confirmationWithoutSigningKeysHasNoReceipt() async throws {
        try await TestAPI().test { client in
            let response = try await client.post("/v1/confirmations", Self.body())
            #expect(response.status == 200 && response["outcome"] == "inRegion")
            #expect(response["receipt"] == nil)
            let published = try await client.send(.get, "/.well-known/jwks.json", key: nil)
            #expect(published.status == 200 && published.json == ["keys": []])
        }
    }

    @Test func rejectedRequestHasNoReceipt() async throws {
        let issuer = ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: Self.now))
        try await TestAPI(receipts: issuer).test { client in
            let response = try await client.post("/v1/confirmations", Self.body(["source": "radio"]))
            #expect(response.status == 400 && response["receipt"] == nil)
        }
    }

    @Test func confirmationsAreCountedByOutcome() async throws {
        let registry = PrometheusRegistry()
        let api = TestAPI(
            receipts: ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: Self.now)), metrics: registry)
        try await api.test(over: [.connection]) { client in
            for changes in [[:], [:], ["source": "maps"], ["source": "radio"]] as [JSONObject] {
                _ = try await client.post("/v1/confirmations", Self.body(changes))
            }
        }
        let lines = registry.exposition().split(separator: "\n").filter {
            $0.hasPrefix("doorstep_confirmations") || $0.hasPrefix("doorstep_receipts")
        }
        #expect(
            lines == [
                #"doorstep_confirmations_total{outcome="disallowed"} 1"#,
                #"doorstep_confirmations_total{outcome="doesNotMatch"} 0"#,
                #"doorstep_confirmations_total{outcome="inRegion"} 2"#,
                #"doorstep_confirmations_total{outcome="notInRegion"} 0"#,
                #"doorstep_confirmations_total{outcome="undetermined"} 0"#,
                "doorstep_receipts_signed_total 3",
            ])
    }
}
