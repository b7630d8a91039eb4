import Formats
import Foundation
import HTTPTestClient
import HTTPTypes
import Logging
import Notifications
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite(.timeLimit(.minutes(10))) struct EventEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["listEvents", "triggerEvent"]

    private static let tenant = TenantID(number: 1)
    private static let zero = "1:1:"

    private static func event(_ number: Int) -> JSONValue {
        ["id": .string("e\(number)"), "type": "location.changed"]
    }

    private static func list(
        _ client: TestAPI.Client, _ query: String = "", key: APIKey? = nil
    ) async throws -> TestAPI.APIResponse {
        try await client.send(.get, "/v1/events\(query)", key: key ?? client.api.reader)
    }

    @Test func listenerContinuesWhereItEnded() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            api.webhooks.record(Self.event(0), of: Self.tenant)
            let first = try await Self.list(client)
            #expect(first.status == 200 && first["data"] == [] && first["missed"] == false)
            for number in 1...45 { api.webhooks.record(Self.event(number), of: Self.tenant) }
            var position = try #require(first["next"]?.stringValue)
            var seen: [JSONValue] = []
            for count in [40, 5, 0] {
                let page = try await Self.list(client, "?limit=40&after=\(position)")
                let data = try #require(page["data"]?.arrayValue)
                #expect(data.count == count)
                seen += data
                position = try #require(page["next"]?.stringValue)
            }
            #expect(seen == (1...45).map(Self.event))
            // A second listener reads the same events.
            let other = try await Self.list(client, "?after=\(Self.zero)")
            #expect(other["data"]?.arrayValue?.count == 46)
        }
    }

    @Test func waitEndsWithTheFirstEvent() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            async let waiting = Self.list(client, "?wait=30&after=\(Self.zero)")
            await api.webhooks.nextPage()
            api.webhooks.record(Self.event(1), of: Self.tenant)
            let page = try await waiting
            #expect(page["data"] == [Self.event(1)])
        }
    }

    @Test func shutdownEndsTheWaitAtOnce() async throws {
        let api = TestAPI()
        let dependencies = api.dependencies
        let responder = APIResponder(
            api.settings, dependencies, RequestObserver(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let client = TestAPI.Client(api: api, http: HTTPTestClient(responder))
        async let waiting = Self.list(client, "?wait=30&after=\(Self.zero)")
        await api.webhooks.nextPage()
        let count = api.webhooks.pageCount
        dependencies.readiness.end()
        let page = try await waiting
        #expect(page.status == 200 && page["data"] == [] && page["next"] == .string(Self.zero))
        // The server stopped waiting.
        #expect(api.webhooks.pageCount <= count + 1)
        let late = try await Self.list(client, "?wait=30&after=\(Self.zero)")
        #expect(late.status == 200 && api.webhooks.pageCount <= count + 2)
    }

    @Test func waitingRequestsOfATenantAreLimited() async throws {
        let api = TestAPI()
        let dependencies = api.dependencies
        let responder = APIResponder(
            api.settings, dependencies, RequestObserver(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let client = TestAPI.Client(api: api, http: HTTPTestClient(responder))
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: TenantID(number: 3), scopes: "read")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...EventEndpoints.maximumOfTenant {
                group.addTask { try await Self.list(client, "?wait=30&after=\(Self.zero)").status }
                // A request reads a page each second, but records its listener once.
                while api.webhooks.recordingCount < number { await Task.yield() }
            }
            let refused = try await Self.list(client, "?after=\(Self.zero)")
            #expect(refused.status == 429 && refused.code == "rate_limited", "\(refused.text)")
            #expect(try await Self.list(client, key: neighbour).status == 200)
            dependencies.readiness.end()
            for try await status in group { #expect(status == 200) }
            #expect(try await Self.list(client, "?after=\(Self.zero)").status == 200)
        }
    }

    @Test func missingEventsAreReported() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let missed = try await Self.list(client, "?wait=30&after=9:9:")
            #expect(missed["missed"] == true && missed["next"] == .string(Self.zero))
            api.webhooks.setFull(true)
            #expect(try await Self.list(client, "?after=\(Self.zero)")["missed"] == true)
            api.webhooks.setFull(false)
        }
    }

    @Test(arguments: [
        ("wait=31", "wait"), ("wait=-1", "wait"), ("wait=x", "wait"), ("limit=0", "limit"),
        ("limit=101", "limit"), ("after=x", "after"), ("after=1", "after"), ("after=1:1:~1:1:", "after"),
        ("since=1", "since"),
    ])
    func invalidParameterIsNamed(query: String, name: String) async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let refused = try await Self.list(client, "?\(query)")
            #expect(refused.status == 400 && refused.text.contains(#""\#(name)""#), "\(refused.text)")
        }
    }

    @Test func sampleReachesListenersOnly() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            func trigger(_ body: JSONValue, key: APIKey? = nil) async throws -> TestAPI.APIResponse {
                try await client.post("/v1/events", key: key ?? api.manager, body)
            }
            let unheard = try await trigger(["event": "key.revoked"])
            #expect(unheard.status == 202 && unheard["listening"] == false)
            let position = try #require(try await Self.list(client)["next"]?.stringValue)
            let heard = try await trigger(["event": "key.revoked"])
            #expect(heard["listening"] == true)
            let page = try await Self.list(client, "?after=\(position)")
            let event = try #require(page["data"]?.arrayValue?.first?.objectValue)
            #expect(page["data"]?.arrayValue?.count == 1 && event["id"] == heard["message"])
            #expect(event["sample"] == true && event["type"] == "key.revoked")
            for body in [[:], ["event": "x"], ["event": "key.revoked", "x": 1]] as [JSONValue] {
                #expect(try await trigger(body).status == 400)
            }
            #expect(try await trigger(["event": "key.revoked"], key: api.reader).status == 403)
            #expect(try await Self.list(client, key: api.publishable).status == 403)
        }
    }
}
