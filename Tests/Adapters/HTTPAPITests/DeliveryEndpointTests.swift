import APNsPayload
import Formats
import Foundation
import HTTPTypes
import NIOCore
import Notifications
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct DeliveryEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["listDeliveries", "getDelivery", "retryDeliveries"]

    private static let tenant = TenantID(number: 1)
    private static let now = Date(timeIntervalSince1970: 1_772_368_200)

    private static func delivery(
        _ number: Int, _ state: DeliveryState, _ reason: String?
    ) -> ListedDelivery {
        let createdAt = now + Double(number)
        return ListedDelivery(
            notification: NotificationID(.timeOrdered(at: createdAt)), createdAt: createdAt,
            delivery: RecordedDelivery(
                id: DeliveryID(.timeOrdered(at: createdAt)), instance: InstanceID(UUID(number: 1)),
                receiver: .token(.device), environment: .production, state: state, reason: reason,
                expiresAt: nil))
    }

    private static let deliveries = [
        delivery(0, .delivered, nil), delivery(1, .refused, "TooManyRequests"),
        delivery(2, .refused, "Unregistered"), delivery(3, .uncertain, "timed_out"),
    ]

    private static func filledAPI(_ tenant: TenantID = tenant) -> TestAPI {
        let api = TestAPI()
        for delivery in deliveries { api.deliveries.add(delivery, of: tenant) }
        return api
    }

    private static func ids(_ response: TestAPI.APIResponse) -> [String] {
        (response["data"]?.arrayValue ?? []).compactMap { $0.objectValue?["id"]?.stringValue }
    }

    private static func retry(
        _ body: JSONValue, _ client: TestAPI.Client, key: APIKey
    ) async throws -> TestAPI.APIResponse {
        try await client.send(
            .post, "/v1/deliveries/retry", key: key, headers: [.contentType: "application/json"],
            body: ByteBuffer(bytes: body.serialized()))
    }

    @Test func listIsPagedNewestFirst() async throws {
        let api = Self.filledAPI()
        try await api.test(over: [.task]) { client in
            let whole = try await client.send(.get, "/v1/deliveries", key: api.secret)
            #expect(Self.ids(whole) == Self.deliveries.reversed().map(\.delivery.id.description))
            #expect(whole["next"] == .null)
            let first = try await client.send(.get, "/v1/deliveries?limit=3", key: api.secret)
            let next = try #require(first["next"]?.stringValue)
            let rest = try await client.send(.get, "/v1/deliveries?limit=3&after=\(next)", key: api.secret)
            #expect(Self.ids(first) + Self.ids(rest) == Self.ids(whole))
        }
    }

    @Test func listIsFiltered() async throws {
        let api = Self.filledAPI()
        try await api.test(over: [.task]) { client in
            for (query, count) in [
                ("state=refused", 2), ("state=refused&reason=Unregistered", 1), ("state=queued", 0),
                ("since=2026-03-01T12:30:02Z", 2),
            ] {
                let page = try await client.send(.get, "/v1/deliveries?\(query)", key: api.secret)
                #expect(Self.ids(page).count == count, "\(query): \(page.text)")
            }
            for (query, status, field) in [
                ("state=lost", 400, "state"), ("since=yesterday", 400, "since"), ("after=YQ", 400, "after"),
                ("limit=0", 400, "limit"), ("clip=x", 400, "clip"),
            ] {
                let response = try await client.send(.get, "/v1/deliveries?\(query)", key: api.secret)
                #expect(response.status == status && response.field == field, "\(query): \(response.text)")
            }
        }
    }

    @Test func deliveryIsFoundByID() async throws {
        let api = Self.filledAPI()
        try await api.test(over: [.task]) { client in
            let listed = Self.deliveries[1]
            let response = try await client.send(
                .get, "/v1/deliveries/\(listed.delivery.id)", key: api.secret)
            #expect(response.status == 200 && response.json == .object(listed.json))
            for id in [UUID(number: 9).uuidString, "x"] {
                let unknown = try await client.send(.get, "/v1/deliveries/\(id)", key: api.secret)
                #expect(unknown.status == 404 && unknown.code == "unknown_delivery")
            }
        }
    }

    @Test func retryQueuesDeliveriesByIDOrState() async throws {
        let api = Self.filledAPI()
        let id = Self.deliveries[1].delivery.id
        try await api.test(over: [.task]) { client in
            let one = try await Self.retry(["ids": [.string(id.description)]], client, key: api.secret)
            #expect(one.status == 202)
            #expect(one.json == ["queued": 1, "tooLate": 0, "tokenDead": 0, "hasMore": false])
            let all = try await Self.retry(
                ["state": "refused", "reason": "TooManyRequests", "since": "2026-03-01T12:30:00Z"], client,
                key: api.secret)
            #expect(all.status == 202)
        }
        #expect(
            api.deliveries.retries.map(\.selection) == [
                DeliverySelection(ids: [id]),
                DeliverySelection(state: .refused, reason: "TooManyRequests", since: Self.now),
            ])
        #expect(api.deliveries.retries.allSatisfy { $0.limit == 10_000 && $0.actor?.isEmpty == false })
    }

    @Test func retryRejectsOtherSelections() async throws {
        let api = Self.filledAPI()
        let id: JSONValue = .string(Self.deliveries[1].delivery.id.description)
        let cases: [(JSONValue, String)] = [
            ([:], "ids"), (["ids": []], "ids"), (["ids": ["x"]], "ids"), (["ids": [1]], "ids"),
            (["ids": .array(Array(repeating: id, count: 1_001))], "ids"),
            (["ids": [id], "state": "refused"], "state"), (["ids": [id], "reason": "x"], "reason"),
            (["state": "delivered"], "state"), (["state": "skipped"], "state"), (["reason": "x"], "ids"),
            (["state": "refused", "since": "x"], "since"),
            (["state": "refused", "reason": "x\u{0}"], "reason"),
            (["state": "refused", "reason": ""], "reason"), (["state": "refused", "all": true], "all"),
        ]
        try await api.test(over: [.task]) { client in
            for (body, field) in cases {
                let response = try await Self.retry(body, client, key: api.secret)
                #expect(response.status == 400 && response.field == field, "\(response.text)")
            }
        }
        #expect(api.deliveries.retries.isEmpty)
    }

    @Test func deliveryEndpointsRequireScopeNotify() async throws {
        let api = Self.filledAPI()
        try await api.test(over: [.task]) { client in
            for key in [api.publishable, api.reader, api.keyManager] {
                for path in ["/v1/deliveries", "/v1/deliveries/\(Self.deliveries[0].delivery.id)"] {
                    let response = try await client.send(.get, path, key: key)
                    #expect(response.status == 403)
                }
                let response = try await Self.retry(["state": "refused"], client, key: key)
                #expect(response.status == 403)
            }
        }
        #expect(api.deliveries.retries.isEmpty)
    }

    @Test func anotherTenantsDeliveriesAreUnknown() async throws {
        let api = Self.filledAPI(TenantID(number: 3))
        try await api.test(over: [.task]) { client in
            let page = try await client.send(.get, "/v1/deliveries", key: api.secret)
            #expect(page.text == #"{"data":[],"next":null}"#)
            let id = Self.deliveries[1].delivery.id
            #expect(try await client.send(.get, "/v1/deliveries/\(id)", key: api.secret).status == 404)
            let retried = try await Self.retry(["state": "refused"], client, key: api.secret)
            #expect(retried["queued"] == 0)
        }
    }
}
