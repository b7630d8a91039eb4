import APNsPayload
import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Lookups
import NIOCore
import Notifications
import Tenancy
import Testing
import ValueFixtures

@testable import Confirmations
@testable import HTTPAPI
@testable import Receipts

@Suite struct InstanceEndpointTests {
    private static let tenant = TenantID(number: 1)
    private static let path = "/v1/instances/7D3C2F9A-8B1E-4C55-9E0F-2A6D1B7C4E10"
    private static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    private static let report: JSONObject = [
        "url": .string(ResponseTests.order), "environment": "production", "permission": "ephemeral",
        "token": .string(token), "launchedAt": "2026-03-01T12:30:00Z",
    ]

    /// The report with changed members. A member whose value is nil is removed.
    private static func report(_ changes: [String: JSONValue?]) -> JSONObject {
        var report = report
        for (key, value) in changes { report[key] = value }
        return report
    }

    private static func put(
        _ client: TestAPI.Client, _ body: JSONObject = report, _ path: String = path, key: APIKey? = nil
    ) async throws -> TestAPI.APIResponse {
        try await client.send(
            .put, path, key: key ?? client.api.publishable, headers: [.contentType: "application/json"],
            body: ByteBuffer(bytes: JSONValue.object(body).serialized()))
    }

    @Test func launchIsRegisteredShownAndDeleted() async throws {
        try await TestAPI().test { client in
            let first = try await Self.put(client)
            #expect(first.status == 201, "\(first.text)")
            let expected: JSONValue = [
                "id": "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10", "clip": "com.example.MyApp.Clip",
                "app": "clip", "environment": "production", "permission": "ephemeral",
                "launchedAt": "2026-03-01T12:30:00Z", "reachableUntil": "2026-03-01T20:30:00Z",
                "hasToken": true, "startTokens": [], "activities": [],
                "launches": [
                    [
                        "url": .string(ResponseTests.order),
                        "experience": "https://example.com/restaurants/restaurant_a",
                        "location": "restaurant_a", "launchedAt": "2026-03-01T12:30:00Z",
                        "confirmedAt": .null,
                    ]
                ],
            ]
            #expect(first.json == expected)
            #expect(first.headers[.cacheControl] == "no-store")
            let again = try await Self.put(client)
            #expect(again.status == 200 && again.json == expected)
            let shown = try await client.send(.get, Self.path.lowercased(), key: client.api.secret)
            #expect(shown.status == 200 && shown.json == expected)

            #expect(try await client.send(.get, Self.path, key: client.api.publishable).status == 403)
            #expect(try await Self.put(client, key: client.api.confirmer).status == 403)
            let deleted = try await client.send(.delete, Self.path, key: client.api.publishable)
            #expect(deleted.status == 204 && deleted.text.isEmpty)
            for (method, key) in [
                (HTTPRequest.Method.delete, client.api.publishable), (.get, client.api.secret),
            ] {
                let response = try await client.send(method, Self.path, key: key)
                #expect(response.status == 404 && response.code == "not_found")
            }
            let refused = try await client.send(.post, Self.path, key: client.api.secret)
            #expect(refused.status == 405)
            #expect(refused.headers[.allow] == "DELETE, GET, HEAD, PUT")
        }
    }

    private static let wrong: [([String: JSONValue?], code: String, field: String)] = [
        (["url": .null], "invalid_field", "url"), (["url": "nowhere"], "invalid_url", "url"),
        (["clip": 1], "invalid_field", "clip"),
        (["environment": nil], "missing_field", "environment"),
        (["environment": "development"], "invalid_field", "environment"),
        (["permission": nil], "missing_field", "permission"),
        (["permission": "not_determined"], "invalid_field", "permission"),
        (["app": "widget"], "invalid_field", "app"), (["token": 1], "invalid_field", "token"),
        (["token": "00fc13adff7851"], "invalid_field", "token"),
        (["token": "00fc13adff78512"], "invalid_field", "token"),
        (["token": "zzfc13adff785122"], "invalid_field", "token"),
        (["token": .string(String(repeating: "0", count: 514))], "invalid_field", "token"),
        (["launchedAt": "yesterday"], "invalid_field", "launchedAt"),
        (["launchedAt": .null], "invalid_field", "launchedAt"),
        (["startTokens": [:], "activities": []], "unknown_field", "activities"),
        (["startTokens": ["Order": "00"]], "invalid_field", "startTokens.Order"),
        (["startTokens": ["": .string(token)]], "invalid_field", "startTokens"),
        (["startTokens": ["a\0": .string(token)]], "invalid_field", "startTokens"),
        (
            [
                "startTokens": .object(
                    (0..<17).reduce(into: JSONObject()) { $0["\($1)"] = .string(token) })
            ], "invalid_field", "startTokens"
        ),
        (["receipt": 1], "invalid_field", "receipt"),
    ]

