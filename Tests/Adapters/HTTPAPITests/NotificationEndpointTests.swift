import APNsPayload
import Administration
import Formats
import Foundation
import HTTPTypes
import Lookups
import Metrics
import NIOCore
import Notifications
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct NotificationEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations = ["sendNotification", "getNotification", "cancelNotification"]

    private static let tenant = TenantID(number: 1)
    private static let url = "https://example.com/restaurants/restaurant_a/order/1234"
    private static let body: JSONObject = [
        "url": .string(url), "aps": ["alert": "Ready."], "audience": ["business": true],
    ]

    private static func send(
        _ body: JSONObject = body, idempotencyKey: String? = nil, key: APIKey? = nil,
        to client: TestAPI.Client
    ) async throws -> TestAPI.APIResponse {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let idempotencyKey { headers[try #require(HTTPField.Name("Idempotency-Key"))] = idempotencyKey }
        return try await client.send(
            .post, "/v1/notifications", key: key ?? client.api.secret, headers: headers,
            body: ByteBuffer(bytes: JSONValue.object(body).serialized()))
    }

    @Test func testTenantNotifiesInSandboxOnly() async throws {
        let api = TestAPI()
        api.notifications.makeTestTenants()
        let (sandbox, production) = (try Candidate.sample(environment: .sandbox), try Candidate.sample())
        api.notifications.reach([sandbox, production], of: Self.tenant)
        try await api.test(over: [.task]) { client in
            func send(_ environment: JSONValue?) async throws -> TestAPI.APIResponse {
                var body = Self.body
                body["environment"] = environment
                return try await Self.send(body, to: client)
            }
            let refused = try await send("production")
            #expect(refused.status == 422 && refused.code == "sandbox_only" && refused.field == "environment")
            for environment in [nil, "sandbox"] as [JSONValue?] {
                let sent = try await send(environment)
                #expect(sent.status == 201)
                #expect(sent["counts"] == ["queued": 1, "skipped": ["wrong_environment": 1]])
            }
        }
    }

    @Test func responseListsDecisionForEachDelivery() async throws {
        let metrics = PrometheusRegistry()
        let api = TestAPI(metrics: metrics)
        let reached = try Candidate.sample()
        let denied = try Candidate.sample(permission: .denied)
        api.notifications.reach([reached, denied], of: Self.tenant)
        try await api.test(over: [.task]) { client in
            let response = try await Self.send(to: client)
            #expect(response.status == 201)
            let id = try #require(response["id"]?.stringValue)
            #expect(response.headers[.location] == "/v1/notifications/\(id)")
            #expect(response["counts"] == ["queued": 1, "skipped": ["permission_denied": 1]])
            #expect(response["url"] == .string(Self.url))
            #expect(
                response["experience"] == [
                    "url": "https://example.com/restaurants/restaurant_a", "kind": "advanced",
                    "clip": "com.example.MyApp.Clip",
                ])
            #expect(
                response["payload"] == ["aps": ["alert": "Ready.", "target-content-id": .string(Self.url)]])
            #expect(response["headers"]?.objectValue?["apns-topic"] == "com.example.MyApp.Clip")
            let deliveries = try #require(response["deliveries"]?.arrayValue).compactMap(\.objectValue)
            let states = Dictionary(
                uniqueKeysWithValues: deliveries.map {
                    ($0["instance"]?.stringValue, $0["state"]?.stringValue)
                })
            #expect(
                states == [reached.instance.description: "queued", denied.instance.description: "skipped"])

            api.notifications.response(NotificationID(try #require(UUID(uuidString: id))), of: Self.tenant) {
                delivery in
                guard delivery.state == .queued else { return delivery }
                return RecordedDelivery(
                    id: delivery.id, instance: delivery.instance, receiver: delivery.receiver,
                    environment: delivery.environment, state: .refused, reason: "Unregistered",
                    expiresAt: nil,
                    attempt: 2, finishedAt: Date(timeIntervalSince1970: 1_772_368_200),
                    responses: [
                        DeliveryResponse(
                            attempt: 1, at: Date(timeIntervalSince1970: 1_772_368_190),
                            result: .failed("timed_out")),
                        DeliveryResponse(
                            attempt: 2, at: Date(timeIntervalSince1970: 1_772_368_200.25),
                            result: .answered(status: 410, reason: "Unregistered", uniqueID: "u")),
                    ])
            }
            let trace = try await client.send(.get, "/v1/notifications/\(id)", key: api.secret)
            #expect(trace.status == 200)
            #expect(trace["counts"]?.objectValue?["refused"] == 1)
            #expect(trace["audience"] == ["business": true])
            let refused = try #require(
                trace["deliveries"]?.arrayValue?.compactMap(\.objectValue).first { $0["state"] == "refused" })
            #expect(
                refused["answers"] == [
                    ["attempt": 1, "at": "2026-03-01T12:29:50.000Z", "failure": "timed_out"],
                    [
                        "attempt": 2, "at": "2026-03-01T12:30:00.250Z", "status": 410,
                        "reason": "Unregistered",
                        "uniqueID": "u",
                    ],
                ])
        }
        let exposition = metrics.exposition()
        #expect(exposition.contains(#"doorstep_notifications_total{decision="queued"} 1"#))
        #expect(exposition.contains(#"doorstep_notifications_total{decision="permission_denied"} 1"#))
    }

    @Test func repeatedIdempotencyKeyReplaysTheResponse() async throws {
        let api = TestAPI()
        api.notifications.reach([try .sample()], of: Self.tenant)
        try await api.test(over: [.task]) { client in
            let first = try await Self.send(idempotencyKey: "k", to: client)
            let again = try await Self.send(idempotencyKey: "k", to: client)
            #expect(first.status == 201 && again.status == 200)
            #expect(first.text == again.text)
            let name = try #require(HTTPField.Name("Idempotent-Replayed"))
            #expect(first.headers[name] == nil && again.headers[name] == "true")
            #expect(api.notifications.count == 1)
            var other = Self.body
            other["custom"] = ["order": 1]
            #expect(
                try await Self.send(other, idempotencyKey: "k", to: client).code == "idempotency_key_reused")
            for key in ["é", String(repeating: "k", count: 256)] {
                #expect(
                    try await Self.send(idempotencyKey: key, to: client).code == "invalid_idempotency_key")
            }
        }
    }

    @Test(
        arguments: [
            (["audience": [:]], 400, "invalid_field", "audience"),
            (["audience": ["business": false]], 400, "invalid_field", "audience.business"),
            (["audience": ["business": true, "instance": "x"]], 400, "invalid_field", "audience"),
            (["audience": ["instance": "x"]], 400, "invalid_field", "audience.instance"),
            (["audience": ["urlPrefix": "http://example.com"]], 400, "invalid_field", "audience.urlPrefix"),
            (["audience": ["everybody": true]], 400, "invalid_field", "audience"),
            (["audience": ["business": true, "more": 1]], 400, "unknown_field", "audience.more"),
            (
                [
                    "audience": [
                        "activity": ["instance": "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10", "activity": ""]
                    ]
                ], 400,
                "invalid_field", "audience.activity.activity"
            ),
            (["environment": "staging"], 400, "invalid_field", "environment"),
            (["url": "https://example.org/x"], 404, "does_not_match", nil),
            (
                ["headers": ["id": "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"]], 422, "invalid_notification",
                "headers.id"
            ),
            (["headers": ["expiration": 1]], 422, "invalid_notification", "headers.expiration"),
            (
                ["aps": ["alert": "A", "target-content-id": "x"]], 422, "invalid_notification",
                "aps.target-content-id"
            ),
            (["audience": ["channel": "c"]], 422, "wrong_audience", "audience"),
            (["launchedAt": "2026-03-01T12:30:00Z"], 400, "unknown_field", "launchedAt"),
        ] as [(JSONObject, Int, String, String?)])
    func invalidNotificationIsRejectedByField(
        change: JSONObject, status: Int, code: String, field: String?
    ) async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            var body = Self.body
            for (key, value) in change { body[key] = value }
            let response = try await Self.send(body, to: client)
            #expect(
                response.status == status && response.code == code && response.field == field,
                "\(response.text)")
            #expect(api.notifications.count == 0)
        }
    }

    @Test func incompleteNotificationIsReported() async throws {
        let api = TestAPI()
        api.notifications.reach(try (0..<5).map { _ in try .sample() }, of: Self.tenant)
        api.notifications.limitParts(to: 2)
        try await api.test(over: [.task]) { client in
            let response = try await Self.send(to: client)
            #expect(response.status == 201)
            #expect(response["complete"] == false)
            #expect(response["counts"] == ["queued": 2, "skipped": [:]])
            let id = try #require(response["id"]?.stringValue)
            func trace() async throws -> TestAPI.APIResponse {
                try await client.send(.get, "/v1/notifications/\(id)", key: api.secret)
            }
            #expect(try await trace()["complete"] == false)
            #expect(try await api.notifications.continueAudience(of: Self.tenant)?.isLast == true)
            let whole = try await trace()
            #expect(whole["complete"] == true)
            #expect(whole["counts"]?.objectValue?["queued"] == 5)
        }
    }

    @Test func cancelledNotificationEndsItsQueuedDeliveries() async throws {
        let api = TestAPI()
        api.notifications.reach(try (0..<5).map { _ in try .sample() }, of: Self.tenant)
        api.notifications.limitParts(to: 2)
        try await api.test(over: [.task]) { client in
            let id = try #require(try await Self.send(to: client)["id"]?.stringValue)
            let path = "/v1/notifications/\(id)"
            #expect(try await client.send(.get, path, key: api.secret)["cancelledAt"] == .null)
            for _ in 0..<2 {
                let cancelled = try await client.send(.delete, path, key: api.secret)
                #expect(cancelled.status == 200 && cancelled["cancelledAt"]?.stringValue != nil)
                #expect(cancelled["complete"] == true && cancelled["id"]?.stringValue == id)
                #expect(cancelled["counts"]?.objectValue?["expired"] == 2)
                let deliveries = cancelled["deliveries"]?.arrayValue?.compactMap(\.objectValue) ?? []
                #expect(deliveries.map { $0["reason"] } == ["cancelled", "cancelled"])
            }
            #expect(try await api.notifications.continueAudience(of: Self.tenant) == nil)

            let finished = try #require(try await Self.send(to: client)["id"]?.stringValue)
            for part in 0..<3 where part > 0 {
                _ = try await api.notifications.continueAudience(of: Self.tenant)
            }
            api.notifications.response(
                NotificationID(try #require(UUID(uuidString: finished))), of: Self.tenant
            ) { delivery in
                RecordedDelivery(
                    id: delivery.id, instance: delivery.instance, receiver: .device,
                    environment: delivery.environment, state: .delivered, expiresAt: nil)
            }
            let late = try await client.send(.delete, "/v1/notifications/\(finished)", key: api.secret)
            #expect(late.status == 409 && late.code == "notification_finished")
            for (path, key, status) in [
                (path + "?x=1", api.secret, 400), (path, api.publishable, 403), (path, api.reader, 403),
                ("/v1/notifications/\(UUID())", api.secret, 404), ("/v1/notifications/x", api.secret, 404),
            ] {
                #expect(try await client.send(.delete, path, key: key).status == status, "\(path)")
            }
        }
    }

    /// The target of a delivery is the request's URL if it has the experience that the instance was launched with. Otherwise it is
    /// the launch URL.
    @Test func deliveryNamesItsTargetURL() async throws {
        let api = TestAPI()
        let short = "https://example.com/a"
        let same = try Candidate.sample(
            launch: .init(
                url: Self.url + "/x", experienceURL: "https://example.com/restaurants/restaurant_a"))
        let other = try Candidate.sample(launch: .init(url: short + "?x=1", experienceURL: short))
        api.notifications.reach([same, other], of: Self.tenant)
        try await api.test(over: [.task]) { client in
            let response = try await Self.send(to: client)
            let id = try #require(response["id"]?.stringValue)
            let trace = try await client.send(.get, "/v1/notifications/\(id)", key: api.secret)
            for deliveries in [response["deliveries"], trace["deliveries"]] {
                let targets = Dictionary(
                    uniqueKeysWithValues: try #require(deliveries?.arrayValue).compactMap(\.objectValue).map {
                        ($0["instance"]?.stringValue, $0["target"]?.stringValue)
                    })
                #expect(
                    targets == [
                        same.instance.description: Self.url, other.instance.description: short + "?x=1",
                    ])
            }
        }
    }

    @Test func notificationToUnknownInstanceIsUnprocessable() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            var body = Self.body
            body["audience"] = ["instance": "11111111-1111-4111-8111-111111111111"]
            let response = try await Self.send(body, to: client)
            #expect(
                response.status == 422 && response.code == "unknown_instance" && response.field == "audience")
        }
    }

    @Test func notificationWithoutRecipientsIsCreatedComplete() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let response = try await Self.send(to: client)
            #expect(response.status == 201)
            #expect(response["deliveries"] == [] && response["counts"] == ["queued": 0, "skipped": [:]])
            #expect(response["complete"] == true)
        }
    }

    @Test func deliveriesOfNotificationArePaged() async throws {
        let api = TestAPI()
        api.notifications.reach(try (0..<5).map { _ in try .sample() }, of: Self.tenant)
        try await api.test(over: [.task]) { client in
            let id = try #require(try await Self.send(to: client)["id"]?.stringValue)
            var ids: [JSONValue?] = []
            var after: String?
            repeat {
                let page = try await client.send(
                    .get, "/v1/notifications/\(id)?limit=2" + (after.map { "&after=\($0)" } ?? ""),
                    key: api.secret)
                ids += page["deliveries"]?.arrayValue?.map { $0.objectValue?["id"] } ?? []
                after = page["next"]?.stringValue
            } while after != nil
            #expect(ids.count == 5 && Set(ids).count == 5)
            for query in ["limit=0", "limit=1001", "limit=x", "after=x", "limit=1&limit=2"] {
                let response = try await client.send(
                    .get, "/v1/notifications/\(id)?\(query)", key: api.secret)
                #expect(response.status == 400 && response.code == "invalid_parameter", "\(query)")
            }
            #expect(
                try await client.send(.get, "/v1/notifications/\(id)?page=1", key: api.secret).code
                    == "unknown_parameter")
        }
    }

    /// Notifications of other tenants are unknown, like texts that are not IDs.
    @Test func anotherTenantsNotificationIsUnknown() async throws {
        let api = TestAPI()
        api.notifications.reach([try .sample()], of: Self.tenant)
        let neighbour = TenantID(number: 3)
        let key = APIKey.generate(.secret)
        try api.admit(key, of: neighbour)
        try await api.test(over: [.task]) { client in
            let id = try #require(try await Self.send(idempotencyKey: "k", to: client)["id"]?.stringValue)
            var headers = HTTPFields()
            headers[try #require(HTTPField.Name("X-Request-ID"))] = "probe"
            func get(_ id: String) async throws -> TestAPI.APIResponse {
                try await client.send(.get, "/v1/notifications/\(id)", key: key, headers: headers)
            }
            let theirs = try await get(id)
            #expect(theirs.status == 404 && theirs.code == "unknown_notification")
            for none in ["7d3c2f9a-8b1e-7c55-9e0f-2a6d1b7c4e11", "x", "%00"] {
                #expect(try await get(none).text == theirs.text)
            }
            // Another tenant's experiences and idempotency keys have no effect.
            #expect(try await Self.send(idempotencyKey: "k", key: key, to: client).code == "does_not_match")
            #expect(try await client.send(.get, "/v1/notifications/\(id)", key: api.secret).status == 200)
            #expect(
                try await client.send(.get, "/v1/notifications/\(id)", key: api.publishable).status == 403)
            #expect(try await Self.send(key: api.publishable, to: client).status == 403)
            // The other tenant cannot cancel it either.
            let cancelling = try await client.send(.delete, "/v1/notifications/\(id)", key: key)
            #expect(cancelling.status == 404 && cancelling.code == "unknown_notification")
            let kept = try await client.send(.get, "/v1/notifications/\(id)", key: api.secret)
            #expect(kept["cancelledAt"] == .null)
        }
    }

    @Test func notificationBeyondAQuotaIsRefusedWithItsFigures() async throws {
        let api = TestAPI()
        let forecast = QuotaForecast(kind: .deliveries, unit: .rows, limit: 5, current: 4, wouldBe: 6)
        api.notifications.refuse(QuotaExceeded(forecast))
        try await api.test(over: [.task]) { client in
            let response = try await Self.send(to: client)
            #expect(response.status == 409 && response.code == "quota_exceeded")
            for (name, value) in forecast.json { #expect(response[name] == value) }
        }
    }

    @Test func notificationWithoutStoreIsUnavailable() async throws {
        var api = TestAPI()
        api.hasNotifications = false
        try await api.test(over: [.task]) { [api] client in
            let response = try await Self.send(to: client)
            #expect(response.status == 503 && response.code == "notifications_not_configured")
            let id = UUID().uuidString
            #expect(
                try await client.send(.get, "/v1/notifications/\(id)", key: api.secret).code
                    == "notifications_not_configured")
        }
        let away = TestAPI()
        away.notifications.goAway()
        try await away.test(over: [.task]) { client in
            let response = try await Self.send(to: client)
            #expect(response.status == 503 && response.code == "unavailable")
        }
    }
}