    @Test func invalidReportIsRejectedByField() async throws {
        let api = TestAPI()
        try await api.test { client in
            for (changes, code, field) in Self.wrong {
                let response = try await Self.put(client, Self.report(changes))
                #expect(response.status == 400 && response.code == code, "\(field): \(response.text)")
                #expect(response.field == field)
            }
            for id in ["1", "7d3c2f9a8b1e4c559e0f2a6d1b7c4e10", "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e1g"] {
                let response = try await Self.put(client, Self.report, "/v1/instances/\(id)")
                #expect(response.status == 400 && response.field == "id", "\(response.text)")
                let unknown = try await client.send(.get, "/v1/instances/\(id)", key: client.api.secret)
                #expect(unknown.status == 404 && unknown.code == "not_found")
            }
        }
        #expect(api.instances.count == 0)
    }

    @Test func launchWithUnmatchedURLIsNotStored() async throws {
        let api = TestAPI()
        try await api.test { client in
            let response = try await Self.put(client, Self.report(["url": "https://other.example/"]))
            #expect(response.status == 404 && response.code == "does_not_match")
        }
        #expect(api.instances.registrations.isEmpty)
    }

    @Test func omittedMembersHaveDefaults() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let start = Date()
            let future = Date(timeIntervalSinceNow: 86_400).rfc3339
            for changes in [
                ["launchedAt": nil], ["launchedAt": .string(future)],
                ["token": .null, "permission": "denied"], ["token": nil, "app": "full"],
                ["startTokens": ["Order": .string(Self.token)]],
                ["url": "https://example.com/restaurants/nowhere#fragment"],
            ] as [[String: JSONValue?]] {
                let status = try await Self.put(client, Self.report(changes)).status
                #expect([200, 201].contains(status))
            }
            let kept = api.instances.registrations
            for registration in kept.prefix(2) {
                #expect((start...Date()).contains(registration.launchedAt))
            }
            #expect(kept.map { $0.tokens.count } == [1, 1, 0, 0, 2, 1])
            #expect(kept.map(\.app) == [.clip, .clip, .clip, .full, .clip, .clip])
            #expect(kept[4].tokens[.start(attributesType: "Order")]?.hex == Self.token)
            #expect(kept[5].launch?.url == "https://example.com/restaurants/nowhere")
            #expect(kept[5].launch?.location == nil)
        }
    }

    // MARK: Launches without a URL

    /// A launch from a notification or the App Switcher has no URL. [Apple]
    @Test func launchWithoutURLRenewsWindowOfKnownInstance() async throws {
        try await TestAPI().test { client in
            _ = try await client.send(.delete, Self.path, key: client.api.publishable)
            let unknown = try await Self.put(client, Self.report(["url": nil]))
            #expect(unknown.status == 422 && unknown.code == "unknown_instance", "\(unknown.text)")
            #expect(unknown.field == "clip")
            let first = try await Self.put(client)
            #expect(first.status == 201)
            for changes in [["url": nil], ["url": nil, "clip": "com.example.MyApp.Clip"]]
                as [[String: JSONValue?]]
            {
                let later = Self.report(changes.merging(["launchedAt": "2026-03-01T19:00:00Z"]) { $1 })
                let renewed = try await Self.put(client, later)
                #expect(renewed.status == 200, "\(renewed.text)")
                #expect(renewed["reachableUntil"] == "2026-03-02T03:00:00Z")
                #expect(renewed["launches"] == first["launches"])
            }
        }
    }

    @Test func newInstanceWithoutURLMustNameItsClip() async throws {
        let api = TestAPI()
        try await api.test { client in
            _ = try await client.send(.delete, Self.path, key: client.api.publishable)
            for (changes, code) in [
                (["url": nil, "clip": .string(MemoryInstanceStore.unknownClip)], "unknown_clip"),
                (["url": nil, "clip": "no bundle ID"], "unknown_clip"),
                (["clip": "com.example.Other.Clip"], "other_clip"),
            ] as [([String: JSONValue?], String)] {
                let refused = try await Self.put(client, Self.report(changes))
                #expect(
                    refused.status == ProblemType.byCode[code]?.status.code && refused.code == code,
                    "\(refused.text)")
                #expect(refused.field == "clip")
            }
            #expect(api.instances.count == 0)
            let added = try await Self.put(
                client, Self.report(["url": nil, "clip": "com.example.MyApp.Clip"]))
            #expect(added.status == 201 && added["launches"] == [], "\(added.text)")
            #expect(added["clip"] == "com.example.MyApp.Clip")
            #expect(added["reachableUntil"] == "2026-03-01T20:30:00Z")
            let named = try await Self.put(client, Self.report(["clip": "com.example.MyApp.Clip"]))
            #expect(named.status == 200 && named["launches"]?.arrayValue?.count == 1)
        }
    }

    /// All values of `UNAuthorizationStatus`.
    @Test(arguments: ["notDetermined", "denied", "authorized", "provisional", "ephemeral"])
    func everyPermissionIsAccepted(permission: String) async throws {
        try await TestAPI().test { client in
            let response = try await Self.put(client, Self.report(["permission": .string(permission)]))
            #expect([200, 201].contains(response.status) && response["permission"] == .string(permission))
            #expect((response["reachableUntil"] != .null) == (permission == "ephemeral"))
        }
    }

    /// No coordinate is stored, whether the URL's location signature is valid or not.
    @Test(arguments: [true, false]) func coordinatesAreNotStored(isAuthentic: Bool) async throws {
        let api = TestAPI(trusting: isAuthentic ? .everything : .nothing)
        var table = try #require(api.table.current).table
        try table.set(
            .experiences,
            .experience(
                Self.tenant, "advanced", "https://example.com/place", clip: "com.example.MyApp.Clip",
                rule: "coordinates:lat,lon"))
        api.table.replace(by: table, from: .database, asOf: Date())
        try await api.test { client in
            let url = "https://example.com/place?lat=48.8583&lon=2.2945&sig=AAAA"
            let lookup = try await client.lookUp(url)
            #expect((lookup.status == 200) == isAuthentic, "\(lookup.text)")
            let response = try await Self.put(client, Self.report(["url": .string(url)]))
            #expect([200, 201].contains(response.status), "\(response.text)")
            #expect(!response.text.contains("48.8") && !response.text.contains("2.29"))
        }
        for registration in api.instances.registrations {
            #expect(registration.launch?.url == "https://example.com/place")
            #expect(registration.launch?.location == nil)
        }
    }

    // MARK: Receipts

    @Test func receiptConfirmsItsLocation() async throws {
        let api = TestAPI(receipts: ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: .distantPast)))
        try await api.test { client in
            let confirmation = try await client.post(
                "/v1/confirmations", key: client.api.publishable,
                [
                    "url": .string(ResponseTests.order), "source": "nfc", "locationAccess": "allowed",
                    "coordinate": ["latitude": 37.33475, "longitude": -122.0089],
                ])
            let receipt = try #require(confirmation["receipt"])
            let response = try await Self.put(client, Self.report(["receipt": receipt]))
            #expect([200, 201].contains(response.status), "\(response.text)")
            let launch = try #require(response["launches"]?.arrayValue?.first?.objectValue)
            let confirmedAt = try #require(launch["confirmedAt"]?.stringValue.flatMap { Date(rfc3339: $0) })
            #expect(abs(confirmedAt.timeIntervalSinceNow) < 120)
        }
    }

    /// Receipts from before the claim existed, and receipts without evidence.
    @Test(arguments: [nil, "none", "rumour", "device", "coordinate"] as [String?])
    func receiptWithoutEvidenceConfirmsNothing(evidence: String?) async throws {
        let keys = ReceiptKeySet(at: .distantPast)
        let now = Date()
        let tenant = JSONValue.string(Self.tenant.description)
        var claims: JSONObject = [
            "aud": tenant, "sub": tenant, "iss": "doorstep", "iat": JSONValue(Int(now.timeIntervalSince1970)),
            "exp": JSONValue(Int(now.timeIntervalSince1970) + 600), "jti": "x", "location": "restaurant_a",
            "minute": .string(now.rfc3339), "outcome": "inRegion",
        ]
        claims["evidence"] = evidence.map(JSONValue.string)
        let signed = keys.keys[0].sign(JSONValue.object(claims).serialized().span)
        let receipt = JSONValue.string(String(decoding: signed, as: UTF8.self))
        try await TestAPI(receipts: ReceiptIssuer("doorstep", keys: keys)).test { client in
            let response = try await Self.put(client, Self.report(["receipt": receipt]))
            #expect([200, 201].contains(response.status), "\(response.text)")
            let launch = try #require(response["launches"]?.arrayValue?.first?.objectValue)
            let counts = evidence == "device" || evidence == "coordinate"
            #expect((launch["confirmedAt"] != .null) == counts, "\(response.text)")
        }
    }

    @Test func invalidReceiptIsRejectedWithReason() async throws {
        let keys = ReceiptKeySet(at: .distantPast)
        let issuer = ReceiptIssuer("doorstep", keys: keys)
        let stranger = ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: .distantPast))
        let impostor = ReceiptIssuer("other", keys: keys)
        let api = TestAPI(receipts: issuer)
        let now = Date()
        let table = try #require(api.table.current).table
        let location = try table.of(Self.tenant).location(LocationIdentifier("restaurant_a"))
        let elsewhere = location.map {
            Location(identifier: try! LocationIdentifier("b"), name: "B", region: $0.region)
        }
        func receipt(
            _ outcome: Confirmations.Confirmation.Outcome = .inRegion, at location: Location?,
            of tenant: TenantID = Self.tenant
        ) -> Receipt {
            Receipt(Confirmations.Confirmation(outcome, location: location), of: tenant, at: now)
        }
        let good = receipt(at: location)
        let signed = issuer.sign(good, at: now)
        let parts = signed.split(separator: ".").map(String.init)
        let noneAlgorithm = Base64URL.text(
            JSONValue.object(["alg": "none", "typ": "doorstep-receipt+jwt", "kid": .string(keys.keys[0].id)])
                .serialized())
        let cases: [(String, String)] = [
            ("", "malformed"), ("a.b.c", "malformed"), (parts[0] + "." + parts[1], "malformed"),
            (signed + ".", "malformed"), (String(repeating: "a", count: 5_000), "malformed"),
            ("\(noneAlgorithm).\(parts[1]).\(parts[2])", "malformed"),
            ("\(parts[0]).\(parts[1]).\(Base64URL.text([UInt8](repeating: 1, count: 64)))", "bad_signature"),
            ("\(parts[0]).\(Base64URL.text(Array("{}".utf8))).\(parts[2])", "bad_signature"),
            (stranger.sign(good, at: now), "bad_signature"), (impostor.sign(good, at: now), "other_issuer"),
            (issuer.sign(receipt(at: location, of: TenantID(number: 3)), at: now), "other_tenant"),
            (issuer.sign(good, at: now.addingTimeInterval(-601)), "expired"),
            (issuer.sign(receipt(.notInRegion, at: location), at: now), "not_in_region"),
            (issuer.sign(receipt(.undetermined, at: location), at: now), "not_in_region"),
            (issuer.sign(receipt(at: elsewhere), at: now), "other_location"),
            (issuer.sign(receipt(at: nil), at: now), "other_location"),
        ]
        try await api.test { client in
            for (text, reason) in cases {
                let response = try await Self.put(client, Self.report(["receipt": .string(text)]))
                #expect(response.status == 422 && response.code == "invalid_receipt", "\(response.text)")
                #expect(response.reason == reason && response.field == "receipt", "\(response.text)")
            }
            let nowhere = try await Self.put(
                client,
                Self.report([
                    "receipt": .string(signed), "url": "https://example.com/restaurants/nowhere",
                ]))
            #expect(nowhere.reason == "no_location")
        }
        #expect(api.instances.registrations.isEmpty)
        try await TestAPI().test { client in
            let response = try await Self.put(client, Self.report(["receipt": .string(signed)]))
            #expect(response.status == 422 && response.reason == "no_keys")
        }
    }

    // MARK: Live Activities

    @Test func activityIsRegisteredAndDeleted() async throws {
        try await TestAPI().test { client in
            let path = Self.path + "/activities/0D9D7A52-5E2B-4F58-AE0B-6A3F0C1F9F7E"
            let body: JSONObject = ["token": .string(Self.token)]
            let unknown = try await Self.put(client, body, path)
            #expect(unknown.status == 404 && unknown.code == "not_found")
            _ = try await Self.put(client)
            #expect(try await Self.put(client, body, path).status == 204)
            let shown = try await client.send(.get, Self.path, key: client.api.secret)
            #expect(shown["activities"] == ["0D9D7A52-5E2B-4F58-AE0B-6A3F0C1F9F7E"])
            for (body, code) in [
                ([:], "missing_field"), (["token": .null], "invalid_field"),
                (["token": "00"], "invalid_field"),
                (["token": .string(Self.token), "url": "x"], "unknown_field"),
            ] as [(JSONObject, String)] {
                let response = try await Self.put(client, body, path)
                #expect(response.status == 400 && response.code == code, "\(response.text)")
            }
            for id in ["a%20b", "%C3%A9", String(repeating: "a", count: 129)] {
                let response = try await Self.put(client, body, Self.path + "/activities/\(id)")
                #expect(response.status == 400 && response.field == "activity", "\(id): \(response.text)")
            }
            #expect(try await client.send(.delete, path, key: client.api.publishable).status == 204)
            let gone = try await client.send(.delete, path, key: client.api.publishable)
            #expect(gone.status == 404 && gone.code == "unknown_activity")
            _ = try await client.send(.delete, Self.path, key: client.api.publishable)
        }
    }

    // MARK: Missing parts

    private static let requests: [(HTTPRequest.Method, String)] = [
        (.put, path), (.get, path), (.delete, path), (.put, path + "/activities/a"),
        (.delete, path + "/activities/a"),
    ]

    @Test func registrationBeyondAQuotaIsRefusedWithItsFigures() async throws {
        let api = TestAPI()
        let forecast = QuotaForecast(kind: .instances, unit: .rows, limit: 5, current: 5, wouldBe: 6)
        api.instances.refuse(QuotaExceeded(forecast))
        try await api.test { client in
            let response = try await Self.put(client, Self.report([:]))
            #expect(response.status == 409 && response.code == "quota_exceeded")
            for (name, value) in forecast.json { #expect(response[name] == value) }
        }
    }

    @Test(arguments: [true, false]) func endpointsWithoutSecretOrDatabaseAreUnavailable(
        hasSecret: Bool
    )
        async throws
    {
        var api = TestAPI()
        if hasSecret { api.instances.goAway() } else { api.hasInstances = false }
        try await api.test { client in
            for (method, path) in Self.requests {
                let body = path == Self.path ? Self.report : ["token": .string(Self.token)]
                let response = try await client.send(
                    method, path, key: client.api.secret, headers: [.contentType: "application/json"],
                    body: method == .put
                        ? ByteBuffer(bytes: JSONValue.object(body).serialized()) : nil)
                #expect(response.status == 503)
                #expect(response.code == (hasSecret ? "unavailable" : "notifications_not_configured"))
                #expect((response.headers[.retryAfter] == "1") == hasSecret)
            }
        }
    }

    @Test func tokensAreNeitherLoggedNorReturned() async throws {
        let api = TestAPI(receipts: ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: .distantPast)))
        try await api.test { client in
            var told = ""
            for changes in [
                [:], ["startTokens": ["Order": .string(Self.token)]], ["token": .string(Self.token + "0")],
                ["receipt": .string(Self.token)], ["extra": .string(Self.token)],
            ] as [[String: JSONValue?]] {
                told += try await Self.put(client, Self.report(changes)).text
            }
            let activity = Self.path + "/activities/a"
            told += try await Self.put(client, ["token": .string(Self.token)], activity).text
            told += try await client.send(.get, Self.path, key: client.api.secret).text
            #expect(told.contains("hasToken") && !told.contains(Self.token.prefix(32)))
        }
        #expect(!api.log.text.isEmpty && !api.log.text.contains(Self.token.prefix(32)))
        let registration = try #require(api.instances.registrations.first)
        #expect(!"\(registration)".contains(Self.token.prefix(32)))
    }
}
